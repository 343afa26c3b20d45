"""Releases: what came out, what was paid for it, and which guarantee holds.

A release is the only thing that leaves a private computation. It is plain data, survives a round trip
through JSON, and carries its own receipt.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeAlias

from podium.errors import InvalidArgument
from podium.exact import exact_fraction, exact_integer
from podium.histogram import Item, item_order
from podium.privacy.costs import Cost, actual_cost
from podium.privacy.encoding import decode_events, encode_event
from podium.privacy.events import Event
from podium.privacy.guarantee import Guarantee

__all__ = ["BOTTOM", "Bottom", "ItemSet", "Outcome", "Receipt", "Release", "ValueKind"]

_FORMAT = 1

# What a document may ask of its reader. Real releases stay far below.
_LONGEST_TEXT = 1 << 26
_DEEPEST_ITEM = 16
_LARGEST_K = 10**1000
_LARGEST_VALUE = 1 << 1000
_LARGEST_EXPONENT = 200_000


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


class ItemSet(frozenset[Item]):
    """A frozenset that carries nothing but its value: every way to list it is in the order of the items themselves.

    A plain frozenset lists items with colliding hashes in the order in which they were put in, which is that of the
    true counts where a mechanism went down the ranks.
    """

    __slots__ = ("_listed",)
    _listed: tuple[Item, ...]

    def __new__(cls, items: Iterable[Item] = ()) -> Self:
        """The items, each once; of equal ones (1 and True) the first in their order, not the first that came."""
        listed = tuple(dict.fromkeys(sorted(items, key=lambda item: (item_order(item), repr(item)))))
        made = super().__new__(cls, listed)
        made._listed = listed
        return made

    def __iter__(self) -> Iterator[Item]:
        return iter(self._listed)

    def __repr__(self) -> str:
        return f"frozenset({{{', '.join(map(repr, self._listed))}}})" if self._listed else "frozenset()"

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Item, ...]]]:
        return (type(self), (self._listed,))


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
class Release:
    """The outcome of a private selection.

    ``outcome`` is a tuple in released order, with BOTTOM at its end where the mechanism stopped early; or a frozenset,
    always listed in the order of the items themselves. ``values`` are gaps or counts, as ``value_kind`` says, in the
    order of the outcome.
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

    def __post_init__(self) -> None:
        # The one place that every release comes through, also when it is changed, named or read from JSON.
        if isinstance(self.outcome, Set) and type(self.outcome) is not ItemSet:
            object.__setattr__(self, "outcome", ItemSet(self.outcome))

    @property
    def items(self) -> tuple[Item, ...]:
        """The items that came out, without BOTTOM; a set in the order of the items themselves."""
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
                "outcome": [_encode(item) for item in self.outcome],
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

    def plot(self, path: Path | str | None = None, *, dark: bool = False, title: str | None = None) -> Any:
        """A picture (a matplotlib figure): bars with intervals where counts were paid for, otherwise an ordered list.

        With a path it is written there, as PNG, SVG or PDF.
        """
        from podium.present.plots import plot_release  # noqa: PLC0415 - presenting is above this room

        return plot_release(self, path, dark=dark, title=title)

    def _repr_html_(self) -> str:
        from podium.present.html import release_html  # noqa: PLC0415 - presenting is above this room

        return release_html(self)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """The release that ``to_json`` wrote; ``InvalidArgument`` for anything else, however close.

        Whoever wrote the text may be hostile: it is read, and refused, in a time that its length bounds.
        """
        try:
            if len(text) > _LONGEST_TEXT:
                raise InvalidArgument(
                    "text", f"{len(text):,} characters", allowed=f"at most {_LONGEST_TEXT:,} characters"
                )
            raw = json.loads(text)
            if raw["format"] != _FORMAT:
                raise InvalidArgument("format", raw["format"], allowed=f"{_FORMAT}", hint="Use a newer podium.")
            outcome = [_decode(item) for item in _of(raw["outcome"], list)]
            return cls(
                mechanism=_of(raw["mechanism"], str),
                parameters={_of(name, str): _of(value, str) for name, value in _of(raw["parameters"], dict).items()},
                k=_decode_k(raw["k"]),
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
    return Receipt(decode_events(_of(raw["paid"], list)), entry=_optional(raw, "entry"))


def _optional(raw: dict[str, Any], name: str) -> str | None:
    return None if raw.get(name) is None else _of(raw[name], str)


def _decode_k(raw: Any) -> int:
    k = exact_integer(raw, "k", minimum=0)
    if k > _LARGEST_K:
        raise ValueError
    return k


def _decode_values(raw: Any, kind: Any, items: int) -> tuple[Fraction, ...] | None:
    """A count for each item, or at most as many gaps."""
    if raw is None:
        return None
    values = tuple(exact_fraction(_of(value, str), "values") for value in _of(raw, list))
    if len(values) > items or (kind == "counts" and len(values) != items):
        raise ValueError
    if any(abs(value) > _LARGEST_VALUE for value in values):
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


def _decode(raw: Any, depth: int = 0) -> Item:
    if depth > _DEEPEST_ITEM:
        raise ValueError
    if raw is None or isinstance(raw, (str, bool, int)):
        return raw
    ((kind, value),) = _of(raw, dict).items()
    if kind == "bottom":
        return BOTTOM
    if kind == "tuple":
        return tuple(_decode(part, depth + 1) for part in _of(value, list))
    return _KINDS[kind][2](_of(value, str))  # type: ignore[no-any-return]


def _decode_decimal(text: str) -> Decimal:
    number = Decimal(text)
    if number.is_snan() or (number.is_finite() and abs(number.adjusted()) > _LARGEST_EXPONENT):
        raise ValueError
    return number


# A datetime is also a date, so it comes first.
_KINDS: dict[str, tuple[type, Any, Any]] = {
    "datetime": (dt.datetime, dt.datetime.isoformat, dt.datetime.fromisoformat),
    "date": (dt.date, dt.date.isoformat, dt.date.fromisoformat),
    "time": (dt.time, dt.time.isoformat, dt.time.fromisoformat),
    "decimal": (Decimal, str, _decode_decimal),
    "float": (float, float.__repr__, float),
    "bytes": (bytes, lambda item: base64.b64encode(item).decode("ascii"), partial(base64.b64decode, validate=True)),
}
