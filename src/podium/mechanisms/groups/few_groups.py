"""What mechanisms share that run another on every group, where each user counts in a few groups."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from podium.exact import positive_integer

__all__ = ["InFewGroups"]

M = TypeVar("M")


class InFewGroups(Generic[M]):
    """A mechanism that runs ``inner`` on every group by itself; subclasses are frozen dataclasses of these fields."""

    __slots__ = ()
    inner: M
    groups_per_user: int
    known: int | None

    def __init__(self, inner: M, groups_per_user: int = 1, *, known: int | None = None) -> None:
        put = object.__setattr__
        put(self, "inner", inner)
        put(self, "groups_per_user", positive_integer(groups_per_user, "groups_per_user"))
        put(self, "known", None if known is None else positive_integer(known, "known"))

    @property
    def most(self) -> int:
        """In how many groups a user counts at most."""
        return self.groups_per_user if self.known is None else min(self.groups_per_user, self.known)

    @property
    def k(self) -> int:
        """The length of each list."""
        inner: Any = self.inner
        return inner.k  # type: ignore[no-any-return] # every selection has one
