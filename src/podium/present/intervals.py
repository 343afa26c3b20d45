"""How far a released count may be from the true one: from the law of its noise, never from data.

The law is written in the release itself, in its parameters or in the events of its receipt. Where neither says it,
there is no interval: a wrong one would be worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from podium.errors import InvalidArgument
from podium.estimates.measure import MeasureCounts
from podium.exact import Number, ball, ball_precision, dyadic_above, positive_fraction, probability, rational_bounds
from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain, value_step
from podium.present.measures import shown_measure
from podium.privacy import CorrelatedNoise, Event, GaussianNoise, LaplaceNoise
from podium.privacy.rounding import display
from podium.release import Release

__all__ = ["CONFIDENCE", "Margin", "margin_of"]

CONFIDENCE: Final = "0.95"
_PRECISION: Final = 128
_LARGEST_SCALE: Final = Fraction(1 << 50)


@dataclass(frozen=True, slots=True)
class Margin:
    """Each true count lies within ``width`` of the released one, with this confidence for each count by itself.

    ``fresh`` says that the noise is not the one that decided what was selected: then the confidence holds for the items
    shown. Otherwise it holds before selection only, and what was selected had lucky noise.
    """

    width: Fraction
    confidence: Fraction
    fresh: bool
    law: str
    signed: bool = False
    what: str = "count"

    def around(self, value: Fraction) -> tuple[Fraction, Fraction]:
        """Both ends; a count is never negative, so neither are they, unless the values are signed."""
        if self.signed:
            return value - self.width, value + self.width
        return max(Fraction(0), value - self.width), max(Fraction(0), value + self.width)

    @property
    def percent(self) -> str:
        """The confidence as people write it."""
        return f"{float(100 * self.confidence):g}%"

    @property
    def sentence(self) -> str:
        """What the interval means."""
        if self.fresh:
            return (
                f"Each interval holds its true {self.what} with {self.percent} confidence. The noise in it was drawn "
                "after the selection, which therefore does not bias it."
            )
        return (
            f"Before selection each interval held its true {self.what} with {self.percent} confidence. Lucky noise "
            f"helps to be selected: true {self.what}s tend to be lower than shown."
        )


def margin_of(release: Release, *, confidence: Number = CONFIDENCE) -> Margin | None:
    """The margin of the counts in a release; None if it has no counts, or does not say how noisy they are."""
    level = probability(confidence, "confidence")
    if release.value_kind == "scores":
        return _margin_of_score(release, level)
    if release.value_kind != "counts":
        return None
    measure = shown_measure(release)
    try:
        margin = _margin(release, level, measure.unit)
        if margin is not None and "at_least" in release.parameters:
            # Items are shown because of this very noise.
            margin = replace(margin, fresh=False)
        if margin is None or measure.noun == "users":
            return margin
        what = "count" if measure.column == "count" else "clipped sum"
        return replace(margin, width=margin.width * measure.unit, signed=measure.signed, what=what)
    except (InvalidArgument, KeyError):
        return None  # parameters that no mechanism of ours writes


def _margin_of_score(release: Release, level: Fraction) -> Margin | None:
    """The margin of the scores of a ranking, as its parameters say it."""
    from podium.ranking.measured_scores import margin_of_scores  # noqa: PLC0415 - other releases have no scores

    noise = release.parameters.get("score_noise")
    if noise != "laplace" and noise != "gaussian":  # noqa: PLR1714 - narrows the type
        return None
    try:
        scale = _scale(release.parameters["score_scale"])
        width = margin_of_scores(noise, scale, level)
    except (InvalidArgument, KeyError):
        return None  # parameters that no mechanism of ours writes
    return Margin(width, level, True, f"{noise.capitalize()}, scale {display(scale)}", what="score")


def _margin(release: Release, level: Fraction, unit: Fraction) -> Margin | None:
    shared = _measured_together(release)
    if shared is not None:
        own, common = display(shared.sigma * unit), display(shared.shared_sigma * unit)
        law = f"Gaussian, sigma {own} for each count and {common} for all alike"
        return Margin(Fraction(shared.margin(level)), level, True, law)
    step = _measured_with(release)
    if step is not None:
        name = "sigma" if step.noise == "gaussian" else "scale"
        law = f"discrete {step.noise.capitalize()}, {name} {display(step.scale * unit)}"
        return Margin(Fraction(step.margin(level)), level, True, law)
    return _selected_with(release, level)


def _scale(value: Fraction | str) -> Fraction:
    """A scale that noise can be drawn at: beyond it, a margin would take its time and mean nothing."""
    scale = positive_fraction(value, "scale")
    if scale > _LARGEST_SCALE:
        raise InvalidArgument("scale", value, allowed=f"at most {_LARGEST_SCALE}")
    return scale


def _measured_together(release: Release) -> CorrelatedCounts | None:
    """The noise of counts that were measured at once: as the parameters say it, or else the receipt."""
    parameters = release.parameters
    if "count_noise" in parameters:
        if parameters["count_noise"] != CorrelatedCounts.noise or "count_items" not in parameters:
            return None
        found = CorrelatedCounts.from_parameters(parameters)
    else:
        events = {event for event in release.paid.events if isinstance(event, CorrelatedNoise)}
        if len(events) != 1:
            return None
        (event,) = events
        found = CorrelatedCounts(
            event.items, max_items=event.max_items, sigma=event.sigma, shared_sigma=event.shared_sigma
        )
    _scale(found.sigma)
    if found.shared_sigma:
        _scale(found.shared_sigma)
    return found


def _measured_with(release: Release) -> MeasureCounts | None:
    """The step that measured the counts afresh: as the parameters say it, or else the receipt."""
    parameters = release.parameters
    own = "" if release.mechanism == MeasureCounts.__name__ else "count_"
    try:
        noise, scale = parameters[f"{own}noise"], _scale(parameters[f"{own}scale"])
    except KeyError:
        return _in_receipt(release.paid.events)
    if noise == "gaussian":
        return MeasureCounts(sigma=scale)
    return MeasureCounts(epsilon_per_item=1 / scale) if noise == "laplace" else None


def _in_receipt(events: tuple[Event, ...]) -> MeasureCounts | None:
    """Discrete noise only: it protects whole counts, which one user moves by 1, so its scale is known."""
    noisy = {event for event in events if isinstance(event, LaplaceNoise | GaussianNoise)}
    if len(noisy) != 1:
        return None
    (event,) = noisy
    if not event.discrete:
        return None
    if isinstance(event, LaplaceNoise):
        return MeasureCounts(epsilon_per_item=1 / _scale(1 / event.epsilon))
    return MeasureCounts(sigma=_scale(event.sigma)) if event.sensitivity_squared == 1 else None


def _selected_with(release: Release, level: Fraction) -> Margin | None:
    """The limited domain with Laplace noise shows the very counts that it selected by."""
    parameters: Mapping[str, str] = release.parameters
    if release.mechanism != LimitedDomain.__name__ or parameters.get("noise") != "laplace":
        return None
    single = positive_fraction(parameters["epsilon_per_item"], "epsilon_per_item")
    scale = _scale(1 / single)
    with ball_precision(_PRECISION):
        reach = rational_bounds(ball(scale) * -ball(1 - level).log())[1]
    # The released value was rounded down to the grid, by less than one step.
    width = dyadic_above(reach, LimitedDomain.grid_bits) + value_step(single)
    return Margin(width, level, False, f"Laplace, scale {display(scale)}")
