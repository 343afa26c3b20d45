"""Owner pages: register a file, raise a total, relabel, unlock, issue and revoke tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from podium.errors import InvalidArgument, PodiumError
from podium.ledger import Budget, Status
from podium.present.text.accounts import status_facts
from podium.present.text.plain import plain_status
from podium.service.api.owner_routes import TokenId, issue_token, own_token, own_tokens, revoke_token
from podium.service.http.access import require_all_datasets, require_role, service
from podium.service.pages.budget_bar import bar_of
from podium.service.pages.cookies import CurrentSession, Form, PostedForm, View, parse_integer, view
from podium.service.pages.rendering import page
from podium.service.store.sessions import SignedIn
from podium.service.store.tokens import EVERYTHING, Role

__all__ = ["router"]

router: APIRouter = APIRouter(prefix="/owner")

Owning = Annotated[View, Depends(view(Role.OWNER))]

_BUDGET = ("epsilon", "delta", "items", "questions", "epsilon_per_analyst", "delta_per_analyst", "max_questions")


@router.get("")
def owner(request: Request, signed: CurrentSession) -> Response:
    """The owner's page."""
    require_role(signed.token, Role.OWNER)
    return _owner_page(request, signed)


def _owner_page(
    request: Request, signed: SignedIn, *, error: PodiumError | None = None, fields: Form | None = None
) -> Response:
    parts = service(request)
    names = parts.datasets.visible(signed.token)
    known = [(name, parts.records.status(name)) for name in names]
    given = fields or Form()
    return page(
        request, "owner.html", signed, status=200 if error is None else 422,
        datasets=[(name, status, bar_of(status, signed.token)) for name, status in known],
        tokens=own_tokens(parts, signed.token), files=parts.datasets.files() if _owns_all(signed) else [],
        lines=() if error is None else error.lines, fields=given, chosen=given.lists.get("scope", ()),
        scope=[*names, *_star(signed)],
        roles=[role.value for role in Role], registers=_owns_all(signed) and parts.settings.registration is not None,
    )  # fmt: skip


def _owns_all(signed: SignedIn) -> bool:
    return EVERYTHING in signed.token.datasets


def _star(signed: SignedIn) -> list[str]:
    return [EVERYTHING] if _owns_all(signed) else []


@router.post("/datasets")
def register(request: Request, signed: CurrentSession, form: PostedForm) -> Response:
    """Register a file; its total cannot be lowered afterwards."""
    require_all_datasets(signed.token)
    try:
        service(request).datasets.register(
            form.get("name", ""), form.get("source", ""), user=_users(form), budget=_budget(form)
        )
    except PodiumError as error:
        return _owner_page(request, signed, error=error, fields=form)
    return RedirectResponse(f"/datasets/{form['name']}", 303)


def _users(form: Mapping[str, str]) -> str | list[str]:
    """The user column, or several with commas between."""
    names = [name.strip() for name in form.get("user", "").split(",")]
    return names if len(names) > 1 else form.get("user", "")


@router.get("/datasets/{dataset}")
def dataset(request: Request, granted: Owning) -> Response:
    """One data set, with the settings that its owner may change."""
    return _dataset_page(request, granted)


def _dataset_page(request: Request, granted: View, *, error: PodiumError | None = None) -> Response:
    status = granted.service.records.status(granted.dataset)
    return page(
        request, "owner_dataset.html", granted.signed, status=200 if error is None else 422, dataset=granted.dataset,
        bar=bar_of(status, granted.signed.token), facts=_plain_facts(status), sums=status_facts(status), state=status,
        budget=status.totals.budget,
        lines=() if error is None else error.lines,
    )  # fmt: skip


def _plain_facts(status: Status) -> list[tuple[str, str]]:
    """Without what the bar above them says."""
    return [(name, text) for name, text in plain_status(status) if name != "used"]


@router.post("/datasets/{dataset}/total")
def raise_total(request: Request, granted: Owning, form: PostedForm) -> Response:
    """Raise the total; the earlier guarantee ends."""
    return _apply(request, granted, lambda: granted.service.datasets.ledger.raise_total(
        granted.dataset, _budget(form)))  # fmt: skip


@router.post("/datasets/{dataset}/data-version")
def relabel(request: Request, granted: Owning, form: PostedForm) -> Response:
    """Record that the data changed."""
    return _apply(request, granted, lambda: granted.service.datasets.ledger.set_data_version(
        granted.dataset, form.get("data_version", ""), table=form.get("table") or None))  # fmt: skip


@router.post("/datasets/{dataset}/unlock")
def unlock(request: Request, granted: Owning, form: PostedForm) -> Response:
    """Allow questions again, for one analyst or for everybody."""
    return _apply(request, granted, lambda: granted.service.datasets.ledger.unlock(
        granted.dataset, analyst=form.get("analyst")))  # fmt: skip


def _apply(request: Request, granted: View, change: Any) -> Response:
    granted.service.datasets.require(granted.dataset)
    try:
        change()
    except InvalidArgument as error:
        return _dataset_page(request, granted, error=error)
    return RedirectResponse(f"/owner/datasets/{granted.dataset}", 303)


@router.post("/tokens")
def create_token(request: Request, signed: CurrentSession, form: PostedForm) -> Response:
    """Issue a token and show its secret once."""
    require_role(signed.token, Role.OWNER)
    try:
        secret, made = issue_token(
            service(request), signed.token, name=form.get("token_name", ""), role=form.get("role", ""),
            datasets=[*form.lists.get("scope", [""])], days=parse_integer(form.get("days", "90"), "days"),
        )  # fmt: skip
    except InvalidArgument as error:
        return _owner_page(request, signed, error=error, fields=form)
    return page(request, "token.html", signed, status=201, token=made, secret=secret)


@router.get("/tokens/{id_}/revoke")
def confirm_revoking(request: Request, id_: TokenId, signed: CurrentSession) -> Response:
    """Ask before a token is revoked."""
    token = own_token(service(request), signed.token, id_)
    return page(request, "revoke.html", signed, token=token, own=token.id == signed.token.id)


@router.post("/tokens/{id_}/revoke")
def revoke(request: Request, id_: TokenId, signed: CurrentSession, _: PostedForm) -> Response:
    """Revoke a token."""
    revoke_token(service(request), signed.token, id_)
    return RedirectResponse("/owner#tokens", 303)


def _budget(form: Form) -> Budget:
    given: dict[str, Any] = {name: form[name] for name in _BUDGET if name in form}
    for name in ("items", "questions"):
        given[name] = parse_integer(given.get(name, ""), name)
    if "max_questions" in given:
        given["max_questions"] = parse_integer(given["max_questions"], "max_questions")
    return Budget(**{"epsilon": "", **given})
