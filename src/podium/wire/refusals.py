"""Refusals of the service itself, before it calls the library: authentication, rates and sizes."""

from __future__ import annotations

from podium.errors import PodiumError

__all__ = [
    "Refusal",
    "ambiguous_length",
    "forbidden",
    "not_found",
    "not_signed_in",
    "plan_too_long",
    "token_ended",
    "too_large",
    "too_many",
    "too_many_streams",
    "too_many_waiting",
]


class Refusal(PodiumError):
    """An error of the service itself; ``retry_after`` is the number of seconds to wait before a retry."""

    def __init__(self, status: int, text: str, *, error: str = "Refusal", retry_after: int | None = None) -> None:
        self.status = status
        self.error = error
        self.retry_after = retry_after
        super().__init__(text)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.status, str(self), self.error, self.retry_after))


def _rebuild(status: int, text: str, error: str, retry_after: int | None) -> Refusal:
    return Refusal(status, text, error=error, retry_after=retry_after)


def not_signed_in() -> Refusal:
    """No token, or an invalid one; the response does not say which."""
    return Refusal(
        401,
        "The request has no valid token. A token is sent as 'Authorization: Bearer podium_...'. "
        "Ask the owner for one, or for a new one if it has expired.",
        error="NotSignedIn",
    )


def forbidden(what: str, allowed: str) -> Refusal:
    """A valid token without permission."""
    return Refusal(403, f"This token may not {what}. Allowed: {allowed}. Ask the owner.", error="Forbidden")


def not_found(what: str) -> Refusal:
    """Missing, or outside the token's scope: the two look the same."""
    return Refusal(404, f"{what} does not exist, or is outside the scope of this token. Check the address.",
                   error="NotFound")  # fmt: skip


def too_large(maximum: int) -> Refusal:
    """A body over the limit."""
    return Refusal(
        413, f"The body of the request is too large. Allowed: at most {maximum} bytes. Ask a shorter question.",
        error="TooLarge",
    )  # fmt: skip


def ambiguous_length() -> Refusal:
    """A body whose length the headers state in two ways."""
    return Refusal(
        400,
        "The request has a Transfer-Encoding together with a Content-Length, or in HTTP/1.0. Allowed: one of the two, "
        "and HTTP/1.1 for the first. Send a Content-Length only.",
        error="BadRequest",
    )


def too_many_waiting(number: int, maximum: int) -> Refusal:
    """Too many queued questions of one analyst."""
    return _later(
        f"You have {number} questions waiting. Allowed: {maximum} at a time. "
        "Nothing was charged; ask again when some of them are answered."
    )


def too_many_streams(maximum: int) -> Refusal:
    """Too many open event streams of one token."""
    return _later(
        f"This token has {maximum} event streams open. Allowed: {maximum} at a time. Close one, or ask for the state "
        "of a job instead."
    )


def token_ended() -> Refusal:
    """A question whose token was revoked or expired while it waited in the queue."""
    return Refusal(
        401,
        "The token of this question was revoked or expired while the question waited. Nothing was read or charged. "
        "Ask again with a valid token.",
        error="TokenEnded",
    )


def plan_too_long(seconds: int) -> Refusal:
    """A plan that timed out."""
    return Refusal(
        503,
        f"The plan was not ready in time. Allowed: {seconds} seconds. Nothing was charged; ask for fewer items or "
        "conditions, or try again later.",
        error="PlanTooLong",
        retry_after=5,
    )


def too_many(what: str, per_minute: int, retry_after: int) -> Refusal:
    """A rate over the limit."""
    text = f"There were too many {what}. Allowed: {per_minute} per minute. Try again in {retry_after} seconds."
    return _later(text, retry_after)


def _later(text: str, retry_after: int = 5) -> Refusal:
    return Refusal(429, text, error="TooMany", retry_after=retry_after)
