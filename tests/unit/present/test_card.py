"""Release cards: complete, exact, stable, and in the fields of the public registry."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.support.grouped_releases import counted_lists, grouped_release
from tests.support.pictures import made

import podium
from podium import Histogram, Release
from podium.mechanisms import ExponentialTopK, LimitedDomain, NoisyTopK
from podium.present.card.card_schema import card_schema
from podium.present.explanation import explanation
from podium.privacy import Guarantee
from podium.release import Receipt

COUNTS = Histogram({"a": 900, "b": 600, "c": 300})

RELEASES = {
    "selection": made(("a", "b"), k=5),
    "counts": made(("a", "b"), counts=True),
    "biased counts": made(
        ("a",), values=(Fraction(5),), value_kind="counts", parameters={"noise": "laplace", "epsilon_per_item": "1/7"}
    ),
    "unknown noise": made(("a",), values=(Fraction(5),), value_kind="counts"),
    "pure": NoisyTopK(2, 5).release(COUNTS),
    "known domain": ExponentialTopK(2, "1/3").release(COUNTS),
    "set": made(("a", "b"), outcome=frozenset("ab")),
    "zcdp": made(("a",), guarantee=Guarantee.zcdp("0.1")),
    "approximate zcdp": made(("a",), guarantee=Guarantee.approximate_zcdp("0.1", "1e-6")),
    "profile": made(("a",), guarantee=Guarantee.profile([(1, "0.001"), (2, "1e-6")])),
    "free": made(("a",), paid=Receipt((), entry="ab" * 32)),
    "by an amount": made(
        ("a", "b"),
        counts=True,
        parameters={"by": "sum(minutes)", "unit": "1/2", "clip": "90", "value_clip": "90", "rho_clip": "1/1000"},
    ),
    "bounded": LimitedDomain(2, 3, "1/2", "1e-6", max_items_per_user=7).release(COUNTS),
}

COUNTED = "The ranking and the values count at most 45 minutes per user and item"
HELD = " The lower ends of the intervals also hold for all minutes."


def check(value: Any, schema: dict[str, Any], where: str = "card") -> None:
    """The part of JSON schema that the cards use."""
    if "const" in schema:
        assert value == schema["const"], where
    if "enum" in schema:
        assert value in schema["enum"], where
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
    allowed = schema.get("type", [])
    names = [allowed] if isinstance(allowed, str) else allowed
    assert not names or any(type(value) is kinds[name] for name in names), where
    if isinstance(value, str) and "pattern" in schema:
        assert re.search(schema["pattern"], value), where
    if isinstance(value, list) and "items" in schema:
        for item in value:
            check(item, schema["items"], where)
    if isinstance(value, dict):
        check_object(value, schema, where)


def check_object(value: dict[str, Any], schema: dict[str, Any], where: str) -> None:
    properties = schema.get("properties", {})
    assert set(schema.get("required", ())) <= set(value), where
    others = schema.get("additionalProperties", True)
    assert others is not False or set(value) <= set(properties), where
    for name, part in value.items():
        rule = properties.get(name, others)
        if isinstance(rule, dict):
            check(part, rule, f"{where}.{name}")


@pytest.mark.parametrize("name", RELEASES)
def test_cards_keep_their_schema(name: str) -> None:
    made_card = RELEASES[name].card().to_dict()
    assert json.loads(json.dumps(made_card)) == made_card
    check(made_card, card_schema())


def test_the_schema_refuses_what_is_not_a_card() -> None:
    good = RELEASES["counts"].card().to_dict()
    for bad in (
        {**good, "surprise": 1},
        {name: value for name, value in good.items() if name != "unit"},
        {**good, "version": 2},
        {**good, "paid": {**good["paid"], "rho": 0.5}},
        {**good, "result": {**good["result"], "k": "2"}},
    ):
        with pytest.raises(AssertionError):
            check(bad, card_schema())


@pytest.mark.parametrize(
    ("name", "variant", "parameters"),
    [
        ("selection", "Approximate DP", {"epsilon", "rho", "delta"}),
        ("pure", "Pure DP", {"epsilon"}),
        ("known domain", "Pure DP", {"epsilon", "rho"}),
        ("zcdp", "Zero-concentrated DP", {"rho"}),
        ("approximate zcdp", "Custom", {"rho", "delta"}),
        ("profile", "Custom", set()),
    ],
)
def test_the_registry_gets_its_own_words(name: str, variant: str, parameters: set[str]) -> None:
    made_card = RELEASES[name].card().to_dict()
    deployment = made_card["registry"]["deployment"]
    assert made_card["guarantee"]["variant"] == deployment["dp_variant"]["variant_name"] == variant
    assert set(deployment["privacy_loss"]["privacy_parameters"]) == parameters
    assert deployment["privacy_loss"]["privacy_unit"] == "User-level"
    assert deployment["deployment_model"]["model_name"] == "Central"
    assert ("input_metric" in deployment["dp_variant"]) is (variant == "Custom")
    filled = {f"deployment.{section}.{field}" for section, fields in deployment.items() for field in fields}
    assert not filled & set(made_card["registry_to_fill_in"])


@pytest.mark.parametrize("name", RELEASES)
def test_numbers_are_exact_or_rounded_up(name: str) -> None:
    release = RELEASES[name]
    made_card = release.card().to_dict()
    cost = release.guarantee.cost
    for field, value in made_card["registry"]["deployment"]["privacy_loss"]["privacy_parameters"].items():
        exact = getattr(cost, field)
        assert Fraction(value) >= exact
        assert value == pytest.approx(float(exact), rel=1e-15)
    assert Fraction(made_card["paid"]["rho"]) == release.paid.rho
    assert Guarantee.from_dict(made_card["guarantee"]["exact"]) == release.guarantee


def test_a_card_names_no_item() -> None:
    card = made(("a very secret article",), counts=True).card()
    assert "secret" not in card.to_json() + card.to_markdown() + str(card) + repr(card)


def test_the_forms_of_a_card_say_the_same() -> None:
    card = RELEASES["counts"].card()
    assert json.loads(card.to_json()) == card.to_dict()
    assert str(card) == card._repr_markdown_() == card.to_markdown()
    assert card == RELEASES["counts"].card() != RELEASES["set"].card()


def test_what_the_card_says() -> None:
    made_card = RELEASES["counts"].card().to_dict()
    assert made_card["software"] == {"name": "podium", "version": podium.__version__}
    assert made_card["result"] == {
        "k": 2,
        "per": [],
        "lists": 1,
        "items_returned": 2,
        "complete": True,
        "ordered": True,
        "values": "counts",
        "ranked_by": "users",
        "counting": "Each user counts once for each item.",
        "margin": {
            "plus_or_minus": "40",
            "confidence": "19/20",
            "noise": "discrete Gaussian, sigma 20",
            "holds_after_selection": True,
        },
    }
    assert RELEASES["biased counts"].card().to_dict()["result"]["margin"]["holds_after_selection"] is False
    assert RELEASES["free"].card().to_dict()["paid"]["ledger_entry"] == "ab" * 32
    bounded = RELEASES["bounded"].card().to_dict()["registry"]["deployment"]["implementation"]
    assert bounded["preprocessing_and_hyperparameter_tuning"] == (
        "Each user counts for at most 7 items. No parameter was tuned on the data by podium."
    )


def test_a_card_by_an_amount_says_how_much_of_a_user_counts_and_that_the_clip_was_chosen() -> None:
    release = RELEASES["by an amount"]
    deployment = release.card().to_dict()["registry"]["deployment"]
    tuned = deployment["implementation"]["preprocessing_and_hyperparameter_tuning"]
    assert tuned.startswith("The ranking and the values count at most 45 minutes per user and item.")
    assert "The clip was chosen on the data" in tuned
    assert "added up for each item is minutes" in deployment["dp_variant"]["data_domain"]
    assert (
        "The ranking and the values count at most 45 minutes"
        in {section.title: section.text for section in explanation(release)}["What was run and paid"]
    )
    stated = replace(release, parameters={**release.parameters, "rho_clip": "None"})
    deployment = stated.card().to_dict()["registry"]["deployment"]
    assert deployment["implementation"]["preprocessing_and_hyperparameter_tuning"].endswith(
        "No parameter was tuned on the data by podium."
    )


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("selection", "| came back | 2 of k=5 items, in order |"),
        ("set", "| came back | 2 of k=2 items, as a set, in no particular order |"),
        ("selection", "| margin | no counts were released |"),
        ("selection", "| counting | Each user counts once for each item. |"),
        (
            "by an amount",
            f"| counting | The ranking and the values count at most 45 minutes per user and item.{HELD} |",
        ),
        ("by an amount", "| came back | 2 of k=2 items, in order, with noisy sums |"),
        ("selection", "| unit of privacy | one user, with all their rows |"),
        (
            "counts",
            "| margin | ± 40 with 95% confidence for each count (discrete Gaussian, sigma 20; kept after selection) |",
        ),
        ("unknown noise", "| margin | the release does not say how noisy its counts are |"),
        ("free", "| paid | nothing, because it was paid for before |"),
        ("selection", f"| software | podium {podium.__version__} |"),
        ("selection", "- `deployment.basic.data_curators`"),
    ],
)
def test_the_card_for_people(name: str, line: str) -> None:
    assert line in RELEASES[name].card().to_markdown().split("\n")


def test_markdown_cannot_be_broken_by_a_parameter() -> None:
    release: Release = replace(RELEASES["selection"], theorem="a | b\n# <script>`x`")
    (line,) = [line for line in release.card().to_markdown().split("\n") if line.startswith("| theorem")]
    assert line == "| theorem | a \\| b # \\<script>\\`x\\` |"


def test_a_card_of_lists_for_groups_counts_them_and_names_none() -> None:
    for release in (counted_lists(), grouped_release(), grouped_release({})):
        made_card = release.card().to_dict()
        check(made_card, card_schema())
        assert (made_card["result"]["per"], made_card["result"]["lists"]) == (["country"], len(release.lists))
        assert not any(group in json.dumps(made_card) for group in ("DE", "FR", "IT", "bold"))
    card = counted_lists().card()
    assert "5 items in 3 lists of at most k=3, one for each value of country, in order, with noisy counts" in str(card)
    tuning = card.to_dict()["registry"]["deployment"]["implementation"]["preprocessing_and_hyperparameter_tuning"]
    assert "Each `user_id` counts in at most 2 values of country." in tuning
    assert "(user, group, item)" in card.to_dict()["registry"]["deployment"]["dp_variant"]["data_domain"]


def test_an_explanation_of_lists_for_groups() -> None:
    texts = {section.title: section.text for section in explanation(counted_lists())}
    fewer = texts["Why there may be fewer than k items"]
    assert fewer.startswith("2 of 3 lists have fewer than 3")
    assert "one in which nothing stands out is not shown" in fewer
    assert "Each `user_id` counts in at most 2 values of country." in texts["What was run and paid"]
    assert "for all groups together" in texts["What was run and paid"]
