"""What a curator says of itself: in a line, and in notebooks as a table of columns and where its budget stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from podium.curator.one_question import OneQuestion
from podium.user_columns import user_text

if TYPE_CHECKING:
    from podium.curator.curator import Curator

__all__ = ["CuratorView"]


class CuratorView:
    """The part of a curator that shows it; nothing is read or charged."""

    def __repr__(self) -> str:
        curator = cast("Curator", self)
        told = [f"{table.name or 'users'} by {user_text(table.user)}" for table in curator._tables.all]
        return f"<Curator of {curator.dataset!r}: {', '.join(told)}>"

    def _repr_html_(self) -> str:
        from podium.present.notebook import curator_html  # noqa: PLC0415 - presenting is above this package

        curator = cast("Curator", self)
        alone = isinstance(curator._account, OneQuestion)
        return curator_html(curator.schemas, None if alone else curator.status)
