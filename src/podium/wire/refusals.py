"""What the service refuses by itself, before the library is asked: who is calling, how often, how much."""

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
    """A request that is answered with an error of the service's own; ``retry_after`` says when to come back."""

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
    """No token, or one that opens nothing; which of the two is not told."""
    return Refusal(
        401,
        "The request has no valid token. A token is sent as 'Authorization: Bearer podium_...'. "
        "Ask the owner for one, or for a new one if it has expired.",
        error="NotSignedIn",
    )


def forbidden(what: str, allowed: str) -> Refusal:
    """A valid token that may not do this."""
    return Refusal(403, f"This token may not {what}. Allowed: {allowed}. Ask the owner.", error="Forbidden")


def not_found(what: str) -> Refusal:
    """Nothing there, or nothing that this token may know of: the two look the same."""
    return Refusal(404, f"{what} does not exist, or is outside the scope of this token. Check the address.",
                   error="NotFound")  # fmt: skip


def too_large(maximum: int) -> Refusal:
    """A body above the limit."""
    return Refusal(
        413, f"The body of the request is too large. Allowed: at most {maximum} bytes. Ask a shorter question.",
        error="TooLarge",
    )  # fmt: skip


def ambiguous_length() -> Refusal:
    """A body whose end two headers say differently."""
    return Refusal(
        400,
        "The request has a Transfer-Encoding where only a Content-Length, or neither, may be. Allowed: one of the two, "
        "and HTTP/1.1 for the first. Send the length alone.",
        error="BadRequest",
    )


def too_many_waiting(number: int, maximum: int) -> Refusal:
    """More questions of one analyst than may wait."""
    return Refusal(
        429,
        f"There are {number} questions of yours waiting. Allowed: {maximum} at a time. "
        "Nothing was charged; ask again when some of them are answered.",
        error="TooMany",
        retry_after=5,
    )


def too_many_streams(maximum: int) -> Refusal:
    """More streams of events of one token than may be open."""
    return Refusal(
        429,
        f"This token has {maximum} event streams open. Allowed: {maximum} at a time. Close one, or ask for the state "
        "of a job instead.",
        error="TooMany",
        retry_after=5,
    )


def token_ended() -> Refusal:
    """A question whose token was valid when it was asked, and was not any more when its turn came."""
    return Refusal(
        401,
        "The token of this question was revoked or has expired before its turn came. Nothing was read or charged. "
        "Ask again with a valid token.",
        error="TokenEnded",
    )


def plan_too_long(seconds: int) -> Refusal:
    """A plan that was not ready in time."""
    return Refusal(
        503,
        f"The plan was not ready in time. Allowed: {seconds} seconds. Nothing was charged; ask for fewer items or "
        "conditions, or try again later.",
        error="PlanTooLong",
        retry_after=5,
    )


def too_many(what: str, per_minute: int, retry_after: int) -> Refusal:
    """A rate above the limit."""
    return Refusal(
        429,
        f"There were too many {what}. Allowed: {per_minute} in a minute. Try again in {retry_after} seconds.",
        error="TooMany",
        retry_after=retry_after,
    )
