"""A class for each code of an error.

Written by clients/generate.py from openapi.json: do not edit.
"""

from typing import Dict, Type

from ._errors import ApiError


class MalformedJson(ApiError):
    """The server answered `malformed_json`."""


class InvalidField(ApiError):
    """The server answered `invalid_field`."""


class OverBudget(ApiError):
    """The server answered `over_budget`."""


class TooLarge(ApiError):
    """The server answered `too_large`."""


class Unauthorized(ApiError):
    """The server answered `unauthorized`."""


class Forbidden(ApiError):
    """The server answered `forbidden`."""


class NotFound(ApiError):
    """The server answered `not_found`."""


class MethodNotAllowed(ApiError):
    """The server answered `method_not_allowed`."""


class Contradiction(ApiError):
    """The server answered `contradiction`."""


class Conflict(ApiError):
    """The server answered `conflict`."""


class Stale(ApiError):
    """The server answered `stale`."""


class BodyTimeout(ApiError):
    """The server answered `timeout`."""


class Busy(ApiError):
    """The server answered `busy`."""


class RateLimited(ApiError):
    """The server answered `rate_limited`."""


class Unavailable(ApiError):
    """The server answered `unavailable`."""


class DiskFull(ApiError):
    """The server answered `disk_full`."""


class ReadOnly(ApiError):
    """The server answered `read_only`."""


class NoModel(ApiError):
    """The server answered `no_model`."""


class ModelFailed(ApiError):
    """The server answered `model_failed`."""


class ModelRefused(ApiError):
    """The server answered `model_refused`."""


class ModelRateLimited(ApiError):
    """The server answered `model_rate_limited`."""


class UpstreamAuth(ApiError):
    """The server answered `upstream_auth`."""


class NoData(ApiError):
    """The server answered `no_data`."""


class DataFailed(ApiError):
    """The server answered `data_failed`."""


class Internal(ApiError):
    """The server answered `internal`."""


CODES: Dict[str, Type[ApiError]] = {
    "malformed_json": MalformedJson,
    "invalid_field": InvalidField,
    "over_budget": OverBudget,
    "too_large": TooLarge,
    "unauthorized": Unauthorized,
    "forbidden": Forbidden,
    "not_found": NotFound,
    "method_not_allowed": MethodNotAllowed,
    "contradiction": Contradiction,
    "conflict": Conflict,
    "stale": Stale,
    "timeout": BodyTimeout,
    "busy": Busy,
    "rate_limited": RateLimited,
    "unavailable": Unavailable,
    "disk_full": DiskFull,
    "read_only": ReadOnly,
    "no_model": NoModel,
    "model_failed": ModelFailed,
    "model_refused": ModelRefused,
    "model_rate_limited": ModelRateLimited,
    "upstream_auth": UpstreamAuth,
    "no_data": NoData,
    "data_failed": DataFailed,
    "internal": Internal,
}
