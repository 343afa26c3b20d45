"""What noise that was in fact drawn costs, worked out again from its scales and from what one user adds to the rows.

Nothing of ``podium.privacy`` is used here: these are the theorems, written a second time in mpmath and fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import mpmath
from tests.support.metering.meter import Draw, Meter, Read, Steps

from podium.release import Receipt

__all__ = ["Due", "Facts", "check_links", "check_receipt", "due", "rho_of_selection"]

CLOSE = Fraction(1, 10**9)
"""How much more than drawn may be charged where the drawn cost is a real number, relative to it."""

mpmath.mp.dps = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Public facts that a draw does not show: how far one user moves a score, and who can appear for one user.

    ``changing`` is how many items can enter the top rows with one user (limited domains). ``weights`` are those of a
    histogram that was given, not read. ``public`` are numbers that take part in a race without being rows. With
    ``derived`` the noise is on functions of the rows, so that its inputs are not compared with what was read.
    """

    span: Fraction = Fraction(1)
    reach: Fraction = Fraction(1)
    changing: int | None = None
    weights: Steps | None = None
    public: frozenset[Fraction] = frozenset()
    derived: bool = False
    outcome: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """An event that must be in the receipt. Fractions are exact; real numbers may be rounded up, hardly more."""

    kind: str
    epsilon: Any = Fraction(0)
    rho: Any = Fraction(0)
    delta: Any = Fraction(0)


def rho_of_selection(epsilon: Fraction) -> Fraction:
    """x - 1 - ln x with x = epsilon/(e^epsilon - 1), on the grid of 2^-64, rounded up."""
    exact = _real(epsilon)
    x = exact / mpmath.expm1(exact)
    return Fraction(int(mpmath.ceil((x - 1 - mpmath.log(x)) * 2**64)), 2**64)


def _real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def _selection(kind: str, epsilon: Fraction) -> Due:
    return Due(kind=kind, epsilon=epsilon, rho=rho_of_selection(epsilon))


def _pure(epsilon: Fraction, reserved: Fraction | None = None) -> Due:
    return Due(kind="PureMechanism", epsilon=epsilon, rho=(reserved or epsilon) ** 2 / 2)


def _gaussian(sigma_squared: Fraction, moved_squared: Fraction) -> Due:
    return Due(kind="GaussianNoise", epsilon=None, rho=moved_squared / (2 * sigma_squared))


@dataclass(slots=True)
class _Seen:
    """What was read until a draw: its weights and its numbers."""

    facts: Facts
    reads: list[Read] = field(default_factory=list)

    @property
    def weights(self) -> Steps:
        weighted = [read.weights for read in self.reads if read.weights is not None]
        return (weighted[-1] if weighted else self.facts.weights) or ()

    @property
    def last(self) -> str:
        return self.reads[-1].what if self.reads else ""


def _raced(draw: Draw, seen: _Seen) -> Iterable[Due]:
    given, facts = draw.given, seen.facts
    epsilon = facts.span / Fraction(given["scale"])
    if given["noise"] == "gaussian":
        # All items of a known domain, those that nobody has among them: a user adds a weight to each of t.
        return [_gaussian(Fraction(given["scale"]) ** 2, Fraction(max(e * w**2 for e, w in seen.weights)))]
    if given["noise"] == "laplace" and given["value_bits"] is not None and not given["handicaps"]:
        # Noisy counts of a whole domain: a user adds a weight to each of t.
        return [_laplace(max(e * w for e, w in seen.weights) / Fraction(given["scale"]))]
    if given["scales"]:
        return _against_threshold(draw, facts, epsilon)
    if given["handicaps"]:
        return _above_bottom(draw, facts, epsilon)
    if given["noise"] == "gumbel" and given["gap_bits"] is None and given["value_bits"] is None:
        return [_selection("Selection", epsilon)] * len(draw.result.groups)
    return [_pure(given["k"] * epsilon)]


def _above_bottom(draw: Draw, facts: Facts, epsilon: Fraction) -> Iterable[Due]:
    ((bottom, margin),) = draw.given["handicaps"].items()
    changing = facts.changing or 0
    failure = changing * mpmath.exp(-_real((margin - 1) * epsilon))
    if draw.given["noise"] == "laplace":
        once = failure / 4 * (2 + mpmath.log(changing / failure))
        delta = (mpmath.exp(_real(changing * epsilon)) + 1) * once
        whole = changing * epsilon
        return [Due(kind="ApproximateMechanism", epsilon=whole, rho=whole**2 / 2, delta=delta)]
    winners = draw.result.groups
    items = winners.index(bottom) if bottom in winners else len(winners)
    call = Due(kind="LimitedDomainCall", delta=failure / (1 + failure))
    stopped = [_selection("BottomEvent", epsilon)] if bottom in winners else []
    return [call, *[_selection("Selection", epsilon)] * items, *stopped]


