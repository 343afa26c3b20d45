"""API v1: routes for owners. Totals are raised, never lowered; owners issue tokens within their own scope."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import JSONResponse

from podium.service.api.bodies import BudgetBody, DataVersionBody, RegistrationBody, TokenBody, UnlockBody
from podium.service.api.examples import PROBLEMS
from podium.service.core import Service
from podium.service.http.access import Access, Caller, access, require_all_datasets, require_role, service
from podium.service.store.tokens import Role, Token
from podium.wire.refusals import forbidden, not_found

__all__ = ["issue_token", "own_token", "own_tokens", "revoke_token", "router"]

router: APIRouter = APIRouter(prefix="/v1", responses=PROBLEMS)

Owning = Annotated[Access, Depends(access(Role.OWNER))]
TokenId = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="The id of a token, not the token itself.")]


@router.post("/datasets", status_code=201, summary="Register a file of the registration folder")
def register(request: Request, token: Caller, body: RegistrationBody) -> dict[str, Any]:
    """The total cannot be lowered afterwards. Needs an owner's token for all data sets."""
    require_all_datasets(token)
    parts = service(request)
    parts.datasets.register(body.name, body.source, user=body.user, budget=body.budget.budget())
    return parts.records.budget(body.name, token)


@router.post("/datasets/{dataset}/total", summary="Raise the total")
def raise_total(granted: Owning, body: BudgetBody) -> dict[str, Any]:
    """The earlier guarantee ends and is replaced by that of the larger total."""
    granted.service.datasets.require(granted.dataset)
    return granted.service.datasets.ledger.raise_total(granted.dataset, body.budget()).to_dict()


@router.post("/datasets/{dataset}/data-version", summary="Record that the data changed")
def set_data_version(granted: Owning, body: DataVersionBody) -> dict[str, Any]:
    """Questions asked before are charged again, once."""
    granted.service.datasets.require(granted.dataset)
    ledger = granted.service.datasets.ledger
    return ledger.set_data_version(granted.dataset, body.data_version, table=body.table).to_dict()


@router.post("/datasets/{dataset}/unlock", summary="Allow questions again after failures")
def unlock(granted: Owning, body: UnlockBody | None = None) -> dict[str, Any]:
    """For one analyst, or for everybody. What failed questions reserved stays charged."""
    granted.service.datasets.require(granted.dataset)
    analyst = None if body is None else body.analyst
    return granted.service.datasets.ledger.unlock(granted.dataset, analyst=analyst).to_dict()


@router.get("/tokens", summary="List the tokens within the owner's scope")
def tokens(request: Request, token: Caller) -> dict[str, Any]:
    """Without their secrets, which are not stored."""
    require_role(token, Role.OWNER)
    return {"tokens": [one.to_json() for one in own_tokens(service(request), token)]}


@router.post("/tokens", status_code=201, summary="Issue a token")
def create_token(request: Request, token: Caller, body: TokenBody) -> JSONResponse:
    """Only this response contains the secret."""
    secret, made = issue_token(service(request), token, **body.model_dump())
    return JSONResponse({**made.to_json(), "secret": secret}, 201)


@router.delete("/tokens/{id_}", summary="Revoke a token")
def delete_token(request: Request, id_: TokenId, token: Caller) -> dict[str, Any]:
    """The token and its sessions end immediately."""
    return revoke_token(service(request), token, id_).to_json()


def own_tokens(parts: Service, owner: Token) -> list[Token]:
    """The tokens that an owner may see and revoke."""
    return [one for one in parts.tokens.all() if owner.contains(one.datasets)]


def issue_token(
    parts: Service, owner: Token, *, name: str, role: str, datasets: list[str], days: int
) -> tuple[str, Token]:
    """A new token, within the scope of its giver."""
    require_role(owner, Role.OWNER)
    if not owner.contains(datasets):
        raise forbidden(
            f"give access to {', '.join(datasets)}", f"tokens for {', '.join(owner.datasets)}, or for some of these"
        )
    parts.datasets.require_scope(datasets, within=owner)
    return parts.tokens.create(name, role=role, datasets=datasets, days=days)


def revoke_token(parts: Service, owner: Token, id_: str) -> Token:
    """Revoke a token within the owner's scope."""
    return parts.tokens.revoke(own_token(parts, owner, id_).id)


def own_token(parts: Service, owner: Token, id_: str) -> Token:
    """A token within the owner's scope."""
    require_role(owner, Role.OWNER)
    found = parts.tokens.get(id_)
    if found is None or not owner.contains(found.datasets):
        raise not_found("this token")
    return found
