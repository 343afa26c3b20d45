"""Sign-in links: a code that whoever started the service on this computer gets, once, for ten minutes.

A code is 256 random bits, of which only a hash is stored. It is compared in constant time, and deleted by the request
that uses it, in the same transaction.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from podium.service.store.database import State, now
from podium.service.store.sessions import equal_secrets, new_secret
from podium.service.store.tokens import Token, Tokens

__all__ = ["LINK_SECONDS", "SignInLinks", "Used"]

LINK_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Used:
    """What a code was for: whose session it starts, and the page that follows."""

    token: Token
    target: str


class SignInLinks:
    """All codes of a service that were not used yet."""

    def __init__(self, state: State, tokens: Tokens) -> None:
        self._state, self._tokens = state, tokens

    def create(self, token: Token, target: str) -> str:
        """A new code for a session of this token; earlier codes for it are void."""
        code = new_secret()
        with self._state.write_transaction() as session:
            session.run("DELETE FROM service_links WHERE token = ? OR expires <= ?", (token.id, now()))
            session.run(
                "INSERT INTO service_links (hash, token, target, expires) VALUES (?, ?, ?, ?)",
                (_hash(code), token.id, target, now() + LINK_SECONDS),
            )
        return code

    def use(self, code: str) -> Used | None:
        """Use a code up; None if it is unknown, used, expired, or for a token that has ended."""
        wanted, found = _hash(code), None
        with self._state.write_transaction() as session:
            rows = session.rows(
                f"SELECT hash, token, target FROM service_links WHERE expires > ?{session.lock_rows}",  # noqa: S608 - ours
                (now(),),
            )
            for kept, id_, target in rows:
                if equal_secrets(kept, wanted):
                    found = (id_, target)
            if found is not None:
                session.run("DELETE FROM service_links WHERE hash = ?", (wanted,))
        if found is None:
            return None
        token = self._tokens.get(found[0])
        return Used(token, found[1]) if token is not None and token.valid else None


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()
