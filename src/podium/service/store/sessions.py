"""Sessions of the page: a cookie with fresh random bits, stored hashed, which ends when its token does.

A session is made at sign-in and never taken over from what a browser sent before, so nobody can plant one. The token of
a form is derived from the session's own secret: a page of somebody else cannot know it.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from podium.randomness import system_bits
from podium.service.store.database import State, now
from podium.service.store.tokens import Token, Tokens

__all__ = ["Sessions", "SignedIn", "equal_secrets", "form_token", "new_secret"]


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A browser whose holder showed a token."""

    secret: str
    token: Token

    @property
    def form_token(self) -> str:
        """What every form of this session must send back."""
        return form_token(self.secret)


class Sessions:
    """All sessions of a service."""

    def __init__(self, state: State, tokens: Tokens, *, hours: int) -> None:
        self._state, self._tokens, self._seconds = state, tokens, 3_600 * hours

    def start(self, token: Token) -> str:
        """A new session; its secret is for the cookie."""
        secret = new_secret()
        with self._state.writing() as session:
            session.run("DELETE FROM service_sessions WHERE expires <= ?", (now(),))
            session.run(
                "INSERT INTO service_sessions (hash, token, expires) VALUES (?, ?, ?)",
                (_hash(secret), token.id, now() + self._seconds),
            )
        return secret

    def find(self, secret: str) -> SignedIn | None:
        """Who the cookie belongs to; None if the session or its token has ended."""
        rows = self._state.rows("SELECT token, expires FROM service_sessions WHERE hash = ?", (_hash(secret),))
        if not rows or rows[0][1] <= now():
            return None
        token = self._tokens.get(rows[0][0])
        return SignedIn(secret, token) if token is not None and token.valid else None

    def end(self, secret: str) -> None:
        """Sign out: the cookie is worth nothing from now on."""
        self._state.run("DELETE FROM service_sessions WHERE hash = ?", (_hash(secret),))


def new_secret() -> str:
    """Fresh random bits as text."""
    return system_bits().read(32).hex()


def form_token(secret: str) -> str:
    """What forms must send back; the secret cannot be computed from it."""
    return hmac.new(secret.encode("utf-8", "surrogatepass"), b"podium form", hashlib.sha256).hexdigest()


def equal_secrets(one: str, other: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
