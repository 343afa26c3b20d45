"""Pages: sign in with the link that ``podium serve FILE`` printed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from podium.service.http.access import address_of, service
from podium.service.http.loopback import require_loopback
from podium.service.pages.cookies import Form, check_sign_in, form_of
from podium.service.pages.main_pages import begin_session, sign_in_page
from podium.wire.refusals import Refusal

__all__ = ["router"]

router: APIRouter = APIRouter(dependencies=[Depends(require_loopback)])


@router.get("/sign-in/link")
def open_link(request: Request, code: str = "") -> Response:
    """A page with a button: programs that open links on their own do not use the code up, and learn nothing."""
    return sign_in_page(request, "link.html", code=code)


@router.post("/sign-in/link")
def use_link(request: Request, form: Annotated[Form, Depends(form_of)]) -> Response:
    """Start a session for the code, once."""
    check_sign_in(request, form)
    parts = service(request)
    used = parts.links.use(form.get("code", ""))
    if used is None:
        parts.failures.take(address_of(request))
        raise Refusal(
            401,
            "This link is not valid: it works once, for ten minutes. Start the same command again for another one.",
            error="LinkNotValid",
        )
    return begin_session(request, used.token, used.target)
