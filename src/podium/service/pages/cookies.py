"""Session cookies, and the CSRF token that every form sends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from fastapi.responses import Response

from podium.errors import InvalidArgument, PodiumError
from podium.service.core import Service
from podium.service.http.access import DatasetName, check_access, service
from podium.service.store.sessions import SignedIn, equal_secrets, form_token, new_secret
from podium.service.store.tokens import Role
from podium.wire.refusals import Refusal, not_signed_in

__all__ = [
    "SESSION",
    "SIGN_IN",
    "CurrentSession",
    "Form",
    "PostedForm",
    "View",
    "check_sign_in",
    "cookie_name",
    "current_session",
    "form_of",
    "parse_integer",
    "session_or_none",
    "set_cookie",
    "sign_in_secret",
    "view",
]  # fmt: skip

SESSION = "podium_session"
SIGN_IN = "podium_sign_in"


def cookie_name(parts: Service, name: str) -> str:
    """The cookie's name; with https, one that browsers accept only from this host."""
    return f"__Host-{name}" if parts.settings.server.secure else name


def set_cookie(response: Response, parts: Service, name: str, value: str) -> None:
    """Set a cookie that scripts cannot read and other sites cannot send with a form."""
    response.set_cookie(
        cookie_name(parts, name), value, httponly=True, samesite="strict" if name == SIGN_IN else "lax",
        secure=parts.settings.server.secure, path="/", max_age=3_600 * parts.settings.limits.session_hours,
    )  # fmt: skip


def current_session(request: Request) -> SignedIn:
    """The session of a browser."""
    parts = service(request)
    secret = request.cookies.get(cookie_name(parts, SESSION))
    found = None if secret is None else parts.sessions.find(secret)
    if found is None:
        raise not_signed_in()
    request.state.who = found.token.name
    parts.requests.take(found.token.id)
    return found


def session_or_none(request: Request) -> SignedIn | None:
    """The session of a browser, for pages that are open to visitors who are not signed in."""
    try:
        return current_session(request)
    except PodiumError:
        return None


CurrentSession = Annotated[SignedIn, Depends(current_session)]


@dataclass(frozen=True, slots=True)
class View:
    """A session with permission on a data set."""

    service: Service
    signed: SignedIn
    dataset: str


def view(role: Role) -> Callable[[Request, str, SignedIn], View]:
    """A dependency that requires this role of the session's token on the data set."""

    def grant(request: Request, dataset: DatasetName, signed: CurrentSession) -> View:
        check_access(signed.token, dataset, role)
        return View(service(request), signed, dataset)

    return grant


class Form(dict[str, str]):
    """The fields of a form, without empty ones; of a name that occurs several times, the last."""

    lists: Mapping[str, Sequence[str]] = {}
    """All values of each name."""


async def form_of(request: Request) -> Form:
    """The fields of a form, without checking its origin."""
    try:
        text = (await request.body()).decode("utf-8")
        pairs = parse_qsl(text, max_num_fields=100, strict_parsing=bool(text))
    except ValueError:
        raise Refusal(
            422, "The form could not be read. Allowed: forms of this service. Go back and try again.",
            error="InvalidForm",
        ) from None  # fmt: skip
    form = Form({name: value for name, value in pairs if value})
    form.lists = {wanted: [value for name, value in pairs if name == wanted and value] for wanted in form}
    return form


def parse_integer(text: str, name: str) -> int:
    """Parse a field that must hold an integer."""
    digits = text.strip()
    if not digits.isascii() or not digits.isdigit() or len(digits) > 20:
        raise InvalidArgument(name, text, allowed="an integer, 1 or more")
    return int(digits)


async def _check_form(request: Request, signed: CurrentSession) -> Form:
    form = await form_of(request)
    _check_origin(request)
    if not equal_secrets(form.pop("csrf", ""), signed.form_token):
        raise _foreign_form()
    return form


PostedForm = Annotated[Form, Depends(_check_form)]


def check_sign_in(request: Request, form: Form) -> None:
    """Check the sign-in form, which has no session yet: it is bound to a cookie that the page set."""
    _check_origin(request)
    secret = request.cookies.get(cookie_name(service(request), SIGN_IN), "")
    if not secret or not equal_secrets(form.pop("csrf", ""), form_token(secret)):
        raise _foreign_form()


def sign_in_secret() -> str:
    """A secret for the cookie of the sign-in page."""
    return new_secret()


def _check_origin(request: Request) -> None:
    """Refuse forms of other sites, even if they know the token; browsers state the origin."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise _foreign_form()


def _foreign_form() -> Refusal:
    return Refusal(
        403,
        "The form was not sent from a page of this session. Allowed: forms of this service, in the browser that opened "
        "them. Open the page again and send the form from there.",
        error="ForeignForm",
    )
