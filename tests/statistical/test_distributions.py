"""The bound by which samplers are judged, against the exact probabilities of small samples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable

import pytest
from tests.support.distributions import p_bound, p_value


@pytest.mark.parametrize(
    "distribution", [(0.5, 0.5), (0.9, 0.1), (0.5, 0.3, 0.2), (0.97, 0.02, 0.01), (0.4, 0.3, 0.2, 0.1)]
)
@pytest.mark.parametrize("total", [1, 5, 14])
def test_no_sample_is_as_rare_as_the_bound_would_have_it(distribution: tuple[float, ...], total: int) -> None:
    """For every size of relative entropy that a sample can have: it or a larger one is no more probable than that."""
    chances: dict[Hashable, float] = dict(enumerate(distribution))
    found = []
    for counts in itertools.product(range(total + 1), repeat=len(distribution)):
        if sum(counts) != total:
            continue
        ways = math.factorial(total) // math.prod(math.factorial(count) for count in counts)
        draws = [outcome for outcome, count in enumerate(counts) for _ in range(count)]
        found.append((p_bound(draws, chances, smallest_cell=0.0), ways * math.prod(map(pow, distribution, counts))))
    assert math.isclose(sum(chance for _, chance in found), 1.0)
    for bound in {bound for bound, _ in found}:
        assert sum(chance for other, chance in found if other <= bound) <= bound * (1.0 + 1e-9)


def test_what_cannot_happen_is_rejected_and_no_draws_are_an_error() -> None:
    for judge in (p_value, p_bound):
        assert judge(["a", "b"], {"a": 1.0}) == 0.0
        with pytest.raises(AssertionError, match="no draws"):
            judge([], {"a": 1.0})
    assert p_bound(["a"] * 10_000, {"a": 0.9, "b": 0.1}) < 1e-300
    assert p_bound(["a"] * 9_000 + ["b"] * 1_000, {"a": 0.9, "b": 0.1}) == 1.0
