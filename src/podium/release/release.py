"""The release itself, and its receipt: plain data that knows how to show itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import InvalidArgument
from podium.privacy.costs import Cost, actual_cost
from podium.privacy.encoding import decode_events, encode_event
from podium.privacy.events import Event
from podium.privacy.guarantee import Guarantee
from podium.release.asked import Asked
from podium.release.beside import Beside
from podium.release.decimals import cost_decimals, value_decimals
from podium.release.item_json import (
    LONGEST_TEXT,
    ValueKind,
    decode_columns,
    decode_item,
    decode_k,
    decode_value_kind,
    decode_values,
    encode_item,
    of_type,
    optional_text,
    optional_user,
)
from podium.release.outcome import BOTTOM, OneList, Outcome
from podium.user_columns import UserColumns, user_data

if TYPE_CHECKING:
    from podium.present.card.release_card import Card
    from podium.release.groups import GroupLists

__all__ = ["Receipt", "Release", "read_stored"]

_FORMAT = 1
_GROUPED_FORMAT = 2
_MAX_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one release cost: the events that were run, and their sum.

    ``entry`` is the hash under which a ledger settled it, None where there is no ledger. A release that had been paid
    for before has no events: it was free.
    """

    events: tuple[Event, ...]
    entry: str | None = None

    def __repr__(self) -> str:
        cost = repr(self.cost).removeprefix("Cost(").removesuffix(")")
        entry = "" if self.entry is None else f", entry={self.entry!r}"
        return f"Receipt({cost}, events={len(self.events)}{entry})"

    @property
    def cost(self) -> Cost:
        """The sum of the events, given what came out."""
        return actual_cost(self.events)

    @property
    def rho(self) -> Fraction:
        """zCDP cost, rounded up."""
        return self.cost.rho

    @property
    def delta(self) -> Fraction:
        """Failure probability charged."""
        return self.cost.delta

    @property
    def epsilon(self) -> Fraction | None:
        """Pure cost of what came out, beside ``delta``; None where the noise has no pure bound."""
        return self.cost.epsilon


