"""Errors as RFC 9457 problems, with the library's own messages.

``problem`` builds the JSON object on the server, ``restore_error`` the same exception on the client.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from fractions import Fraction
from http import HTTPStatus
from typing import Any

from podium import errors
from podium.errors import InvalidArgument
from podium.exact import exact_fraction
from podium.wire.refusals import Refusal

__all__ = ["MEDIA_TYPE", "STATUSES", "UNEXPECTED", "problem", "restore_error", "status_of"]

MEDIA_TYPE = "application/problem+json"

STATUSES: Mapping[type[errors.PodiumError], int] = {
    errors.InvalidArgument: 422,
    errors.QuestionRefused: 422,
    errors.UnknownColumn: 422,
    errors.BudgetError: 409,
    errors.DatasetExists: 409,
    errors.ReservationClosed: 409,
    errors.DatasetLocked: 423,
    errors.UnknownDataset: 404,
    errors.LedgerLocked: 503,
    errors.LedgerUnavailable: 503,
    errors.QuestionPending: 503,
    errors.SourceUnavailable: 503,
    errors.MissingLibrary: 501,
    errors.PodiumError: 500,
}
"""The status of each error; an error that is not listed has that of its nearest ancestor."""

UNEXPECTED = (
    "The service failed because of an internal error. The details are withheld, because they may quote private rows. "
    "Report the request id to the operator of the service."
)

_FIELDS = (
    "measure",
    "requested",
    "remaining",
    "budget",
    "dataset",
    "failures",
    "name",
    "allowed",
    "hint",
    "part",
    "reason",
)
_FRACTIONS = ("requested", "remaining")
_PUBLIC = {name: cls for name, cls in vars(errors).items() if inspect.isclass(cls)}


def status_of(error: BaseException) -> int:
    """The HTTP status of an error."""
    if isinstance(error, Refusal):
        return error.status
    if isinstance(error, errors.InvalidArgument) and error.name == "idempotency_key":
        # A valid key is in conflict with its first use; a malformed one is invalid.
        return 409 if isinstance(error.value, str) and error.value.isprintable() and error.value else 422
    return next((STATUSES[cls] for cls in type(error).__mro__ if cls in STATUSES), 500)


def problem(error: BaseException, *, request_id: str) -> dict[str, Any]:
    """The error as a JSON object: class in ``error``, message in ``detail``, public fields by name."""
    status = status_of(error)
    known = isinstance(error, errors.PodiumError)
    name = "UnexpectedFailure"
    if known:
        name = error.error if isinstance(error, Refusal) else type(error).__name__
    return {
        "type": f"urn:podium:error:{name}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": str(error) if known else UNEXPECTED,
        "instance": f"urn:podium:request:{request_id}",
        "error": name,
        **_fields(error),
    }


def restore_error(document: Mapping[str, Any], status: int) -> Exception:
    """The exception that a problem describes; a ``Refusal`` if it is not one of the library's."""
    detail = str(document.get("detail", f"The service answered with status={status}."))
    cls = _PUBLIC.get(str(document.get("error")))
    if cls is None or not issubclass(cls, errors.PodiumError):
        return Refusal(status, detail, error=str(document.get("error", "Refusal")))
    # The text is the complete message, so the constructor, which would compose it again, is bypassed.
    error = cls.__new__(cls)
    Exception.__init__(error, detail)
    try:
        _restore_fields(error, document)
    except (AttributeError, InvalidArgument, TypeError):
        return Refusal(status, detail, error=cls.__name__)
    return error


def _restore_fields(error: Exception, document: Mapping[str, Any]) -> None:
    """Set the public fields of an error; raise if a field has an unexpected type."""
    for name in _FIELDS:
        if name in document:
            setattr(error, name, _field(name, document[name]))
    if isinstance(error, errors.BudgetExceeded):
        error.short_by = error.requested - error.remaining
        error.total = None
    if isinstance(error, errors.InvalidArgument):
        error.value = document.get("value")
    if isinstance(error, errors.DatasetLocked):
        error.analyst = None if document.get("analyst") is None else _field("analyst", document["analyst"])
    if isinstance(error, errors.PodiumError) and not error.lines:
        raise TypeError


def _field(name: str, value: Any) -> Any:
    if name in _FRACTIONS:
        return exact_fraction(value, name)
    if not isinstance(value, int if name == "failures" else str):
        raise TypeError
    return value


def _fields(error: BaseException) -> dict[str, Any]:
    if not isinstance(error, errors.PodiumError) or isinstance(error, Refusal):
        return {}
    found = {name: getattr(error, name) for name in _FIELDS if hasattr(error, name)}
    if isinstance(error, errors.DatasetLocked):
        found["analyst"] = error.analyst
    if isinstance(error, errors.InvalidArgument):
        found["value"] = error.value if isinstance(error.value, (str, int, bool, type(None))) else str(error.value)
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in found.items()}
