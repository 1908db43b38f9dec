"""What can go wrong, as classes.

`ApiError` is an answer of the server; `novelo.errors` has a subclass for each of its codes. The others say that there was no
answer: `ConnectionFailed` that nothing was sent, `ConnectionLost` that the request may have been done.
"""

from __future__ import annotations

from typing import Any, Optional


class NoveloError(Exception):
    """The base of all errors of this package."""


class ApiError(NoveloError):
    """The server refused the request."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: Optional[str] = None,
        param: Optional[str] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        body: Any = None,
    ) -> None:
        super().__init__(message, status, code, param)
        self.message = message
        self.status = status
        self.code = code
        """The code of the error, as docs/api.md lists them; None if the answer is not one of Novelo."""
        self.param = param
        """The field, parameter or header that is wrong."""
        self.request_id = request_id
        """The id under which the server logged the request."""
        self.retry_after = retry_after
        """The seconds that the server asks to wait."""
        self.body = body

    def __str__(self) -> str:
        param = f" ({self.param})" if self.param else ""
        return f"{self.status} {self.code or 'error'}{param}: {self.message}"


class ConnectionFailed(NoveloError):
    """The server could not be reached. Nothing was sent."""


class ConnectionLost(NoveloError):
    """The connection broke before the whole answer arrived. The request may have been done."""


class TimedOut(ConnectionLost):
    """The server did not answer in time. The request may have been done."""


class BadAnswer(NoveloError):
    """What answered does not speak as Novelo does: another server, or a proxy."""
