"""The bodies of requests, as OpenAPI shows them. Meaning is checked by the library, whose messages are better."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from podium.ledger import Budget
from podium.wire.request import QuestionRequest

__all__ = ["BudgetBody", "DataVersionBody", "QuestionBody", "RegistrationBody", "TokenBody", "UnlockBody"]

_Number: TypeAlias = (
    Annotated[StrictStr, Field(max_length=64, pattern=r"^[0-9./]+([eE]-?[0-9]{1,3})?$")] | StrictInt | StrictFloat
)
_Text = Annotated[StrictStr, Field(min_length=1, max_length=200)]
_Scalar: TypeAlias = StrictStr | StrictInt | StrictBool
_DomainItem: TypeAlias = _Scalar | list[_Scalar]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class QuestionBody(_Body):
    """The top k of a column, SQL that means the same, or a ranking from comparisons."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"item": "article", "k": 10, "where": "country = 'DE'"},
                {"sql": "SELECT article, COUNT(DISTINCT user_id) AS n FROM views GROUP BY article ORDER BY n DESC "
                        "LIMIT 10"},
            ]
        },
    )  # fmt: skip

    item: _Text | Annotated[list[_Text], Field(min_length=1, max_length=16)] | None = Field(
        None, description="The column to rank, or several."
    )
    k: Annotated[StrictInt, Field(ge=1, le=10_000)] | None = Field(None, description="How many items; 10 if not given.")
    sql: StrictStr | None = Field(None, description="The question as SQL, instead of item and k.")
    where: StrictStr | list[StrictStr] | None = Field(None, description="Which rows count; of several, all must hold.")
    epsilon: _Number | None = Field(None, description="A total for this release; else the owner's plan decides.")
    counts: StrictBool = Field(False, description="Also measure how many users each item has.")
    max_items_per_user: Annotated[StrictInt, Field(ge=1, le=10**9)] | None = None
    domain: list[_DomainItem] | None = Field(None, description="The items, where they are known beforehand.")
    domain_size: Annotated[StrictInt, Field(ge=1, le=2**63 - 1)] | None = Field(
        None, description="The items are the numbers from 0 on."
    )
    k_bar: Annotated[StrictInt, Field(ge=1, le=10**6)] | None = None
    mechanism: Annotated[StrictStr, Field(max_length=64)] = "auto"

    ordered: StrictBool = Field(True, description="False: the order of the items does not matter.")
    winner: _Text | None = Field(None, description="A ranking from comparisons instead: the column of those preferred.")
    loser: _Text | None = Field(None, description="The column of those that were not.")
    comparisons_per_pair: Annotated[StrictInt, Field(ge=1, le=10**9)] | None = Field(
        None, description="How many users are expected to prefer one item of a pair to the other."
    )
    items: list[_Scalar] | None = Field(None, description="What can be compared: all pairs of these.")
    pairs: list[list[_Scalar]] | None = Field(None, description="What can be compared: these pairs.")
    max_comparisons_per_user: Annotated[StrictInt, Field(ge=1, le=10**9)] | None = None
    method: Annotated[StrictStr, Field(max_length=64)] | None = None
    mixing: _Number | None = None
    normalisation: Annotated[StrictInt, Field(ge=1, le=10**9)] | None = None

    def request(self) -> QuestionRequest:
        """The question."""
        return QuestionRequest.of(**self.model_dump(exclude_unset=True))


class BudgetBody(_Body):
    """A total, and the plan of the owner."""

    epsilon: _Number
    delta: _Number | None = None
    items: Annotated[StrictInt, Field(ge=1, le=10**9)]
    questions: Annotated[StrictInt, Field(ge=1, le=10**9)]
    epsilon_per_analyst: _Number | None = None
    delta_per_analyst: _Number | None = None
    max_questions: Annotated[StrictInt, Field(ge=1, le=10**10)] | None = Field(
        None, description="No more are answered; ten times as many as questions if not given."
    )

    def budget(self) -> Budget:
        """The budget."""
        values: dict[str, Any] = self.model_dump()
        return Budget(**values)


class RegistrationBody(_Body):
    """A file of the registration folder, under a name."""

    name: _Text
    source: _Text
    user: _Text
    budget: BudgetBody


class DataVersionBody(_Body):
    """A new label for the data."""

    data_version: _Text


class UnlockBody(_Body):
    """Who may ask again."""

    analyst: _Text | None = Field(None, description="Only this analyst; everybody if not given.")


class TokenBody(_Body):
    """A token to be made."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"name": "ana", "role": "analyst", "datasets": ["views"], "days": 90}]},
    )

    name: _Text
    role: _Text
    datasets: Annotated[list[_Text], Field(min_length=1, max_length=100)]
    days: Annotated[StrictInt, Field(ge=1, le=3_650)] = 90