def _against_threshold(draw: Draw, facts: Facts, epsilon: Fraction) -> Iterable[Due]:
    ((level, scale),) = draw.given["scales"].items()
    winners, k = draw.result.groups, draw.given["k"]
    found = winners.index(level) if level in winners else len(winners)
    if draw.given["gaps_to"] is None:  # the threshold is one of the places, and pays like them
        return [_pure((found + (level in winners)) * epsilon, k * epsilon)]
    threshold = facts.reach / scale
    return [_pure(threshold + found * epsilon, threshold + k * epsilon)]


def _passed(draw: Draw, seen: _Seen) -> Iterable[Due]:
    if draw.given["noise_bound"] is not None:
        return _cut_off(draw, seen)
    assert draw.given["noise"] == "gaussian"
    sigma = Fraction(draw.given["scale"]) / Fraction(draw.given["unit"])
    level = Fraction(draw.given["above"]) / Fraction(draw.given["unit"])
    moved = max(end * weight**2 for end, weight in seen.weights)
    chances = [
        -mpmath.expm1(end * mpmath.log1p(-mpmath.erfc(_real((level - weight) / sigma) / mpmath.sqrt(2)) / 2))
        for end, weight in seen.weights
    ]
    return [_gaussian(sigma**2, Fraction(moved)), Due(kind="HiddenItems", delta=max(chances))]


def _cut_off(draw: Draw, seen: _Seen) -> Iterable[Due]:
    """Noise that is bounded by the level: for every user, the chance that a value lies where it could not without."""
    scale, level, bound = (
        Fraction(draw.given[name]) / Fraction(draw.given["unit"]) for name in ("scale", "above", "noise_bound")
    )
    assert bound <= level, "noise beyond the level lifts items that nobody has over it"
    normal = draw.given["noise"] == "gaussian"
    tail: Callable[[Any], Any] = (lambda x: mpmath.erfc(x / mpmath.sqrt(2)) / 2) if normal else _laplace_tail
    end = tail(_real(bound / scale))
    chances = [
        -mpmath.expm1(count * mpmath.log1p(-(tail(_real((bound - weight) / scale)) - end) / (1 - 2 * end)))
        for count, weight in seen.weights
    ]
    hidden = Due(kind="HiddenItems", delta=max(chances))
    if normal:
        moved = max(count * weight**2 for count, weight in seen.weights)
        return [_gaussian(scale**2, Fraction(moved)), hidden]
    return [_laplace(max(count * weight for count, weight in seen.weights) / scale), hidden]


def _laplace_tail(x: Any) -> Any:
    return mpmath.exp(-x) / 2 if x >= 0 else 1 - mpmath.exp(x) / 2


def _laplace(epsilon: Fraction) -> Due:
    exact = _real(epsilon)
    rho = Fraction(int(mpmath.ceil((exact + mpmath.expm1(-exact)) * 2**64)), 2**64)
    return Due(kind="LaplaceNoise", epsilon=epsilon, rho=min(epsilon**2 / 2, rho))


def _valued(draw: Draw, seen: _Seen) -> Iterable[Due]:
    scale, size = Fraction(draw.given["scale"]), len(draw.given["values"])
    if draw.given["noise"] == "gaussian":
        # A user is in one bucket of sizes, and adds a weight to each of t sums.
        moved = 1 if seen.last == "sizes" else max(end * weight**2 for end, weight in seen.weights)
        return [_gaussian(scale**2, Fraction(moved))]
    if seen.last == "sizes":
        return [_laplace(1 / scale)]
    return [_laplace(seen.facts.reach / scale)] * size


def _centred(draw: Draw, seen: _Seen) -> Iterable[Due]:
    size, first = len(draw.given["values"]), seen.weights[0][1]
    moved = max(weight**2 * _energy(end, size) for end, weight in seen.weights)
    return [_gaussian((Fraction(draw.given["scale"]) * first) ** 2, moved)]


def _correlated(draw: Draw, seen: _Seen) -> Iterable[Due]:
    """A user adds 1 to each of t counts; the covariance is inverted by Sherman and Morrison."""
    own, shared = (Fraction(draw.given[name]) ** 2 for name in ("scale", "shared_scale"))
    size = len(draw.given["values"])
    most = min(size, seen.weights[-1][0]) if seen.weights else min(size, seen.facts.changing or size)
    moved = max(Fraction(t) / own - shared * t * t / (own * (own + size * shared)) for t in range(most + 1))
    return [Due(kind="CorrelatedNoise", epsilon=None, rho=moved / 2)]


def _energy(most: int, of: int) -> Fraction:
    return max(Fraction(t * (of - t), of) for t in range(1, min(most, of) + 1))


def _counted(draw: Draw, seen: _Seen) -> Iterable[Due]:
    if draw.what == "discrete_gaussian":
        return [_gaussian(Fraction(draw.given["variance"]), Fraction(1))] * draw.given["size"]
    epsilon = 1 / Fraction(draw.given["scale"])
    return [Due(kind="LaplaceNoise", epsilon=epsilon, rho=epsilon**2 / 2)] * draw.given["size"]


