"""What can be compared: checked from public facts alone."""

from __future__ import annotations

import pytest

from podium.errors import InvalidArgument
from podium.ranking import ComparisonGraph
from podium.ranking.graph import MAX_PAIRS


def test_a_complete_graph_has_every_pair() -> None:
    graph = ComparisonGraph.complete("abcd")
    assert graph.edges == ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    assert graph.degrees.tolist() == [3, 3, 3, 3]
    assert len(graph.comparisons) == 12
    assert {*graph.comparisons} == {(x, y) for x in "abcd" for y in "abcd" if x != y}


def test_pairs_are_the_same_in_either_order() -> None:
    graph = ComparisonGraph.of_pairs([("b", "a"), ["a", "b"], ("c", "b")])  # type: ignore[list-item]
    assert graph == ComparisonGraph(("a", "b", "c"), ((0, 1), (1, 2)))
    assert (graph.smallest_degree, graph.largest_degree) == (1, 2)
    assert graph.comparisons == (("a", "b"), ("b", "c"), ("b", "a"), ("c", "b"))


@pytest.mark.parametrize(
    ("pairs", "match"),
    [
        ([("a", "b"), ("c", "d")], "No chain of pairs leads from 'a' to 'c'"),
        ([("a", "a")], r"pairs=\('a', 'a'\) is not valid. Allowed: pairs of two different items"),
        (["ab"], "pairs='ab' is not valid. Allowed: pairs of items"),
        ([("a", "b", "c")], "Allowed: pairs of items"),
        ([], "items='0 items' is not valid"),
    ],
)
def test_pairs_that_make_no_graph(pairs: list[tuple[str, str]], match: str) -> None:
    with pytest.raises(InvalidArgument, match=match):
        ComparisonGraph.of_pairs(pairs)


def test_items_that_make_no_graph() -> None:
    with pytest.raises(InvalidArgument, match="at least 2 items to compare"):
        ComparisonGraph.complete("a")
    with pytest.raises(InvalidArgument, match="Allowed: distinct items"):
        ComparisonGraph.complete("aa")
    with pytest.raises(InvalidArgument, match="at most 100,000 pairs"):
        ComparisonGraph.complete(range(448))
    with pytest.raises(InvalidArgument, match="at most 100,000 pairs"):
        ComparisonGraph(tuple(range(MAX_PAIRS + 2)), tuple((i, i + 1) for i in range(MAX_PAIRS + 1)))
