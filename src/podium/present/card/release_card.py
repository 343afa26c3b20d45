"""Release cards: what someone who publishes a release must say about it, as JSON and as Markdown.

A card has three parts: what podium knows exactly (numbers as text, so that nothing is rounded), the same in the fields
of the public registry of differential privacy deployments, and the names of those fields that only the publisher can
fill in. It holds no item. ``card_schema`` is its JSON schema; ``CARD_VERSION`` changes when a field changes its meaning
or goes.

The registry's data and schema are in github.com/opendp/deployments-registry-data. The fields are those of its records
in September 2026: basic, dp_variant, privacy_loss, deployment_model, accounting, implementation, administrative. Its
numbers are JSON numbers, so they are rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from podium.exact import float_above
from podium.present.all_lists import all_items, counting_sentence
from podium.present.beside_groups import beside_remarks
from podium.present.intervals import margin_of
from podium.present.measures import shown_measure
from podium.present.text.names import markdown_text
from podium.present.text.release_text import mechanism_text, paid_sentence
from podium.present.user_shares import list_remarks
from podium.privacy import encode_event
from podium.privacy.documents import Document
from podium.privacy.guarantee import unit_name
from podium.privacy.rounding import display
from podium.release import GroupedRelease, Release
from podium.version import __version__

__all__ = ["CARD_VERSION", "Card"]

CARD_VERSION: Final = 1

_NEIGHBOURS: Final = (
    "Two tables are neighbours if one has the rows of exactly one more user. A user is a distinct value of the column "
    "that was named as the user; people with several such values are protected for each of them."
)
_DOMAIN: Final = "Tables of rows (user, item); what is counted is the number of distinct users of each item."
_MEASURED_DOMAIN: Final = (
    "Tables of rows (user, item) with an amount; what is added up for each item is {noun}, at most a fixed amount of "
    "each user."
)
_UNPROTECTED: Final = (
    "The question, k, the mechanism and its parameters, the names and types of columns, and how long an answer takes."
)
_SAMPLING: Final = (
    "Noise is drawn exactly: from the operating system's secure random bits, with comparisons decided in exact or "
    "interval arithmetic, so floating point cannot change what is released."
)
_TO_FILL_IN: Final = (
    "deployment.basic.name",
    "deployment.basic.data_curators",
    "deployment.basic.intended_use",
    "deployment.basic.data_product_region",
    "deployment.basic.description",
    "deployment.basic.publication_date",
    "deployment.deployment_model.actors",
    "deployment.deployment_model.release_type",
    "deployment.deployment_model.data_source_type",
    "deployment.deployment_model.access_type",
    "deployment.implementation.justification",
    "deployment.administrative.sources",
    "deployment.administrative.registry_authors",
)


@dataclass(frozen=True, slots=True)
class Card(Document):
    """What must be said about one release. The same release and version of podium give the same card."""

    release: Release = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The card as a JSON object, which keeps ``card_schema``."""
        return _document(self.release)

    def to_markdown(self) -> str:
        """The card for people."""
        return _markdown(self.release)

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def _document(release: Release) -> dict[str, Any]:
    return {
        "card": "podium release card",
        "version": CARD_VERSION,
        "software": {"name": "podium", "version": __version__},
        "guarantee": _guarantee(release),
        "unit": {"protected": _unit(release), "neighbours": _NEIGHBOURS},
        "mechanism": {
            "name": release.mechanism,
            "parameters": dict(release.parameters),
            "theorem": release.theorem,
        },
        "paid": _paid(release),
        "result": _result(release),
        "registry": {"deployment": _registry(release)},
        "registry_to_fill_in": list(_TO_FILL_IN),
    }


def _unit(release: Release) -> str:
    which = "one" if isinstance(release.user, tuple) else "one value of the column"
    named = "" if release.user is None else f" ({which} {unit_name(release.user)})"
    return f"one user{named}, with all their rows"


def _guarantee(release: Release) -> dict[str, Any]:
    cost = release.guarantee.cost
    return {
        "sentence": release.promise,
        "variant": _variant(release),
        "epsilon": None if cost.epsilon is None or release.guarantee.profiles else str(cost.epsilon),
        "rho": None if release.guarantee.rho is None else str(release.guarantee.rho),
        "delta": None if release.guarantee.profiles else str(cost.delta),
        "exact": release.guarantee.to_dict(),
    }


def _paid(release: Release) -> dict[str, Any]:
    cost = release.paid.cost
    return {
        "sentence": paid_sentence(release),
        "epsilon": None if cost.epsilon is None else str(cost.epsilon),
        "rho": str(cost.rho),
        "delta": str(cost.delta),
        "events": [encode_event(event) for event in release.paid.events],
        "ledger_entry": release.paid.entry,
    }


def _result(release: Release) -> dict[str, Any]:
    margin = margin_of(release)
    return {
        "k": release.k,
        "per": list(release.per) if isinstance(release, GroupedRelease) else [],
        "lists": len(release.lists) if isinstance(release, GroupedRelease) else 1,
        "items_returned": len(all_items(release).items if isinstance(release, GroupedRelease) else release.items),
        "complete": release.complete,
        "ordered": release.ordered,
        "values": release.value_kind,
        "ranked_by": release.parameters.get("by", "users"),
        "counting": shown_measure(release).clip or "Each user counts once for each item.",
        "margin": None
        if margin is None
        else {
            "plus_or_minus": str(margin.width),
            "confidence": str(margin.confidence),
            "noise": margin.law,
            "holds_after_selection": margin.fresh,
        },
    }