def _a_set(draw: Draw, seen: _Seen) -> Iterable[Due]:
    sampler = draw.given["self"]
    rate = (sampler._loss.rise_rate + sampler._loss.drop_rate) / sampler._ranking.unit
    epsilon = rate * seen.facts.span
    return [_selection("SetSelection", epsilon) if sampler._noise == "gumbel" else _pure(epsilon)]


def _a_sequence(draw: Draw, seen: _Seen) -> Iterable[Due]:
    sampler = draw.given["self"]
    return [_selection("SetSelection", 2 * sampler._rate / sampler._ladder.unit * seen.facts.span)]


def _a_k_bar(draw: Draw, seen: _Seen) -> Iterable[Due]:
    return [_selection("Selection", draw.given["rate"] * seen.facts.span)]


def _free(draw: Draw, seen: _Seen) -> Iterable[Due]:
    return []


_PRICES: dict[str, Callable[[Draw, _Seen], Iterable[Due]]] = {
    "race": _raced,
    "race_above": _passed,
    "noisy_values": _valued,
    "centred_values": _centred,
    "correlated_values": _correlated,
    "discrete_laplace": _counted,
    "discrete_gaussian": _counted,
    "SubsetSampler.draw": _a_set,
    "SequenceSampler.draw": _a_sequence,
    "choose_k_bar": _a_k_bar,
    "fresh_salt": _free,
}


def due(meter: Meter, facts: Facts = Facts()) -> list[Due]:  # noqa: B008 - frozen
    """What everything that was drawn costs; a draw that has no price is an error."""
    owed: list[Due] = []
    seen = _Seen(facts)
    for entry in meter.log:
        if isinstance(entry, Read):
            seen.reads.append(entry)
            continue
        price = _PRICES.get(entry.what)
        assert price is not None, f"{entry.what} has no price"
        owed += price(entry, seen)
    return owed


def check_receipt(paid: Receipt, owed: Iterable[Due]) -> None:
    """One event for each that is due, neither more nor less; exact where the price is, and never below it."""
    events = sorted(paid.events, key=lambda event: _place(type(event).__name__, event))
    expected = sorted(owed, key=lambda owing: _place(owing.kind, owing))
    assert [type(event).__name__ for event in events] == [owing.kind for owing in expected]
    for event, owing in zip(events, expected, strict=True):
        for name in ("epsilon", "rho", "delta"):
            _check_amount(f"{name} of {owing.kind}", getattr(event, name), getattr(owing, name))
    if all(isinstance(owing.rho, Fraction) for owing in expected):
        assert paid.rho == sum((owing.rho for owing in expected), start=Fraction(0))


def _place(kind: str, amounts: Any) -> tuple[Any, ...]:
    return kind, *(float(getattr(amounts, name) or 0) for name in ("epsilon", "rho", "delta"))


def _check_amount(what: str, charged: Fraction | None, drawn: Any) -> None:
    if drawn is None or isinstance(drawn, Fraction):
        assert charged == drawn, f"{what}: {charged} was charged, {drawn} was drawn"
        return
    assert charged is not None, what
    exact = _real(charged)
    # Thresholds are rounded up on a grid of 2^-64, and mpmath has its own last digits.
    assert drawn * (1 - mpmath.mpf(10) ** -40) <= exact <= drawn * (1 + _real(CLOSE)), f"{what}: {exact} for {drawn}"


_INPUTS = {
    "race": "scores", "race_above": "scores", "noisy_values": "values", "centred_values": "values",
    "correlated_values": "values",
}  # fmt: skip


def check_links(meter: Meter, facts: Facts = Facts()) -> None:  # noqa: B008 - frozen
    """Every number that was read went into a draw, and no draw saw others; names were asked for winners only."""
    waiting: list[Read] = []
    known = set(facts.public)
    winners = 0
    for entry in meter.log:
        if isinstance(entry, Draw):
            if not facts.derived:
                strange = _inputs(entry, waiting) - known
                assert not strange, f"{entry.what} saw {len(strange)} numbers that no call read"
            winners += len(entry.result if isinstance(entry.result, list) else getattr(entry.result, "groups", ()))
            if entry.what not in ("fresh_salt", "choose_k_bar"):
                waiting = []
        elif entry.what == "names":
            assert set(entry.numbers) <= known
            assert len(entry.numbers) <= winners, "more names than winners"
            winners = 0
        else:
            waiting.append(entry)
            known |= set(entry.numbers)
    assert not waiting, f"rows were read without noise: {[read.what for read in waiting]}"


def _inputs(draw: Draw, waiting: list[Read]) -> set[Fraction]:
    if draw.what not in _INPUTS:
        return set()
    # A centred value is in units of the weight of the lightest users.
    weighted = [read.weights for read in waiting if read.weights is not None]
    factor = weighted[-1][0][1] if draw.what == "centred_values" else 1
    # Counts are rounded to the nearest integer: half a step is added before they are rounded down.
    half = Fraction(1, 2) if draw.what == "correlated_values" else 0
    return {Fraction(value) * factor - half for value in _listed(draw.given[_INPUTS[draw.what]])}


def _listed(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)
