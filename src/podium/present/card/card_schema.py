"""The JSON schema of release cards (draft 2020-12): what each field means, and which are always there."""

from __future__ import annotations

from typing import Any, Final

from podium.present.card.release_card import CARD_VERSION

__all__ = ["card_schema"]

_EXACT: Final = "An exact number as text: an integer or a ratio of two."
_NUMBER: Final = {"type": "string", "pattern": r"^\d+(/\d+)?$", "description": _EXACT}
_MAYBE: Final = {"type": ["string", "null"], "pattern": r"^\d+(/\d+)?$", "description": f"{_EXACT} Or null."}
_TEXT: Final = {"type": "string"}


def card_schema() -> dict[str, Any]:
    """A new copy of the schema that every card of this version keeps."""
    schema = _object(
        "What must be said about a differentially private release. It holds no item.",
        card={"const": "podium release card"},
        version={"const": CARD_VERSION, "description": "Changes when a field changes its meaning or goes."},
        software=_object("What made the release.", name=_TEXT, version=_TEXT),
        guarantee=_guarantee(),
        unit=_object("Who is protected.", protected=_TEXT, neighbours=_TEXT),
        mechanism=_mechanism(),
        paid=_paid(),
        result=_result(),
        registry=_registry(),
        registry_to_fill_in={
            "type": "array",
            "items": _TEXT,
            "description": "Fields of the registry that only the publisher can fill in.",
        },
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "podium release card", **schema}


def _object(description: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _guarantee() -> dict[str, Any]:
    return _object(
        "What holds whatever came out; null where the guarantee has no such number.",
        sentence=_TEXT,
        variant={"enum": ["Pure DP", "Approximate DP", "Zero-concentrated DP", "Custom"]},
        epsilon=_MAYBE,
        rho=_MAYBE,
        delta=_MAYBE,
        exact={"type": "object", "description": "What Guarantee.from_dict reads."},
    )


def _mechanism() -> dict[str, Any]:
    return _object(
        "What was run.",
        name=_TEXT,
        parameters={"type": "object", "additionalProperties": _TEXT, "description": "Exact, as text."},
        theorem={"type": "string", "description": "Author, year and number of what proves the guarantee."},
    )


def _paid() -> dict[str, Any]:
    return _object(
        "What this answer cost; nothing if it had been paid for before.",
        sentence=_TEXT,
        epsilon=_MAYBE,
        rho=_NUMBER,
        delta=_NUMBER,
        events={"type": "array", "items": {"type": "object"}, "description": "What decode_event reads."},
        ledger_entry={"type": ["string", "null"], "description": "Hash under which a ledger settled it."},
    )


def _result() -> dict[str, Any]:
    margin = _object(
        "How far each true count may be from the released one.",
        plus_or_minus=_NUMBER,
        confidence=_NUMBER,
        noise=_TEXT,
        holds_after_selection={"type": "boolean", "description": "False: lucky noise helped to be selected."},
    )
    return _object(
        "What came back, without the items.",
        k={"type": "integer"},
        per={"type": "array", "items": _TEXT, "description": "Group columns, each value with a list of its own."},
        lists={"type": "integer", "description": "How many lists; 1 without group columns."},
        items_returned={"type": "integer"},
        complete={"type": "boolean"},
        ordered={"type": "boolean"},
        values={"enum": ["counts", "gaps", None]},
        ranked_by={"type": "string", "description": "users, events or sum(COLUMN)."},
        counting={"type": "string", "description": "How much of each user counts, in a sentence."},
        margin={**margin, "type": ["object", "null"]},
    )


def _registry() -> dict[str, Any]:
    sections = {
        name: {"type": "object"}
        for name in (
            "basic", "dp_variant", "privacy_loss", "deployment_model", "accounting", "implementation", "administrative",
        )
    }  # fmt: skip
    return _object(
        "The part of a record of the registry of deployments that podium can fill in.",
        deployment=_object("Fields as the registry names them; numbers are rounded up.", **sections),
    )
