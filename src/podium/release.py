"""Releases: what came out, what was paid for it, and which guarantee holds.

A release is the only thing that leaves a private computation. It is plain data, survives a round trip
through JSON, and carries its own receipt.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from podium.errors import InvalidArgument
from podium.exact import exact_fraction, exact_integer
from podium.histogram import Item, item_order
from podium.privacy.costs import Cost, spent
from podium.privacy.encoding import decode_event, encode_event
from podium.privacy.events import Event
from podium.privacy.guarantee import Guarantee

__all__ = ["BOTTOM", "Bottom", "Outcome", "Receipt", "Release", "ValueKind"]

_FORMAT = 1


class Bottom:
    """The symbol for "nothing more can be told apart": there is one, BOTTOM."""

    _only: Bottom | None = None

    def __new__(cls) -> Bottom:
        """The only one."""
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "BOTTOM"

    def __reduce__(self) -> tuple[type[Bottom], tuple[()]]:
        return (Bottom, ())


BOTTOM: Final = Bottom()

Outcome: TypeAlias = tuple[Item, ...] | frozenset[Item]
ValueKind: TypeAlias = Literal["gaps", "counts"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one release cost: the events that were run, and their sum.

    ``entry`` is the hash under which a ledger settled it, None where there is no ledger. A release that had been paid
    for before has no events: it was free.
    """

    events: tuple[Event, ...]
    entry: str | None = None

    @property
    def cost(self) -> Cost:
        """The sum of the events, given what came out."""
        return spent(self.events)

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
class Release:
    """The outcome of a private selection.

    ``outcome`` is a tuple in released order (a set mechanism: a frozenset), with BOTTOM at its end where the mechanism
    stopped early. ``values`` are gaps or counts, as ``value_kind`` says, in the order of the outcome.
    ``paid`` is what this outcome cost, ``guarantee`` what the mechanism promises whatever comes out. ``user`` is the
    column whose values it protects; None for a mechanism that was run without a table.
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
    user: str | None = None

    @property
    def promise(self) -> str:
        """The guarantee in a sentence that names the column of the users, where it is known."""
        return self.guarantee.sentence(user=self.user)

    @property
    def items(self) -> tuple[Item, ...]:
        """The items that came out, without BOTTOM; a set in the order of the items themselves."""
        if isinstance(self.outcome, frozenset):
            return tuple(sorted((item for item in self.outcome if item is not BOTTOM), key=item_order))
        return tuple(item for item in self.outcome if item is not BOTTOM)

    @property
    def ordered(self) -> bool:
        """Whether the order of the items means anything."""
        return not isinstance(self.outcome, frozenset)

    @property
    def complete(self) -> bool:
        """Whether all k items came back."""
        return len(self.items) >= self.k

    def to_json(self) -> str:
        """A JSON text from which ``from_json`` makes an equal release."""
        return json.dumps(
            {
                "format": _FORMAT,
                "mechanism": self.mechanism,
                "parameters": dict(self.parameters),
                "k": self.k,
                "ordered": self.ordered,
                "outcome": [_encode(item) for item in self._listed()],
                "complete": self.complete,
                "values": None if self.values is None else [str(value) for value in self.values],
                "value_kind": self.value_kind,
                "paid": [encode_event(event) for event in self.paid.events],
                "guarantee": self.guarantee.to_json(),
                "theorem": self.theorem,
                **({} if self.user is None else {"user": self.user}),
                # What a ledger is given to settle has none yet.
                **({} if self.paid.entry is None else {"entry": self.paid.entry}),
            },
            ensure_ascii=False,
        )

    def to_arrow(self, *, item: str | Sequence[str] | None = None) -> Any:
        """A pyarrow Table: rank, items, and counts with their intervals or gaps; the receipt is in its metadata.

        ``item`` names the column of the items, or one column for each part of them.
        """
        from podium.present import tables  # noqa: PLC0415 - presenting is above this room

        return tables.arrow_table(self, item=item)

    def to_pandas(self, *, item: str | Sequence[str] | None = None) -> Any:
        """A pandas DataFrame with the columns of ``to_arrow``."""
        from podium.present import tables  # noqa: PLC0415 - presenting is above this room

        return tables.pandas_frame(self, item=item)

    def to_polars(self, *, item: str | Sequence[str] | None = None) -> Any:
        """A polars DataFrame with the columns of ``to_arrow``."""
        from podium.present import tables  # noqa: PLC0415 - presenting is above this room

        return tables.polars_frame(self, item=item)

    def to_csv(self, path: Path | str | None = None, *, item: str | Sequence[str] | None = None) -> str | None:
        """Write the columns of ``to_arrow`` to a CSV file in UTF-8; without a path, return the text."""
        from podium.present import tables  # noqa: PLC0415 - presenting is above this room

        if path is None:
            return tables.csv_text(self, item=item)
        tables.write_csv(self, path, item=item)
        return None

    def to_parquet(self, path: Path | str, *, item: str | Sequence[str] | None = None) -> None:
        """Write the columns of ``to_arrow``, receipt included, to a Parquet file."""
        from podium.present import tables  # noqa: PLC0415 - presenting is above this room

        tables.write_parquet(self, path, item=item)

    def plot(self, path: Path | str | None = None, *, dark: bool = False, title: str | None = None) -> Any:
        """A picture (a matplotlib figure): bars with intervals where counts were paid for, otherwise an ordered list.

        With a path it is written there, as PNG, SVG or PDF.
        """
        from podium.present.plots import plot_release  # noqa: PLC0415 - presenting is above this room

        return plot_release(self, path, dark=dark, title=title)

    def _repr_html_(self) -> str:
        from podium.present.html import release_html  # noqa: PLC0415 - presenting is above this room

        return release_html(self)

    def _listed(self) -> Iterable[Item]:
        if isinstance(self.outcome, frozenset):
            return sorted(self.outcome, key=item_order)
        return self.outcome

    @classmethod
    def from_json(cls, text: str) -> Release:
        """The release that ``to_json`` wrote; ``InvalidArgument`` for anything else, however close."""
        try:
            raw = json.loads(text)
            if raw["format"] != _FORMAT:
                raise InvalidArgument("format", raw["format"], allowed=f"{_FORMAT}", hint="Use a newer podium.")
            outcome = [_decode(item) for item in _of(raw["outcome"], list)]
            return cls(
                mechanism=_of(raw["mechanism"], str),
                parameters={_of(name, str): _of(value, str) for name, value in _of(raw["parameters"], dict).items()},
                k=exact_integer(raw["k"], "k", least=0),
                outcome=tuple(outcome) if _of(raw["ordered"], bool) else frozenset(outcome),
                values=_decode_values(raw["values"], raw["value_kind"], sum(item is not BOTTOM for item in outcome)),
                value_kind=_value_kind(raw["value_kind"], raw["values"]),
                paid=_decode_receipt(raw),
                guarantee=Guarantee.from_json(raw["guarantee"]),
                theorem=_of(raw["theorem"], str),
                user=_optional(raw, "user"),
            )
        except (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            if isinstance(error, InvalidArgument):
                raise
            raise InvalidArgument(
                "text", "not a release", allowed="what Release.to_json or --format json wrote"
            ) from None


def _of(value: Any, kind: type) -> Any:
    """A part of a document that must have this type."""
    if type(value) is not kind:
        raise TypeError
    return value


def _decode_receipt(raw: dict[str, Any]) -> Receipt:
    return Receipt(tuple(decode_event(event) for event in _of(raw["paid"], list)), entry=_optional(raw, "entry"))


def _optional(raw: dict[str, Any], name: str) -> str | None:
    return None if raw.get(name) is None else _of(raw[name], str)


def _decode_values(raw: Any, kind: Any, items: int) -> tuple[Fraction, ...] | None:
    """A count for each item, or at most as many gaps."""
    if raw is None:
        return None
    values = tuple(exact_fraction(_of(value, str), "values") for value in _of(raw, list))
    if len(values) > items or (kind == "counts" and len(values) != items):
        raise ValueError
    return values


def _value_kind(kind: Any, values: Any) -> ValueKind | None:
    if kind not in (None, "gaps", "counts") or (kind is None) != (values is None):
        raise ValueError
    return kind  # type: ignore[no-any-return]


def _encode(item: Any) -> Any:
    if item is BOTTOM:
        return {"bottom": True}
    if item is None or isinstance(item, (str, bool, int)):
        return item
    if isinstance(item, tuple):
        return {"tuple": [_encode(part) for part in item]}
    for kind, (cls, write, _) in _KINDS.items():
        if isinstance(item, cls):
            return {kind: write(item)}
    if hasattr(item, "item"):
        return _encode(item.item())
    raise InvalidArgument("item", type(item).__name__, allowed="text, numbers, dates, bytes and tuples of these")


def _decode(raw: Any) -> Item:
    if raw is None or isinstance(raw, (str, bool, int)):
        return raw
    ((kind, value),) = _of(raw, dict).items()
    if kind == "bottom":
        return BOTTOM
    if kind == "tuple":
        return tuple(_decode(part) for part in _of(value, list))
    return _KINDS[kind][2](_of(value, str))  # type: ignore[no-any-return]


# A datetime is also a date, so it comes first.
_KINDS: dict[str, tuple[type, Any, Any]] = {
    "datetime": (dt.datetime, dt.datetime.isoformat, dt.datetime.fromisoformat),
    "date": (dt.date, dt.date.isoformat, dt.date.fromisoformat),
    "time": (dt.time, dt.time.isoformat, dt.time.fromisoformat),
    "decimal": (Decimal, str, Decimal),
    "float": (float, float.__repr__, float),
    "bytes": (bytes, lambda item: base64.b64encode(item).decode("ascii"), partial(base64.b64decode, validate=True)),
}
