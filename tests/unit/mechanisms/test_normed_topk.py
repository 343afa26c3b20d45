"""Rounds on vectors of one length: what is found, what is drawn, and what is paid for it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from tests.support.measures import AmountsTable, Table, bucket_of, norm_bucket

from podium.errors import InvalidArgument
from podium.mechanisms.gaussian.adaptive import AdaptiveTopK
from podium.mechanisms.gaussian.asking import answered
from podium.mechanisms.measures import amount_histograms, normed_topk
from podium.mechanisms.measures.border_lengths import border_clip, norm_edges
from podium.mechanisms.measures.clip_choice import BUCKETS
from podium.mechanisms.measures.length_choice import NormChoice
from podium.mechanisms.measures.norm_cutoff import norm_cutoff
from podium.mechanisms.measures.norm_weights import MAX_LENGTH, NormWeights
from podium.mechanisms.measures.normed_topk import NormedTopK
from podium.privacy import GaussianNoise, actual_cost, worst_case
from podium.query.ranked_by import MAX_CLIP
from podium.randomness.replay import ReplayableBits

TABLE: Table = [
    {item: 1 + (user * item) % 7 for item in range(30) if (user * 7919 + item * 104729) % 1000 < 900 // (item + 1)}
    for user in range(3000)
]
"""The first items have the most users."""


def run(mechanism: NormedTopK, table: Table = TABLE, seed: int = 3) -> Any:
    bits = ReplayableBits(seed)
    return mechanism.release(AmountsTable(table, bits=bits), bits=bits)


def sums(table: Table) -> list[int]:
    return [sum(user.get(item, 0) for user in table) for item in range(30)]


def test_the_largest_sums_come_back() -> None:
    best = sorted(range(30), key=lambda item: -sums(TABLE)[item])[:5]
    for clip in (4, 8, 32):
        assert set(run(NormedTopK(5, 20, "1e-6", clip=clip)).items) == set(best)


def test_a_user_with_one_large_amount_keeps_the_others() -> None:
    """Weights by the number of items leave a tenth of each of a hundred small amounts, one length almost all."""
    table = [{0: 100, **{1 + (user + n) % 20: 5 for n in range(9)}} for user in range(400)]
    lengths, weights = (
        kind(1, 1, "1e-6", clip=128).stage(Fraction(1), discovery=1) for kind in (NormedTopK, AdaptiveTopK)
    )
    found = [
        float(AmountsTable(table).discover(stage, ()).values[0] / stage.count_sigma)  # type: ignore[index]
        for stage in (lengths, weights)
    ]
    assert found[0] > 2.5 * found[1]


def test_a_round_costs_its_share() -> None:
    mechanism = NormedTopK(5, "1/3", "1e-6", max_items_per_user=50, clip=9)
    parts = (Fraction(1, 5), Fraction(3, 5), Fraction(1, 5))
    for discovery, part in enumerate(parts, start=1):
        stage = mechanism.stage(Fraction(1, 4), discovery=discovery)
        noise, hidden = stage.worst_case
        assert noise.rho <= Fraction(1, 24)
        assert hidden.delta == mechanism.delta * part
        assert stage.weights == NormWeights(9, 50)
        assert stage.threshold == norm_cutoff(50, stage.sigma, hidden.delta)
        assert (stage.count_sigma, stage.count_threshold) == (9 * stage.sigma, 9 * stage.threshold)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_drawn_at_the_border_is_what_is_paid(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    drawn: list[Fraction] = []
    for name in ("noisy_values", "centred_values"):
        inner = vars(normed_topk)[name]

        def draw(values: Any, *, scale: Fraction, inner: Any = inner, **how: Any) -> Any:
            drawn.append(scale)
            return inner(values, scale=scale, **how)

        monkeypatch.setattr(normed_topk, name, draw)
    mechanism = NormedTopK(5, 2, "1e-6", clip=8)
    release = run(mechanism, seed=seed)
    events = [event for event in release.paid.events if isinstance(event, GaussianNoise)][-len(drawn) :]
    assert len(drawn) >= 2
    for place, (scale, event) in enumerate(zip(drawn, events, strict=True)):
        assert event.sensitivity_squared == 1
        # Numbers of users have the noise itself, and sums that of a length, a power of two here.
        assert scale == event.sigma if place % 2 == 0 else (scale / event.sigma) in {2**j for j in range(15)}
        if place % 2:
            assert scale / event.sigma >= 1
    paid, most = actual_cost(release.paid.events), worst_case(mechanism.worst_case)
    assert (paid.rho <= most.rho, paid.delta <= most.delta) == (True, True)


def test_the_noise_of_differences_is_that_of_the_length(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def centred(values: Any, *, scale: Fraction, **how: Any) -> list[Fraction]:
        seen.update(values=values, scale=scale)
        return [Fraction(0)] * len(values)

    monkeypatch.setattr(normed_topk, "centred_values", centred)
    monkeypatch.setattr(normed_topk, "border_clip", lambda *_, **__: 16)
    border = NormedTopK(2, 2, "1e-6", clip=4)._rounds(None).measure_border((0, 1, 2), Fraction(1000), Fraction(1, 2))
    _, scale, (sizes, noise) = answered(border, AmountsTable(TABLE))
    assert seen["scale"] == scale == 16 * noise.sigma  # type: ignore[union-attr]
    assert sizes.rho + noise.rho <= Fraction(1, 4)
    # Nearly the true sums: few users are longer than 16.
    for value, total in zip(seen["values"], sums(TABLE)[:3], strict=True):
        assert 0.9 * total < value <= total


def test_the_length_of_the_border_follows_the_users() -> None:
    weights = NormWeights(64, 40, named=True)
    edges = norm_edges(weights)
    assert edges[1] == 40 * 4**4 + 1
    short, long = ([Fraction(10**5 * (j == place)) for j in range(len(edges))] for place in (3, 12))
    for users, clip in ((short, 8), (long, 4096)):
        found = border_clip(weights, users, Fraction(1), level=Fraction(10**6), mu_squared=Fraction(1))
        assert clip / 2 <= found <= clip
    nothing = [Fraction(0)] * len(edges)
    assert border_clip(weights, nothing, Fraction(1), level=Fraction(1), mu_squared=Fraction(1)) == 64


def test_noise_sets_no_length_of_the_border() -> None:
    weights = NormWeights(64, 40, named=True)
    users = [Fraction(400 * (j == 6)) for j in range(len(norm_edges(weights)))]
    for place in range(8, len(users)):
        # Three standard deviations, which one entry in seven hundred has, and as many users as stand out of noise.
        for number, longer in ((3, False), (60, True)):
            seen = [*users[:place], Fraction(number), *users[place + 1 :]]
            found = border_clip(weights, seen, Fraction(1), level=Fraction(10**6), mu_squared=Fraction(50))
            assert (found > 128) is longer


def test_no_length_of_the_border_is_more_than_a_source_can_take() -> None:
    # Whether a length is chosen that cannot be read would depend on rows that were paid for by then.
    assert MAX_LENGTH == MAX_CLIP
    weights = NormWeights(MAX_LENGTH, 40, named=True)
    users = [Fraction(0)] * (len(norm_edges(weights)) - 1) + [Fraction(10**5)]
    assert border_clip(weights, users, Fraction(1), level=Fraction(10**30), mu_squared=Fraction(1)) == MAX_LENGTH
    with pytest.raises(InvalidArgument, match="2\\^40"):
        NormWeights(MAX_LENGTH + 1, 40)


def test_one_user_moves_the_histograms_by_no_more_than_is_paid() -> None:
    for user in ({"a": 1}, {"a": 5, "b": 300}, {n: 2**n for n in range(40)}, dict.fromkeys(range(999), 7)):
        lengths, totals = AmountsTable([user]).norm_histograms(BUCKETS)
        pairs = AmountsTable([user]).clip_histograms(BUCKETS, 1)[0]
        assert sum(lengths) == sum(totals) == 1
        assert lengths[norm_bucket(list(user.values()))] == 1
        assert totals[bucket_of(sum(user.values()))] == 1
        assert sum(pairs) <= 1
    assert NormChoice("1/8").event == GaussianNoise(NormChoice("1/8").sigma, sensitivity_squared=2)
    assert NormChoice("1/8", values=True).event.sensitivity_squared == 3
    for values in (False, True):
        choice = NormChoice("1/8", values=values)
        assert choice.event.rho <= Fraction(1, 8)
        assert float(choice.sigma) == pytest.approx(math.sqrt((3 if values else 2) * 4))


def test_the_histograms_get_the_noise_that_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    scales: list[tuple[int, Fraction]] = []
    inner: Any = vars(amount_histograms)["noisy_values"]

    def draw(values: Any, *, scale: Fraction, **how: Any) -> Any:
        scales.append((len(values), scale))
        return inner(values, scale=scale, **how)

    monkeypatch.setattr(amount_histograms, "noisy_values", draw)
    for values in (False, True):
        choice = NormChoice(2, values=values)
        selecting, measuring = choice.release(AmountsTable(TABLE), bits=ReplayableBits(1))  # type: ignore[arg-type]
        assert scales.pop() == ((3 if values else 2) * BUCKETS, choice.sigma)
        assert selecting.total == measuring.total == pytest.approx(sum(sums(TABLE)), rel=0.3)
        # Lengths are larger than single amounts.
        assert (selecting.mean() > measuring.mean()) == values


def test_what_no_rounds_can_have_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="max_items_per_user"):
        NormedTopK(5, 1, "1e-6", max_items_per_user=2**20 + 1)
    with pytest.raises(InvalidArgument, match="max_items_per_user"):
        NormedTopK(200_000, 1, "1e-6")
