"""Access control: a valid token, then its scope, then its role. What is out of scope seems not to exist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from podium.service.core import Service
from podium.service.store.tokens import EVERYTHING, Role, Token
from podium.wire.refusals import forbidden, not_found, not_signed_in

__all__ = [
    "Access", "Caller", "DatasetName", "Holder", "access", "address_of", "bearer", "caller", "check_access",
    "require_all_datasets", "require_role", "service",
]  # fmt: skip

bearer: HTTPBearer = HTTPBearer(auto_error=False, description="A token issued by `podium token create`.")

DatasetName = Annotated[
    str, Path(pattern="^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$", description="The name of the data set.", examples=["views"])
]
Holder = Annotated[HTTPAuthorizationCredentials | None, Security(bearer)]


def service(request: Request) -> Service:
    """The service of this app."""
    found: Service = request.app.state.service
    return found


def caller(request: Request, credentials: Holder) -> Token:
    """The token of a request; failed attempts are rate-limited per address."""
    parts = service(request)
    token = None if credentials is None else parts.tokens.find(credentials.credentials)
    if token is None:
        # Only callers without a valid token are limited by address: behind a proxy everybody shares one.
        parts.failures.take(address_of(request))
        raise not_signed_in()
    request.state.who = token.name
    parts.requests.take(token.id)
    return token


def address_of(request: Request) -> str:
    """The address of the caller."""
    return request.client.host if request.client is not None else "unknown"


Caller = Annotated[Token, Depends(caller)]


@dataclass(frozen=True, slots=True)
class Access:
    """A token with permission on a data set."""

    service: Service
    token: Token
    dataset: str


def access(role: Role) -> Callable[[Request, str, Token], Access]:
    """A dependency that requires this role on the data set."""

    def grant(request: Request, dataset: DatasetName, token: Caller) -> Access:
        check_access(token, dataset, role)
        return Access(service(request), token, dataset)

    return grant


def check_access(token: Token, dataset: str, role: Role) -> None:
    """Raise unless the token has this role on the data set."""
    if not token.reaches(dataset):
        raise not_found(f"dataset={dataset!r}")
    require_role(token, role)


def require_role(token: Token, role: Role) -> None:
    """Raise unless the token has this role or a higher one."""
    if not token.role.covers(role):
        raise forbidden(f"do what needs the role {role.value}", f"what a {token.role.value} may do")


def require_all_datasets(token: Token) -> None:
    """Raise unless the token is an owner's for all data sets."""
    require_role(token, Role.OWNER)
    if EVERYTHING not in token.datasets:
        raise forbidden("do what needs the scope *", f"what concerns {', '.join(token.datasets)}")
