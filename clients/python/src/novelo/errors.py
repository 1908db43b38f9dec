"""All errors of this package. The classes of codes are named after them: `NotFound` is the code `not_found`."""

from ._codes import *  # noqa: F403
from ._codes import CODES
from ._errors import ApiError, BadAnswer, ConnectionFailed, ConnectionLost, NoveloError, TimedOut

__all__ = [
    "CODES",
    "ApiError",
    "BadAnswer",
    "ConnectionFailed",
    "ConnectionLost",
    "NoveloError",
    "TimedOut",
    *[error.__name__ for error in CODES.values()],
]
