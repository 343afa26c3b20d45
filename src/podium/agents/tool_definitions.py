"""The tools as an agent sees them: names, texts and schemas, which are the same for every data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

__all__ = ["INSTRUCTIONS", "QUESTION_FIELDS", "TOOLS", "ToolDefinition"]

INSTRUCTIONS: Final = """\
podium answers one kind of question about private tables: what are the top k? Answers protect every single user of the
table (differential privacy), and each new answer spends some of a limited budget. Spent budget never comes back.
Order of calls: list_datasets, describe_dataset, plan_question (free, says the price), then ask_question with the plan.
Repeating a question returns the same answer free of charge: noise cannot be averaged away. Items may be missing, and
values are estimates with intervals: report them as such, together with the guarantee that each answer states.
"""

_NAME: Final = {"type": "string", "minLength": 1, "maxLength": 200}
_NAMES: Final = {"anyOf": [_NAME, {"type": "array", "items": _NAME, "minItems": 1, "maxItems": 16}]}
_NUMBER: Final = {"type": ["string", "number"], "description": 'A number, or an exact one as text, such as "0.1".'}
_SCALAR: Final = {"type": ["string", "integer", "boolean"]}

QUESTION_FIELDS: Final[dict[str, Any]] = {
    "item": {**_NAMES, "description": "Column to rank, or several whose values together are one item."},
    "sql": {
        "type": "string",
        "maxLength": 20_000,
        "description": "The question as SQL instead of item: SELECT item, COUNT(DISTINCT user) AS n FROM dataset "
        "[WHERE ...] GROUP BY item ORDER BY n DESC LIMIT k.",
    },
    "table": {**_NAME, "description": "Which table, where describe_dataset lists several; in SQL, FROM names it."},
    "join": {**_NAMES, "description": "Tables that describe_dataset lists under joins, whose columns are wanted too."},
    "k": {"type": "integer", "minimum": 1, "maximum": 10_000, "description": "Number of items; default 10."},
    "by": {
        "type": "string",
        "maxLength": 300,
        "description": 'What ranks items: "users" (distinct users, the default), "events" (rows) or "sum(COLUMN)".',
    },
    "per": {**_NAMES, "description": "A list for each value of this column; all lists together cost what one costs."},
    "groups": {
        "anyOf": [{"type": "array", "items": _SCALAR, "maxItems": 10_000}, {"type": "string", "maxLength": 200}],
        "description": "The values of per, if known, or the name of a declared public table that lists them.",
    },
    "where": {
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "maxItems": 20}],
        "description": "A condition on rows, such as country = 'DE'; of several, all must hold.",
    },
    "counts": {"type": "boolean", "description": "Also estimate the value of each item. Shares the price."},
    "others": {"type": "boolean", "description": "Also a line for all others, and the total."},
    "at_least": {**_NUMBER, "description": "Leave out items with less, near but not exactly."},
    "ordered": {"type": "boolean", "description": "False if the order does not matter."},
    "clip": {**_NUMBER, "description": "With events and sums: the most that one user adds to one item."},
    "unit": {**_NUMBER, "description": "With sums: what values are rounded down to."},
    "domain": {
        "type": "array",
        "items": _SCALAR,
        "maxItems": 10_000,
        "description": "The items that can come back, if they are known; a known domain is answered better.",
    },
    "max_items_per_user": {"type": "integer", "minimum": 1, "description": "Count at most so many items per user."},
    "epsilon": {**_NUMBER, "description": "The privacy loss of this answer; default: what the owner planned."},
}

_DATASET: Final = {**_NAME, "description": "A name from list_datasets."}


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool: its texts, the properties of its arguments, and whether it spends anything."""

    name: str
    title: str
    description: str
    properties: dict[str, Any]
    required: tuple[str, ...] = ()
    spends: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": self.properties,
            "required": list(self.required),
            "additionalProperties": False,
        }


TOOLS: Final = (
    ToolDefinition("list_datasets", "List data sets", "The names of the data sets that you may ask about. Free.", {}),
    ToolDefinition(
        "describe_dataset",
        "Describe a data set",
        "The columns of a data set with their types, and who is protected. Free.",
        {"dataset": _DATASET},
        ("dataset",),
    ),
    ToolDefinition(
        "plan_question",
        "Plan a question",
        "What a question would do and cost, without reading a row. Free. The answer has the id of the plan, which "
        "ask_question needs; it can be asked once, within ten minutes.",
        {"dataset": _DATASET, **QUESTION_FIELDS},
        ("dataset",),
    ),
    ToolDefinition(
        "ask_question",
        "Ask a planned question",
        "Answer a planned question. Spends budget, at most what the plan said, and cannot be undone. A question that "
        "was answered before on the same data is free.",
        {"plan": {**_NAME, "description": "The id that plan_question gave."}},
        ("plan",),
        spends=True,
    ),
    ToolDefinition(
        "show_budget",
        "Show the budget",
        "What of a data set's budget is spent and left, as far as you may see it. Free.",
        {"dataset": _DATASET},
        ("dataset",),
    ),
    ToolDefinition(
        "explain_answer",
        "Explain an answer",
        "What an answer means in plain words: who is protected, from what, how well, and what is not covered. Without "
        "arguments in general, with dataset and entry for one answer. Free.",
        {"dataset": _DATASET, "entry": {**_NAME, "description": "The entry that an answer names."}},
    ),
)
