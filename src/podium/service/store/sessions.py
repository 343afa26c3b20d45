"""Browser sessions: a cookie with a random secret, stored as a hash, valid as long as its token.

Every sign-in creates a new session, which prevents session fixation. The CSRF token of a form is derived from the
session's secret, so other sites cannot know it.
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
    """A session and its token."""

    secret: str
    token: Token

    @property
    def form_token(self) -> str:
        """The CSRF token that every form of this session must send."""
        return form_token(self.secret)


class Sessions:
    """All sessions of a service."""

    def __init__(self, state: State, tokens: Tokens, *, hours: int) -> None:
        self._state, self._tokens, self._seconds = state, tokens, 3_600 * hours

    def start(self, token: Token) -> str:
        """Start a session and return the secret for its cookie."""
        secret = new_secret()
        with self._state.write_transaction() as session:
            session.run("DELETE FROM service_sessions WHERE expires <= ?", (now(),))
            session.run(
                "INSERT INTO service_sessions (hash, token, expires) VALUES (?, ?, ?)",
                (_hash(secret), token.id, now() + self._seconds),
            )
        return secret

    def find(self, secret: str) -> SignedIn | None:
        """The session of a cookie; None if it or its token has ended."""
        rows = self._state.rows("SELECT token, expires FROM service_sessions WHERE hash = ?", (_hash(secret),))
        if not rows or rows[0][1] <= now():
            return None
        token = self._tokens.get(rows[0][0])
        return SignedIn(secret, token) if token is not None and token.valid else None

    def end(self, secret: str) -> None:
        """End a session; its cookie is no longer valid."""
        self._state.run("DELETE FROM service_sessions WHERE hash = ?", (_hash(secret),))


def new_secret() -> str:
    """A random secret."""
    return system_bits().read(32).hex()


def form_token(secret: str) -> str:
    """The CSRF token of a secret, which does not reveal the secret."""
    return hmac.new(secret.encode("utf-8", "surrogatepass"), b"podium form", hashlib.sha256).hexdigest()


def equal_secrets(one: str, other: str) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
