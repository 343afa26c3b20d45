"""What can be asked of a source, before there is one."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from podium.errors import InvalidArgument
from podium.query.schema import Column, Kind
from podium.sources import MAX_CLIP, CountQuery, DomainSize, GroupCut, PairValue
from podium.sources.declared_types import declared_column
from podium.sources.sql.pair_values import float_ceiling

SALT = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"items": ()}, "item"),
        ({"items": ("a", "a")}, "item"),
        ({"max_items_per_user": 0, "salt": SALT}, "max_items_per_user"),
        ({"max_items_per_user": 3}, "salt"),
        ({"salt": SALT}, "salt"),
        ({"max_items_per_user": 3, "salt": "short"}, "salt"),
        ({"max_items_per_user": 3, "salt": "' OR 1=1 --" * 5}, "salt"),
        ({"weights": ((3, 1),)}, "weights"),
        ({"without": tuple(range(10_001))}, "without"),
        ({"value": PairValue("x", floor=-1), "max_items_per_user": 3, "salt": SALT, "weights": ((3, 1),)}, "weights"),
        ({"value": PairValue(grid_bits=1), "max_items_per_user": 3, "salt": SALT, "weights": ((3, 1),)}, "weights"),
    ],
)
def test_a_count_query_that_makes_no_sense_is_refused(values: dict[str, object], name: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        CountQuery(**{"items": ("a",), "user": "u", **values})  # type: ignore[arg-type]
    assert caught.value.name == name


def test_the_salt_is_not_quoted() -> None:
    with pytest.raises(InvalidArgument) as caught:
        CountQuery(("a",), "u", max_items_per_user=3, salt=SALT.upper())
    assert SALT.upper() not in str(caught.value)


@pytest.mark.parametrize(
    "weights",
    [
        (),
        ((1, 5), (2, 4)),
        ((1, 5), (4, 4)),
        ((1, 5), (1, 4), (3, 3)),
        ((2, 5), (1, 4), (3, 3)),
        ((1, 5), (3, 6)),
        ((1, 5), (3, 0)),
        ((0, 5), (3, 1)),
        ((1, 2**31 + 1), (3, 1)),
        ((1, 1.5), (3, 1)),
        ((1, True), (3, 1)),
        (*((place, 1) for place in range(-98, 3)), (3, 1)),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(InvalidArgument, match="weights="):
        CountQuery(("a",), "u", max_items_per_user=3, salt=SALT, weights=weights)


def test_weights_that_make_sense() -> None:
    many = tuple((place, 2**31) for place in range(1, 101))
    for weights in (((3, 1),), ((1, 2**31), (3, 2**31)), ((1, 9), (2, 4), (3, 1)), many):
        query = CountQuery(("a",), "u", max_items_per_user=weights[-1][0], salt=SALT, weights=weights)
        assert query.weights == weights


@pytest.mark.parametrize(
    ("weights", "allowed"),
    [
        (((1, 1), (3, 2)), "steps (up_to, weight): up_to increases, weight does not."),
        (((2, 1),), "steps that end at max_items_per_user=3. Give both the same last number."),
        (((3, 2**32),), "1 to 100 steps with weights of at most 2^31."),
    ],
)
def test_what_a_refusal_of_weights_says(weights: tuple[tuple[int, int], ...], allowed: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        CountQuery(("a",), "u", max_items_per_user=3, salt=SALT, weights=weights)
    assert str(caught.value) == f"weights={weights} is not valid. Allowed: {allowed}"


@pytest.mark.parametrize("size", [0, -1, 2**63, 1.5, True])
def test_a_size_is_a_positive_number_of_64_bits(size: int) -> None:
    with pytest.raises(InvalidArgument, match="domain_size"):
        DomainSize(size)


@pytest.mark.parametrize(
    ("type_", "column"),
    [
        ("text", Column("c", Kind.TEXT)),
        (" Integer ", Column("c", Kind.INTEGER)),
        ("decimal(2)", Column("c", Kind.DECIMAL, scale=2)),
        ("timestamp", Column("c", Kind.TIMESTAMP)),
        ("list(text)", Column("c", Kind.LIST, Kind.TEXT)),
        ("LIST( decimal( 4 ) )", Column("c", Kind.LIST, Kind.DECIMAL, scale=4)),
    ],
)
def test_declared_types(type_: str, column: Column) -> None:
    assert declared_column("c", type_) == column


@pytest.mark.parametrize(
    "type_", ["", "varchar", "decimal", "decimal(39)", "text(3)", "list", "list(list(text))", "float"]
)
def test_unknown_types_are_refused(type_: str) -> None:
    with pytest.raises(InvalidArgument, match=r"types\['c'\]"):
        declared_column("c", type_)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"clip": 0}, "clip"),
        ({"clip": MAX_CLIP + 1}, "clip"),
        ({"clip": 1.5}, "clip"),
        ({"column": "x", "floor": 1}, "floor"),
        ({"column": "x", "floor": -MAX_CLIP - 1}, "floor"),
        ({"column": "x", "unit": Fraction(0)}, "unit"),
        ({"column": "x", "unit": Fraction(-1, 2)}, "unit"),
        ({"unit": Fraction(2)}, "unit"),
        ({"floor": -1}, "unit"),
        ({"column": "x", "floor": -1, "grid_bits": 1}, "grid_bits"),
        ({"grid_bits": 21}, "grid_bits"),
        ({"grid_bits": -1}, "grid_bits"),
    ],
)
def test_a_pair_value_that_makes_no_sense_is_refused(values: dict[str, object], name: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        PairValue(**values)  # type: ignore[arg-type]
    assert caught.value.name == name


@pytest.mark.parametrize("unit", [Fraction(1, 10), Fraction(1, 3), Fraction(7), Fraction(1, 10**9), Fraction(10**100)])
@pytest.mark.parametrize("reach", [1, 3, 1000, 2**31, MAX_CLIP])
def test_the_bound_of_floats_is_where_the_quotient_reaches_the_clip(unit: Fraction, reach: int) -> None:
    """Otherwise a row would count differently with a smaller clip: 0.3 / 0.1 is less than 3, but 0.3 is 3 * 0.1."""
    bound = float_ceiling(reach, unit)
    assert bound / float(unit) >= reach > math.nextafter(bound, 0) / float(unit)
    assert float_ceiling(3, Fraction(1, 10)) > 0.3


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"columns": ()}, "per"),
        ({"columns": ("g", "g")}, "per"),
        ({"columns": ("u",)}, "per"),
        ({"columns": ("g", "a")}, "per"),
        ({"per_user": 0}, "groups_per_user"),
        ({"per_user": True}, "groups_per_user"),
    ],
)
def test_groups_that_make_no_sense_are_refused(values: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        CountQuery(("a",), "u", salt=SALT, groups=GroupCut(**{"columns": ("g",), **values}))
    assert caught.value.name == name


def test_a_cut_to_few_groups_needs_a_salt_even_where_it_is_one() -> None:
    for groups, salt in ((GroupCut(("g",)), None), (GroupCut(("g",), per_user=None), SALT)):
        with pytest.raises(InvalidArgument, match="salt="):
            CountQuery(("a",), "u", salt=salt, groups=groups)
    assert CountQuery(("a",), "u", groups=GroupCut(("g", "h"), per_user=None)).keys == ("g", "h", "a")


def test_weights_count_the_items_of_one_group() -> None:
    weighted = CountQuery(("a",), "u", max_items_per_user=3, salt=SALT, weights=((3, 1),))
    with pytest.raises(InvalidArgument, match="within a group"):
        replace(weighted, groups=GroupCut(("g",)))
    replace(weighted, groups=GroupCut(("g",), within_group=True))
    replace(weighted, groups=GroupCut(("g",), per_user=None))
