"""A client of Novelo, the conversation-context engine.

`Novelo` and `AsyncNovelo` have a method for each call of the API, named after its `operationId` in `/openapi.json`. The adapters
are `novelo.langgraph`, `novelo.langchain` and `novelo.agents`.
"""

from . import _types as types
from . import errors
from ._client import AsyncNovelo, Novelo
from ._errors import ApiError, BadAnswer, ConnectionFailed, ConnectionLost, NoveloError, TimedOut
from ._request import OMIT
from ._stream import AsyncEventStream, AsyncLineStream, Event, EventStream, LineStream

__version__ = "0.1.0"
__all__ = [
    "OMIT",
    "ApiError",
    "AsyncEventStream",
    "AsyncLineStream",
    "AsyncNovelo",
    "BadAnswer",
    "ConnectionFailed",
    "ConnectionLost",
    "Event",
    "EventStream",
    "LineStream",
    "Novelo",
    "NoveloError",
    "TimedOut",
    "errors",
    "types",
]
