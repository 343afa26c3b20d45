"""Whatever a caller can see of a release or an error, the auditor sees: the exact total is hidden in every place."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.collisions import COLLIDING

from podium import Histogram
from podium.audit import Pair, Transcripts, distribution_audit, statistical_audit
from podium.audit.statistical.draws import Recorder
from podium.audit.statistical.observation import Entries, Raised, look
from podium.errors import SamplerFailed
from podium.mechanisms import LimitedDomain
from podium.privacy import Guarantee
from podium.privacy.events import PureMechanism
from podium.randomness.replay import ReplayableBits
from podium.release import Receipt, Release

PAIRS = [Pair("one more user", {"a": 8, "b": 7}, {"a": 9, "b": 7})]
SAMPLES = 600
ONE, OTHER, _ = COLLIDING["text"]


HONEST = LimitedDomain(1, 1, "0.5", "0.05")
RELEASES = [HONEST.release(Histogram({"a": high, "b": 7}), bits=ReplayableBits(5)) for high in (7, 99)]


class Hiding:
    """A mechanism that shows one of two releases by the toss of a coin, in which somebody has put the exact total."""

    guarantee = HONEST.guarantee

    def __init__(self, put: Callable[[Release, int], Any]) -> None:
        self._put = put
        self._coin = np.random.default_rng(5)

    def release(self, histogram: Histogram) -> Any:
        release = RELEASES[int(self._coin.integers(2))]
        return self._put(release, int(histogram.top(2).counts.sum()))


class Tampered(Release):
    """Looks like a release, and tells more."""

    __slots__ = ("total",)
    total: int

    def __repr__(self) -> str:
        return f"{super().__repr__()} of {self.total}"


class Written(Tampered):
    __slots__ = ()
    __repr__ = Release.__repr__

    def to_json(self) -> str:
        return f"{super().to_json()}{' ' * self.total}"


def tampered(kind: type[Tampered], release: Release, total: int) -> Release:
    made = kind(**{name: getattr(release, name) for name in Release.__slots__})
    object.__setattr__(made, "total", total)
    return made


def with_entry(release: Release, entry: Any) -> Release:
    return replace(release, paid=replace(release.paid, entry=entry))


def unsorted(release: Release, total: int) -> Release:
    """A set past the constructor, in an order that the total decides."""
    made = replace(release, outcome=frozenset())
    object.__setattr__(made, "outcome", frozenset((ONE, OTHER) if total % 2 else (OTHER, ONE)))
    return made


def odd_value(release: Release, total: int) -> Release:
    """A value past the constructor, of a type that the total decides."""
    made = replace(release, values=(Fraction(1),), value_kind="gaps")
    object.__setattr__(made, "values", ((Fraction(1), 1)[total % 2],))
    return made


def failing(error: type[Exception], text: str, cause: Exception | None = None, note: str | None = None) -> Release:
    made = error(text)
    if note is not None:
        made.add_note(note)
    raise made from cause


def untyped(value: Any) -> Any:
    """What no type checker would let through."""
    return value


HIDDEN: dict[str, Callable[[Release, int], Any]] = {
    "parameters": lambda r, n: replace(r, parameters={**r.parameters, "total": str(n)}),
    "type of a parameter": lambda r, n: replace(r, parameters=untyped({**r.parameters, "odd": (1, True)[n % 2]})),
    "order of parameters": lambda r, n: replace(r, parameters=dict([*r.parameters.items()][:: 1 - 2 * (n % 2)])),
    "theorem": lambda r, n: replace(r, theorem=r.theorem + " " * n),
    "mechanism": lambda r, n: replace(r, mechanism=f"{r.mechanism}{n}"),
    "k": lambda r, n: replace(r, k=n),
    "type of k": lambda r, n: replace(r, k=(1, True)[n % 2]),
    "entry": lambda r, n: with_entry(r, f"{n:064x}"),
    "events": lambda r, n: replace(r, paid=Receipt((*r.paid.events, PureMechanism(n)))),
    "guarantee": lambda r, n: replace(r, guarantee=Guarantee.pure(n)),
    "kind of values": lambda r, n: replace(r, values=(), value_kind=("gaps", "counts")[n % 2]),
    "no values": lambda r, n: replace(r, values=(None, ())[n % 2]),
    "values": lambda r, n: replace(r, values=(Fraction(n),), value_kind="gaps"),
    "type of a value": odd_value,
    "last digits of a value": lambda r, n: replace(r, values=(1 + Fraction(n, 2**200),), value_kind="gaps"),
    "an item, 1 or True": lambda r, n: replace(r, outcome=((1, True)[n % 2],)),
    "an item, 1 or 1.0": lambda r, n: replace(r, outcome=((1, 1.0)[n % 2],)),
    "an item, 1 or numpy's": lambda r, n: replace(r, outcome=((1, np.int64(1))[n % 2],)),
    "an item, 0.0 or -0.0": lambda r, n: replace(r, outcome=((0.0, -0.0)[n % 2],)),
    "digits of an item": lambda r, n: replace(r, outcome=(Decimal(("1.0", "1.00")[n % 2]),)),
    "inside of an item": lambda r, n: replace(r, outcome=(("a", (1, True)[n % 2]),)),
    "an item of a set": lambda r, n: replace(r, outcome=frozenset({(1, True)[n % 2], "a"})),
    "order of a set": unsorted,
    "a tuple or a set": lambda r, n: replace(r, outcome=((1,), frozenset({1}))[n % 2]),
    "repr": lambda r, n: tampered(Tampered, r, n),
    "JSON": lambda r, n: tampered(Written, r, n),
    "a plain set": lambda r, n: frozenset((ONE, OTHER) if n % 2 else (OTHER, ONE)),
    "type of an error": lambda r, n: failing((ValueError, KeyError)[n % 2], "no"),
    "text of an error": lambda r, n: failing(ValueError, f"{n} users"),
    "cause of an error": lambda r, n: failing(ValueError, "no", KeyError(n)),
    "note of an error": lambda r, n: failing(ValueError, "no", note=f"{n} users"),
    "whether there is an error": lambda r, n: failing(ValueError, "no") if n % 2 else r,
}


def audited(put: Callable[[Release, int], Any], **options: Any) -> Any:
    return statistical_audit(Hiding(put), pairs=PAIRS, samples=SAMPLES, **options)


@pytest.mark.parametrize("place", HIDDEN)
def test_a_total_hidden_anywhere_is_found(place: str) -> None:
    report = audited(HIDDEN[place])
    assert report.violated, report.to_markdown()


def test_an_honest_release_is_not_accused() -> None:
    assert len({release.outcome for release in RELEASES}) == 2
    report = audited(lambda release, _: release)
    assert not report.violated
    assert report.raised == 0
    assert "errors" not in report.verdict


def test_entries_that_never_repeat_neither_accuse_nor_blind() -> None:
    """Each release of a ledger has a hash of its own."""
    fresh = (f"{number * 0x9E3779B97F4A7C15:064x}" for number in itertools.count())
    assert not audited(lambda release, _: with_entry(release, next(fresh))).violated
    assert audited(lambda release, n: with_entry(HIDDEN["theorem"](release, n), next(fresh))).violated


def test_a_report_names_the_field_that_tells() -> None:
    event = audited(HIDDEN["k"]).refutation.event
    assert event.startswith("outcomes: ")
    assert "k=15" in event or "k=16" in event
    assert "theorem" not in event
    assert "raised ValueError: 15 users" in audited(HIDDEN["text of an error"]).refutation.event


def test_errors_are_counted_and_said() -> None:
    numbers = itertools.count()
    report = audited(lambda release, _: failing(ValueError, "now and then") if next(numbers) % 10 == 0 else release)
    assert not report.violated
    assert report.raised == report.draws // 10
    assert f"in {report.draws:,} draws, of which {report.raised:,} were errors. " in report.verdict
    assert report.to_dict()["raised"] == report.raised


def test_nothing_but_one_error_is_a_sampler_that_does_not_work() -> None:
    with pytest.raises(
        SamplerFailed, match=r"raised ValueError: no on the input left of 'one more user' after 0 draws"
    ):
        audited(lambda release, _: failing(ValueError, "no"))
    with pytest.raises(SamplerFailed, match="raised KeyError on the input left"):
        audited(lambda release, _: release, outcome=lambda release: release.parameters["nothing"])


def test_an_error_with_what_it_came_from() -> None:
    def fail() -> None:
        try:
            failing(ValueError, "inner", note="a note")
        except ValueError:
            RELEASES[0].parameters["outer"]

    with pytest.raises(KeyError) as caught:
        fail()
    assert repr(Raised.of(caught.value)) == "raised KeyError: 'outer'; from ValueError: inner (a note)"
    caught.value.__suppress_context__ = True
    assert Raised.of(caught.value) == Raised("KeyError", "'outer'")


def test_sets_from_another_process_are_compared_without_their_order() -> None:
    sets = [frozenset((ONE, OTHER)), frozenset((OTHER, ONE))]
    here, there = ({look(one, Entries(), orders=orders).key for one in sets} for orders in (True, False))
    assert (len(here), len(there)) == (2, 1)


def test_a_distribution_does_not_mind_the_order_of_a_set() -> None:
    turns = itertools.cycle([(ONE, OTHER), (OTHER, ONE)])
    report = distribution_audit(lambda data: frozenset(next(turns)), {frozenset((ONE, OTHER)): 1.0}, None, draws=100)
    assert not report.violated


def test_transcripts_have_whole_releases_and_errors() -> None:
    release = RELEASES[1]

    def ask(session: None, seen: tuple[Any, ...]) -> Release:
        assert seen == (release.outcome,) * len(seen)
        return failing(ValueError, "no more") if seen else release

    assert Transcripts(lambda data: None, ask)("data") == (release, Raised("ValueError", "no more"))
    recorder = Recorder()
    hidden = replace(release, theorem="15")
    draws = recorder.record([(release, "x"), (hidden, "x"), (release, "x")])
    assert draws.codes.tolist() == [0, 1, 0]
    assert recorder.describe(1) == f"({release.outcome!r} theorem='15', 'x')"