def _variant(release: Release) -> str:
    """The registry's name for the kind of guarantee."""
    guarantee = release.guarantee
    if guarantee.profiles:
        return "Custom"
    if guarantee.cost.epsilon is not None:
        return "Approximate DP" if guarantee.cost.delta else "Pure DP"
    return "Custom" if guarantee.cost.delta else "Zero-concentrated DP"


def _registry(release: Release) -> dict[str, Any]:
    variant: dict[str, str] = {"variant_name": _variant(release)}
    if variant["variant_name"] == "Custom":
        variant |= {
            "input_metric": "number of users whose rows were added or removed",
            "bound_on_input_distance": "1",
            "output_measure": "privacy profile, or approximate zero-concentrated divergence",
            "bound_on_output_distance": release.promise,
        }
    return {
        "basic": {"data_product_type": "Summary statistics"},
        "dp_variant": {**variant, "data_domain": _domain(release), "unprotected_quantities": _UNPROTECTED},
        "privacy_loss": {
            "privacy_unit": "User-level",
            "privacy_unit_details": _NEIGHBOURS,
            "privacy_parameters": _rounded(release),
            "privacy_parameters_details": f"Of this release: {release.promise}. Numbers are rounded up.",
        },
        "deployment_model": {
            "model_name": "Central",
            "model_name_details": "The process that runs podium and the database are trusted; readers are not.",
        },
        "accounting": {
            "post_processing": "None that uses data: what is shown follows from what was selected and measured.",
            "composition": release.theorem,
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": _preprocessing(release),
            "mechanisms": f"{mechanism_text(release)}, by podium {__version__}. {_SAMPLING}",
        },
        "administrative": {},
    }


def _rounded(release: Release) -> dict[str, float]:
    """What the guarantee is stated in, as JSON numbers that are never below it."""
    if release.guarantee.profiles:
        return {}
    cost = release.guarantee.cost
    numbers: dict[str, Fraction] = {}
    if cost.epsilon is not None:
        numbers["epsilon"] = cost.epsilon
    if cost.epsilon is None or cost.rho < cost.epsilon**2 / 2:
        numbers["rho"] = cost.rho
    if cost.delta:
        numbers["delta"] = cost.delta
    return {name: float_above(value) for name, value in numbers.items()}


def _domain(release: Release) -> str:
    measure = shown_measure(release)
    domain = _MEASURED_DOMAIN.format(noun=measure.noun) if "by" in release.parameters else _DOMAIN
    return domain.replace("(user, item)", "(user, group, item)") if isinstance(release, GroupedRelease) else domain


def _preprocessing(release: Release) -> str:
    parameters = release.parameters
    most = parameters.get("max_items_per_user", "None")
    bounded = [] if most == "None" else [f"Each user counts for at most {most} items."]
    bounded.extend(list_remarks(release))
    if isinstance(release, GroupedRelease):
        bounded.extend(beside_remarks(release))
    if isinstance(release, GroupedRelease) and (counting := counting_sentence(release)):
        bounded.append(counting)
    if not bounded:
        bounded.append("None: the number of items of a user is not bounded.")
    tuned = "No parameter was tuned on the data by podium."
    if parameters.get("rho_clip", "None") != "None":
        tuned = "The clip was chosen on the data, by a private selection that the guarantee and the price include."
    return " ".join((*bounded, tuned))


def _markdown(release: Release) -> str:
    made = _document(release)
    result = made["result"]
    rows = [
        ("guarantee", made["guarantee"]["sentence"]),
        ("kind", made["guarantee"]["variant"]),
        ("unit of privacy", made["unit"]["protected"]),
        ("neighbours", _NEIGHBOURS),
        ("paid", made["paid"]["sentence"]),
        ("ledger entry", made["paid"]["ledger_entry"] or "not stated in this release"),
        ("mechanism", mechanism_text(release)),
        ("theorem", release.theorem),
        ("came back", _came_back(result)),
        ("counting", result["counting"]),
        ("margin", _margin_text(result)),
        ("not protected", _UNPROTECTED),
        ("software", f"podium {__version__}"),
    ]
    table = "\n".join(f"| {name} | {markdown_text(text)} |" for name, text in rows)
    fill_in = "\n".join(f"- `{name}`" for name in _TO_FILL_IN)
    return (
        f"# Release card\n\n| | |\n|---|---|\n{table}\n\n"
        "For the public registry of differential privacy deployments the publisher adds:\n\n"
        f"{fill_in}\n"
    )


def _came_back(result: dict[str, Any]) -> str:
    order = "in order" if result["ordered"] else "as a set, in no particular order"
    noisy = "counts" if result["ranked_by"] in ("users", "events") else "sums"
    values = {"counts": f", with noisy {noisy}", "gaps": ", with noisy gaps", None: ""}[result["values"]]
    if result["per"]:
        many = f"{result['items_returned']:,} items in {result['lists']:,} lists of at most k={result['k']}"
        return f"{many}, one for each value of {' and '.join(result['per'])}, {order}{values}"
    return f"{result['items_returned']} of k={result['k']} items, {order}{values}"


def _margin_text(result: dict[str, Any]) -> str:
    margin = result["margin"]
    if margin is None:
        unknown = "the release does not say how noisy its counts are"
        return unknown if result["values"] == "counts" else "no counts were released"
    held = "kept after selection" if margin["holds_after_selection"] else "before selection only"
    confidence = float(100 * Fraction(margin["confidence"]))
    width = display(Fraction(margin["plus_or_minus"]))
    return f"± {width} with {confidence:g}% confidence for each count ({margin['noise']}; {held})"
