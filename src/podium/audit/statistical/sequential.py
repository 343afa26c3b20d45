"""The statistical audit: a black box, pairs of neighbouring inputs, and a lower bound on epsilon that is never luck.

It works in stages. The draws of all earlier stages choose, for each pair and direction, one event; the fresh draws of
this stage bound it. A stage has as many draws for each pair as all before, and a pair that is three standard deviations
behind the most promising one is given no more: both are decided by past draws only. Stage s may spend alpha/(s(s+1))
on its tests, so whenever the audit stops, all its bounds hold together with confidence 1 - alpha.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from podium.audit.exact.claims import curve, headline
from podium.audit.reports import EventTest, StatisticalReport
from podium.audit.statistical.draws import BlackBox, Draws, MechanismSampler, Recorder, Sampler
from podium.audit.statistical.evidence import (
    ChosenEvent,
    choose_events,
    distinct_events,
    float_claims,
    repetition_p_value,
    try_event,
)
from podium.audit.statistical.views import VIEWS, View
from podium.audit.targets.neighbours import Pair, as_pairs, worst_pairs
from podium.errors import InvalidArgument, NotRandom, SamplerFailed
from podium.exact import Number, positive_integer, probability
from podium.privacy.guarantee import Guarantee

__all__ = ["Progress", "statistical_audit"]

DEFAULT_ALPHA = Fraction(1, 10**9)
_FIRST_DRAWS = 250
_EVENTS = 4
_FAR_BEHIND = 3.0
"""Standard deviations: a pair so far behind the best one is given no more draws."""
_MIN_DRAWS = 20
_MAX_DRAWS = 1 << 18
_REPETITION_SHARE = 0.1
_DEFAULT_SAMPLES = 100_000


class Progress(NamedTuple):
    """How far a statistical audit is: ``share`` of its budget, and the best bound so far."""

    stage: int
    draws: int
    seconds: float
    share: float
    epsilon: float


def statistical_audit(
    sampler: Any,
    claim: Guarantee | Number | None = None,
    *,
    pairs: Iterable[Any] | None = None,
    batch: bool = False,
    outcome: Callable[[Any], Any] | None = None,
    samples: int | None = None,
    seconds: float | None = None,
    alpha: Number = DEFAULT_ALPHA,
    delta: Number | None = None,
    workers: int = 1,
    views: tuple[View, ...] = VIEWS,
    name: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> StatisticalReport:
    """A lower bound on the epsilon of a black box, with confidence 1 - alpha; stops at a certain violation.

    ``sampler`` is a function from an input to an outcome, or a mechanism with ``release``; ``claim`` is a guarantee, or
    a number: a pure epsilon. ``pairs`` are neighbouring inputs, by default histograms as dicts (``worst_pairs``).
    ``batch``: the sampler takes an input and a size and returns that many outcomes. ``outcome`` turns what it
    returns into what is compared; without it that is all that a caller sees of a release, and of an error its type and
    text. ``samples`` bounds the draws in all, ``seconds`` the time. ``delta`` is
    where epsilon is reported (the claim's own unless stated). ``workers``: that many processes.
    """
    guarantee = _claimed_guarantee(sampler, claim)
    epsilon, own = headline(guarantee)
    at = own if delta is None else probability(delta, "delta", zero=True)
    if at != own:
        epsilon = guarantee.epsilon(delta=at)
    level = float(probability(alpha, "alpha"))
    budget = _Budget.of(samples, seconds)
    black_box: Sampler = MechanismSampler(sampler) if hasattr(sampler, "release") else sampler
    box = BlackBox(black_box, batch=batch, outcome=outcome, workers=workers, errors=not batch)
    run = _Run(box, guarantee, level, views, float(at), budget, progress)
    contests = [_Contest(pair) for pair in as_pairs(worst_pairs() if pairs is None else pairs)]
    try:
        stopped = run.through(contests)
    finally:
        box.close()
    return StatisticalReport(
        subject=name or _name_of(sampler),
        claim=guarantee,
        delta=at,
        claimed_epsilon=epsilon,
        alpha=level,
        tests=tuple(run.tests),
        draws=budget.drawn,
        raised=sum(contest.raised for contest in contests),
        seconds=budget.elapsed,
        stopped=stopped,
    )


def _claimed_guarantee(sampler: Any, claim: Guarantee | Number | None) -> Guarantee:
    stated = getattr(sampler, "guarantee", None) if claim is None else claim
    if stated is None:
        raise InvalidArgument(
            "claim", None, allowed="a Guarantee, or an epsilon", hint="A function states none itself."
        )
    return stated if isinstance(stated, Guarantee) else Guarantee.pure(stated)


def _name_of(sampler: Any) -> str:
    return str(getattr(sampler, "__name__", type(sampler).__name__))


@dataclass(slots=True)
class _Budget:
    samples: int | None
    seconds: float | None
    started: float = field(default_factory=time.monotonic)
    drawn: int = 0

    @classmethod
    def of(cls, samples: int | None, seconds: float | None) -> _Budget:
        if seconds is not None and not 0 < seconds < math.inf:
            raise InvalidArgument("seconds", seconds, allowed="a number above 0")
        if samples is None and seconds is None:
            samples = _DEFAULT_SAMPLES
        return cls(None if samples is None else positive_integer(samples, "samples"), seconds)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    @property
    def share(self) -> float:
        parts = [self.drawn / self.samples] if self.samples else []
        return min(1.0, max([*parts, *([self.elapsed / self.seconds] if self.seconds else [])]))

    def affordable(self, pairs: int) -> int:
        """Draws for each side of each pair, fixed before drawing from the speed so far."""
        most = _MAX_DRAWS
        if self.samples is not None:
            most = min(most, (self.samples - self.drawn) // (2 * pairs))
        if self.seconds is not None and self.drawn:
            left = max(0.0, self.seconds - self.elapsed)
            most = min(most, int(left * self.drawn / self.elapsed) // (2 * pairs))
        return most


@dataclass(slots=True)
class _Contest:
    """A pair, and everything drawn from it so far."""

    pair: Pair
    recorder: Recorder = field(default_factory=Recorder)
    left: Draws | None = None
    right: Draws | None = None
    events: list[ChosenEvent] = field(default_factory=list)
    z_score: float = -math.inf

    @property
    def both(self) -> Draws | None:
        """All draws of the pair."""
        return None if self.left is None or self.right is None else self.left + self.right

    @property
    def monotonous(self) -> bool:
        """Whether nothing but one and the same outcome was seen."""
        both = self.both
        return both is not None and len(np.unique(both.codes)) == 1 and _one_row(both)

    @property
    def raised(self) -> int:
        """How many draws were errors."""
        both = self.both
        return 0 if both is None else self.recorder.raised(both)


def _one_row(draws: Draws) -> bool:
    return bool(np.all((draws.reals == draws.reals[:1]) | np.isnan(draws.reals)))


def _require_answers(contests: list[_Contest]) -> None:
    """An error is an outcome, but nothing else than one and the same is a sampler that does not work."""
    first = contests[0]
    if first.raised and all(contest.monotonous for contest in contests):
        raise SamplerFailed(first.recorder.outcomes[0].named, f"left of '{first.pair.name}'", 0)


class _Run:
    def __init__(
        self,
        box: BlackBox,
        claim: Guarantee,
        alpha: float,
        views: tuple[View, ...],
        delta: float,
        budget: _Budget,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._box = box
        self._exact = curve(claim)
        self._claims = float_claims(self._exact)
        self._alpha = alpha
        self._views = views
        self._delta = delta
        self._budget = budget
        self._progress = progress
        self.tests: list[EventTest] = []

    def through(self, contests: list[_Contest]) -> str:
        """All stages; why it stopped."""
        everyone = contests
        size = min(_FIRST_DRAWS, self._budget.affordable(4 * len(contests)))
        if size < _MIN_DRAWS:
            raise InvalidArgument(
                "samples",
                self._budget.samples,
                allowed=f"at least {8 * _MIN_DRAWS * len(contests)} for {len(contests)} pairs",
            )
        for contest in contests:
            self._learn(contest, *self._draw(contest, size))
        _require_answers(contests)
        stage = 0
        while (size := self._next_size(size, stage, len(contests))) >= _MIN_DRAWS:
            stage += 1
            if self._stage(stage, contests, size):
                return "stopped at a certain violation"
            best = max(contest.z_score for contest in contests)
            contests = [contest for contest in contests if contest.z_score > best - _FAR_BEHIND]
        if all(contest.monotonous for contest in everyone):
            raise NotRandom(
                f"the sampler returned one and the same outcome in all {self._budget.drawn:,} draws, whatever the "
                "input. A mechanism to audit must be random and look at its input. "
                "Check that it is not seeded, and give pairs=... on which its answer can change.",
                constant=True,
            )
        return "the samples are used up" if self._budget.samples is not None else "the time is up"

    def _next_size(self, size: int, stage: int, contests: int) -> int:
        """Draws for the next stage. The first always takes place: what tested nothing must not say that it passed."""
        affordable = self._budget.affordable(contests)
        return min(2 * size, affordable) if stage else max(_MIN_DRAWS, min(size, affordable))

    def _draw(self, contest: _Contest, size: int) -> tuple[Draws, Draws]:
        pair = contest.pair
        left = self._box.draw(contest.recorder, pair.left, size, f"left of '{pair.name}'")
        right = self._box.draw(contest.recorder, pair.right, size, f"right of '{pair.name}'")
        self._budget.drawn += 2 * size
        return left, right

    def _stage(self, stage: int, contests: list[_Contest], size: int) -> bool:
        """Fresh draws for every contest, tested at once; whether the claim is refuted."""
        spending = self._alpha / (stage * (stage + 1)) / len(contests)
        each = spending * (1 - _REPETITION_SHARE) / _EVENTS
        for contest in contests:
            left, right = self._draw(contest, size)
            self._require_independence(left, contest, spending * _REPETITION_SHARE)
            before = len(self.tests)
            for event in distinct_events(contest.events):
                test = try_event(
                    event,
                    left,
                    right,
                    alpha=each,
                    pair=contest.pair.name,
                    stage=stage,
                    recorder=contest.recorder,
                )
                self.tests.append(test)
            self._learn(contest, left, right)
            self._tell(stage)
            if any(test.refutes(self._exact) for test in self.tests[before:]):
                return True
        return False

    def _learn(self, contest: _Contest, left: Draws, right: Draws) -> None:
        """Add draws to what is known of a pair, and choose from all of it what the next stage will test."""
        contest.left = left if contest.left is None else contest.left + left
        contest.right = right if contest.right is None else contest.right + right
        contest.events = choose_events(
            contest.left,
            contest.right,
            self._claims,
            delta=self._delta,
            # Only roughly what the next test will have: it steers the choice, and no bound depends on it.
            alpha=self._alpha / _EVENTS,
            views=self._views,
        )
        # The events that aim at the claim; the others aim at the bound that is reported.
        contest.z_score = max(event.z_score for event in contest.events[::2])

    def _require_independence(self, draws: Draws, contest: _Contest, alpha: float) -> None:
        _, symbols = np.unique(np.column_stack([draws.codes, draws.reals]), axis=0, return_inverse=True)
        if repetition_p_value(symbols.reshape(-1)) < alpha:
            raise NotRandom(
                f"the sampler repeats itself: on the left of '{contest.pair.name}' neighbouring draws agree far more "
                f"often than draws far apart (chance below {alpha:.2g} for independent draws). Whoever knows the state "
                "of the generator knows the noise. Draw fresh secure bits for every call; a seed taken from the time "
                "of day is the usual cause.",
                constant=False,
            )

    def _tell(self, stage: int) -> None:
        if self._progress is not None:
            epsilon = max(test.epsilon(self._delta) for test in self.tests)
            budget = self._budget
            self._progress(Progress(stage, budget.drawn, budget.elapsed, budget.share, epsilon))