@dataclass(frozen=True, slots=True)
class Release(OneList):
    """The outcome of a private selection.

    ``outcome`` is a tuple in released order, with BOTTOM at its end where the mechanism stopped early; or a frozenset,
    always listed in the order of the items themselves. ``values`` are gaps, counts or
    scores, as ``value_kind`` says, in the order of the outcome.
    ``paid`` is what this outcome cost, ``guarantee`` what the mechanism promises whatever comes out. ``user`` is the
    column whose values it protects, or several whose values together are one user, ``columns`` are those of the items;
    None for a mechanism that was run without a table. ``value_name`` is what the question calls the values, where it is
    SQL. ``beside`` says what is not in the list, and how much there is in all, where that was asked for.
    ``asked`` is the question as its asker put it; releases are equal whoever asked for them.
    """

    mechanism: str
    outcome: Outcome
    k: int
    paid: Receipt
    guarantee: Guarantee
    theorem: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    values: tuple[Fraction, ...] | None = None
    value_kind: ValueKind | None = None
    user: UserColumns | None = None
    columns: tuple[str, ...] | None = None
    value_name: str | None = None
    beside: Beside | None = None
    asked: Asked | None = field(default=None, compare=False)

    @property
    def promise(self) -> str:
        """The guarantee in a sentence that names the column of the users, where it is known."""
        return self.guarantee.sentence(user=self.user)

    def __post_init__(self) -> None:
        # The one place that every release comes through, also when it is changed, named or read from JSON.
        self._keep_order()
        object.__setattr__(self, "guarantee", self.guarantee.stated)
        self._keep_stated()

    def _keep_stated(self) -> None:
        """Leave out parameters that were not stated: descriptions, and older documents, have the text "None"."""
        stated = {name: value for name, value in self.parameters.items() if value != "None"}
        if len(stated) < len(self.parameters):
            object.__setattr__(self, "parameters", stated)

    @property
    def lists(self) -> GroupLists:
        """The list of each group; a release without groups has none, and says so."""
        raise InvalidArgument(
            "lists", "a release with one list", allowed="lists of a release with groups",
            hint="Say release.items, or ask with per='COLUMN' for a list for each of its values.",
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """The release as a JSON object; exact numbers are text, and ``decimals`` has them again as plain numbers."""
        return {
            "format": _FORMAT,
            **self._head(),
            "outcome": [encode_item(item) for item in self.outcome],
            "complete": self.complete,
            "values": None if self.values is None else [str(value) for value in self.values],
            "value_kind": self.value_kind,
            "decimals": self._decimals(value_decimals(self.values)),
            **self._tail(),
        }

    def _decimals(self, values: list[Any] | None) -> dict[str, Any]:
        """The numbers of the release for readers that have no fractions; of none of them anything is read back."""
        told = {"guarantee": cost_decimals(self.guarantee.cost), "paid": cost_decimals(self.paid.cost)}
        return {**told, "values": values}

    def _head(self) -> dict[str, Any]:
        """What stands before the lists, in every format."""
        parameters = dict(self.parameters)
        return {"mechanism": self.mechanism, "parameters": parameters, "k": self.k, "ordered": self.ordered}

    def _tail(self) -> dict[str, Any]:
        """What stands after the lists, in every format."""
        return {
            "paid": [encode_event(event) for event in self.paid.events],
            "guarantee": self.guarantee.to_dict(),
            "theorem": self.theorem,
            **({} if self.user is None else {"user": user_data(self.user)}),
            **({} if self.columns is None else {"columns": list(self.columns)}),
            **({} if self.value_name is None else {"value_name": self.value_name}),
            **({} if self.beside is None else {"beside": self.beside.to_dict()}),
            **({} if self.asked is None else {"asked": self.asked.to_dict()}),
            # What a ledger is given to settle has none yet.
            **({} if self.paid.entry is None else {"entry": self.paid.entry}),
        }

    def to_json(self) -> str:
        """A JSON text from which ``from_json`` makes an equal release."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_arrow(self, *, item: str | Sequence[str] | None = None) -> Any:
        """A pyarrow Table: rank, items, and counts with their intervals or gaps; the receipt is in its metadata.

        ``item`` names the column of the items, or one column for each part of them.
        """
        from podium.present import tables  # noqa: PLC0415 - presenting is above this room

        return tables.arrow_table(self, item=item)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The columns of ``to_arrow`` as a stream: pyarrow, polars, DuckDB and others accept a release as it is."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self, *, item: str | Sequence[str] | None = None) -> Any:
        """A pandas DataFrame with the columns of ``to_arrow``."""
        from podium.present import tables  # noqa: PLC0415 - presenting is above this room

        return tables.pandas_frame(self, item=item)

    def to_polars(self, *, item: str | Sequence[str] | None = None) -> Any:
        """A polars DataFrame with the columns of ``to_arrow``."""
        from podium.present import tables  # noqa: PLC0415 - presenting is above this room

        return tables.polars_frame(self, item=item)

    def to_csv(
        self,
        path: Path | str | None = None,
        *,
        item: str | Sequence[str] | None = None,
        spreadsheet_safe: bool = True,
    ) -> str | None:
        """Write the columns of ``to_arrow`` to a CSV file in UTF-8; without a path, return the text.

        Text that a spreadsheet would compute (``=``, ``+``, ``-`` or ``@`` first) begins with an apostrophe, and
        invisible signs are spelled out; ``spreadsheet_safe=False`` writes items as they are, for other programs.
        """
        from podium.present import tables  # noqa: PLC0415 - presenting is above this room

        if path is None:
            return tables.csv_text(self, item=item, spreadsheet_safe=spreadsheet_safe)
        tables.write_csv(self, path, item=item, spreadsheet_safe=spreadsheet_safe)
        return None

    def to_parquet(self, path: Path | str, *, item: str | Sequence[str] | None = None) -> None:
        """Write the columns of ``to_arrow``, receipt included, to a Parquet file."""
        from podium.present import tables  # noqa: PLC0415 - presenting is above this room

        tables.write_parquet(self, path, item=item)

    def card(self) -> Card:
        """What to publish beside the release: ``to_json()`` for programs, ``to_markdown()`` for people."""
        from podium.present.card.release_card import Card  # noqa: PLC0415 - presenting is above this room

        return Card(self)

    def plot(self, path: Path | str | None = None, *, dark: bool = False, title: str | None = None) -> Any:
        """A picture (a matplotlib figure): bars with intervals where counts were paid for, otherwise an ordered list.

        With a path it is written there, as PNG, SVG or PDF.
        """
        from podium.present.plots import plot_release  # noqa: PLC0415 - presenting is above this room

        return plot_release(self, path, dark=dark, title=title)

    def __str__(self) -> str:
        from podium.present.text.release_text import answer_text  # noqa: PLC0415 - presenting is above this room

        return answer_text(self)

    def __repr__(self) -> str:
        items = [*map(repr, self.items[:_MAX_SHOWN]), *["..."] * (len(self.items) > _MAX_SHOWN)]
        listed = f"[{', '.join(items)}]" if self.ordered else f"{{{', '.join(items)}}}"
        return f"Release(mechanism={self.mechanism!r}, k={self.k}, items={listed}, guarantee={self.guarantee!r})"

    def _repr_html_(self) -> str:
        from podium.present.html import release_html  # noqa: PLC0415 - presenting is above this room

        return release_html(self)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """The release that ``to_json`` wrote; ``InvalidArgument`` for anything else, however close.

        Whoever wrote the text may be hostile: it is read, and refused, in a time that its length bounds.
        """
        if len(text) > LONGEST_TEXT:
            raise InvalidArgument("text", f"{len(text):,} characters", allowed=f"at most {LONGEST_TEXT:,} characters")
        return cls._from_text(text)

    @classmethod
    def _from_text(cls, text: str) -> Release:
        """The same for a text of any length."""
        try:
            raw = json.loads(text)
            if raw["format"] == _FORMAT:
                return Release._from_dict(raw)
            if raw["format"] == _GROUPED_FORMAT:
                from podium.release.grouped_release import GroupedRelease  # noqa: PLC0415 - it is made of this one

                return GroupedRelease._from_dict(raw)
            raise InvalidArgument(
                "format", raw["format"], allowed=f"{_FORMAT} or {_GROUPED_FORMAT}", hint="Use a newer podium."
            )
        except (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            if isinstance(error, InvalidArgument):
                raise
            raise InvalidArgument(
                "text", "not a release", allowed="what Release.to_json or --format json wrote"
            ) from None

    @classmethod
    def _from_dict(cls, raw: dict[str, Any]) -> Release:
        """The release of a document of format 1; its errors are those of a parser."""
        outcome = [decode_item(item) for item in of_type(raw["outcome"], list)]
        return cls(
            **cls._common_parts(raw),
            outcome=tuple(outcome) if of_type(raw["ordered"], bool) else frozenset(outcome),
            values=decode_values(raw["values"], raw["value_kind"], sum(item is not BOTTOM for item in outcome)),
            value_kind=decode_value_kind(raw["value_kind"], raw["values"]),
        )

    @staticmethod
    def _common_parts(raw: dict[str, Any]) -> dict[str, Any]:
        """The fields that are the same in every format."""
        parameters = of_type(raw["parameters"], dict).items()
        return {
            "mechanism": of_type(raw["mechanism"], str),
            "parameters": {of_type(name, str): of_type(value, str) for name, value in parameters},
            "k": decode_k(raw["k"]),
            "paid": _decode_receipt(raw),
            "guarantee": Guarantee.from_dict(raw["guarantee"]),
            "theorem": of_type(raw["theorem"], str),
            "user": optional_user(raw),
            "columns": decode_columns(raw.get("columns")),
            "value_name": optional_text(raw, "value_name"),
            "beside": Beside.from_dict(raw.get("beside")),
            "asked": Asked.from_dict(raw.get("asked")),
        }


def _decode_receipt(raw: dict[str, Any]) -> Receipt:
    return Receipt(decode_events(of_type(raw["paid"], list)), entry=optional_text(raw, "entry"))


def read_stored(text: str | None) -> Release:
    """The release of an entry of a ledger, which wrote it: a list for each of a million groups is longer than others.

    Everything else is checked as in ``Release.from_json``.
    """
    return Release._from_text(text or "")
