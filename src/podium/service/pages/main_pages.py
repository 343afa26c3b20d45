"""Pages: sign in, data sets, the ledger, about."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

import podium
from podium.ledger import Problem
from podium.present.plots import plot_budget
from podium.present.text.accounts import status_facts
from podium.present.text.plain import plain_history, plain_status
from podium.service.api.routes import dataset_document, dataset_documents
from podium.service.http.access import address_of, service
from podium.service.pages.budget_bar import bar_of
from podium.service.pages.cookies import (
    SESSION,
    SIGN_IN,
    CurrentSession,
    Form,
    PostedForm,
    View,
    check_sign_in,
    cookie_name,
    form_of,
    session_or_none,
    set_cookie,
    sign_in_secret,
    view,
)
from podium.service.pages.error_pages import local_path
from podium.service.pages.rendering import page
from podium.service.pages.wording import headline, question_sentence
from podium.service.store.sessions import form_token
from podium.service.store.tokens import Role, Token

__all__ = ["begin_session", "router", "sign_in_page"]

router: APIRouter = APIRouter()

Viewing = Annotated[View, Depends(view(Role.VIEWER))]


@router.get("/")
def start() -> RedirectResponse:
    """Redirect to the data sets."""
    return RedirectResponse("/datasets", 303)


@router.get("/sign-in")
def sign_in(request: Request, next: str = "/") -> Response:  # noqa: A002 - as browsers know it
    """The sign-in form, bound to this browser by a cookie."""
    return sign_in_page(request, "sign_in.html", next=local_path(next), error="")


def sign_in_page(request: Request, template: str, *, status: int = 200, **context: str) -> Response:
    """A page with a form that signs in, bound to this browser by a cookie."""
    secret = sign_in_secret()
    shown = page(request, template, None, status=status, form=form_token(secret), **context)
    set_cookie(shown, service(request), SIGN_IN, secret)
    return shown


@router.post("/sign-in")
def start_session(request: Request, form: Annotated[Form, Depends(form_of)]) -> Response:
    """Start a new session for a valid token; an earlier session is ended, not reused."""
    check_sign_in(request, form)
    parts = service(request)
    token = parts.tokens.find(form.get("token", "").strip())
    if token is None:
        parts.failures.take(address_of(request))
        text = "This token is not valid: it is mistyped, revoked or expired. Ask the owner for a new one."
        return sign_in_page(request, "sign_in.html", status=401, next=local_path(form.get("next", "/")), error=text)
    return begin_session(request, token, form.get("next", "/"))


def begin_session(request: Request, token: Token, target: str) -> Response:
    """Start a session and go on to a page of this service."""
    parts = service(request)
    response = RedirectResponse(local_path(target), 303)
    before = request.cookies.get(cookie_name(parts, SESSION))
    if before is not None:
        parts.sessions.end(before)
    set_cookie(response, parts, SESSION, parts.sessions.start(token))
    response.delete_cookie(cookie_name(parts, SIGN_IN), secure=parts.settings.server.secure, httponly=True)
    return response


@router.post("/sign-out")
def sign_out(request: Request, signed: CurrentSession, _: PostedForm) -> Response:
    """End the session on the server, not only in the browser."""
    parts = service(request)
    parts.sessions.end(signed.secret)
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(cookie_name(parts, SESSION), secure=parts.settings.server.secure, httponly=True)
    return response


@router.get("/datasets.json")
def datasets_json(request: Request, signed: CurrentSession) -> dict[str, Any]:
    """The twin of the page."""
    return {"datasets": dataset_documents(service(request), signed.token)}


@router.get("/datasets")
def datasets(request: Request, signed: CurrentSession) -> Response:
    """All data sets in scope, each with its unit of protection and what is left."""
    parts = service(request)
    documents = dataset_documents(parts, signed.token)
    known = [one["name"] for one in documents if "unavailable" not in one]
    bars = {name: bar_of(parts.records.status(name), signed.token) for name in known}
    return page(request, "datasets.html", signed, datasets=documents, bars=bars)


@router.get("/datasets/{dataset}.json")
def dataset_json(granted: Viewing) -> dict[str, Any]:
    """The twin of the page."""
    return dataset_document(granted.service, granted.dataset, granted.signed.token)


@router.get("/datasets/{dataset}")
def dataset(request: Request, granted: Viewing) -> Response:
    """One data set: what may be asked, what is left, what was released."""
    records = granted.service.records.releases(granted.dataset, granted.signed.token)
    return page(
        request,
        "dataset.html",
        granted.signed,
        dataset=dataset_document(granted.service, granted.dataset, granted.signed.token),
        bar=bar_of(granted.service.records.status(granted.dataset), granted.signed.token),
        releases=[(record, question_sentence(record.question)) for record in records],
    )


@router.get("/datasets/{dataset}/ledger.json")
def ledger_json(granted: Viewing) -> dict[str, Any]:
    """The twin of the page."""
    entries = granted.service.records.history_document(granted.dataset, granted.signed.token)
    return {"dataset": granted.dataset, "entries": entries}


@router.get("/datasets/{dataset}/ledger.svg")
def ledger_picture(request: Request, granted: Viewing, theme: str = "light") -> Response:
    """The burn-down chart."""
    drawn, _ = _burn_down(request, granted, dark=theme == "dark")
    return Response(drawn, media_type="image/svg+xml")


@router.get("/datasets/{dataset}/ledger")
def ledger(request: Request, granted: Viewing) -> Response:
    """The burn-down chart and the chained entries."""
    records, token = granted.service.records, granted.signed.token
    capped = token.role is not Role.OWNER and records.has_caps(granted.dataset)
    status = records.status(granted.dataset)
    headers, rows = plain_history(records.history(granted.dataset, token), status.totals)
    return page(
        request, "ledger.html", granted.signed, dataset=granted.dataset, headers=headers, rows=rows, capped=capped,
        headline=headline(status), promise=status.promise, bar=bar_of(status, token),
        facts=[] if capped else _visible(plain_status(status), token),
        sums=[] if capped else _visible(status_facts(status), token),
        alt=None if capped else _burn_down(request, granted, dark=False)[1],
    )  # fmt: skip


def _visible(facts: list[tuple[str, str]], token: Token) -> list[tuple[str, str]]:
    """Facts that the page does not show elsewhere; only the owner sees who spent how much."""
    hidden = () if token.role is Role.OWNER else ("source", "analyst ", "failed", "locked out")
    return [
        (name, text)
        for name, text in facts
        if name not in ("data set", "promise", "private", "used") and not name.startswith(hidden)
    ]


def _burn_down(request: Request, granted: View, *, dark: bool) -> tuple[str, str]:
    history = granted.service.records.history(granted.dataset, granted.signed.token)
    key = ("burn-down", granted.dataset, history[-1].hash if history else "", granted.signed.token.name, str(dark))
    drawn: tuple[str, str] = request.app.state.pictures.get(key, lambda: plot_budget(history, dark=dark))
    return drawn


@router.get("/datasets/{dataset}/verify")
def verify(request: Request, granted: Viewing, receipt: str = "") -> Response:
    """Verify the chain, and look for a receipt in it."""
    granted.service.questions.take(granted.signed.token.id)
    receipts = [receipt.strip()] if receipt.strip() else []
    found = granted.service.records.verification(granted.dataset, receipts, granted.signed.token)
    problem = None if found["problem"] is None else Problem(**found["problem"])
    return page(
        request, "verify.html", granted.signed, dataset=granted.dataset, found=found, problem=problem, receipt=receipt
    )


_LIBRARIES = ("duckdb", "fastapi", "jinja2", "numpy", "pyarrow", "python-flint", "sqlglot", "uvicorn")


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow, and only this page needs it

    found = {"podium": podium.__version__}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@router.get("/about.json")
def about_json(_: CurrentSession) -> JSONResponse:
    """The twin of the page."""
    return JSONResponse({"versions": _versions()})


@router.get("/about")
def about(request: Request) -> Response:
    """The guarantee, its limits, and the installed versions; open to visitors who are not signed in."""
    signed = session_or_none(request)
    return page(request, "about.html", signed, versions={} if signed is None else _versions())
