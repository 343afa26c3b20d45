"""Request bodies, as OpenAPI shows them. The library checks their meaning, with better messages."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from podium.ledger import Budget
from podium.ledger.budget import DEFAULT_ITEMS, DEFAULT_QUESTIONS
from podium.query.batch_question import MAX_BATCH
from podium.wire.request import QuestionRequest

__all__ = ["BatchBody", "BudgetBody", "DataVersionBody", "QuestionBody", "RegistrationBody", "TokenBody", "UnlockBody"]

_Number: TypeAlias = (
    Annotated[StrictStr, Field(max_length=64, pattern=r"^[0-9./]+([eE]-?[0-9]{1,3})?$")] | StrictInt | StrictFloat
)
_Amount: TypeAlias = (
    Annotated[StrictStr, Field(max_length=64, pattern=r"^-?[0-9./]+([eE]-?[0-9]{1,3})?$")] | StrictInt | StrictFloat
)
_Text = Annotated[StrictStr, Field(min_length=1, max_length=200)]
_Scalar: TypeAlias = StrictStr | StrictInt | StrictBool
_DomainItem: TypeAlias = _Scalar | list[_Scalar]


class _Body(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")


class QuestionBody(_Body):
    """The top k of a column, the same as SQL, or a ranking from comparisons."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"item": "article", "k": 10, "where": "country = 'DE'"},
                {"item": "article", "per": "country", "k": 5},
                {"item": "track", "k": 10, "by": "sum(minutes)", "unit": "0.1"},
                {"sql": "SELECT article, COUNT(DISTINCT user_id) AS n FROM views GROUP BY article ORDER BY n DESC "
                        "LIMIT 10"},
            ]
        },
    )  # fmt: skip

    item: _Text | Annotated[list[_Text], Field(min_length=1, max_length=16)] | None = Field(
        None, description="Column to rank, or several."
    )
    per: _Text | Annotated[list[_Text], Field(min_length=1, max_length=16)] | None = Field(
        None, description="A list for each value of this column, or for each combination of several."
    )
    join: _Text | Annotated[list[_Text], Field(min_length=1, max_length=8)] | None = Field(
        None, description="Names of declared tables, whose columns the question may use; SQL says JOIN ... USING."
    )
    groups: _Text | Annotated[list[_DomainItem], Field(min_length=1, max_length=100_000)] | None = Field(
        None,
        description="The values of per, if they are known: each of them is shown. Dates are text. Or the name of a "
        "declared public table that lists them.",
    )
    groups_per_user: Annotated[StrictInt, Field(ge=1, le=10**9)] | Literal["all"] | None = Field(
        None, description="In how many groups one user counts; default 1. All groups together cost as much."
    )
    table: _Text | None = Field(None, description="Which table, of several with the same users; in SQL, FROM names it.")
    k: Annotated[StrictInt, Field(ge=1, le=10_000)] | None = Field(None, description="Number of items; default 10.")
    sql: StrictStr | None = Field(None, description="The question as SQL, instead of item and k.")
    where: StrictStr | list[StrictStr] | None = Field(None, description="Filter on rows; of several, all must hold.")
    by: Annotated[StrictStr, Field(max_length=300)] = Field(
        "users", description="What ranks items: users (distinct), events (rows), or sum(COLUMN)."
    )
    clip: _Number | Annotated[list[_Amount], Field(min_length=2, max_length=2)] | None = Field(
        None,
        description="The most that one user adds to one item, or [-a, b] for signed sums; by default chosen privately.",
    )
    unit: _Number | None = Field(None, description="What summed values are rounded down to.")
    epsilon: _Number | None = Field(None, description="Total for this release; default: the owner's plan.")
    counts: StrictBool = Field(False, description="Also estimate the value of each item, in the units of by.")
    others: StrictBool = Field(
        False, description="Also the users with none of the items, or what all other items have, and the total."
    )
    at_least: _Number | None = Field(
        None, description="Leave out items with less, in the units of by: near, not exact."
    )
    max_items_per_user: Annotated[StrictInt, Field(ge=1, le=10**9)] | None = None
    domain: list[_DomainItem] | None = Field(None, description="The items, if they are known.")
    domain_size: Annotated[StrictInt, Field(ge=1, le=2**63 - 1)] | None = Field(
        None, description="The items are the integers from 0 to domain_size - 1."
    )
    k_bar: Annotated[StrictInt, Field(ge=1, le=10**6)] | None = None
    mechanism: Annotated[StrictStr, Field(max_length=64)] = "auto"

    ordered: StrictBool = Field(True, description="False: release an unordered set.")
    winner: _Text | None = Field(None, description="For a ranking from comparisons: column of the preferred item.")
    loser: _Text | None = Field(None, description="Column of the item it was preferred to.")
    comparisons_per_pair: Annotated[StrictInt, Field(ge=1, le=10**9)] | None = Field(
        None, description="Expected number of users who prefer one item of a pair to the other."
    )
    items: list[_Scalar] | None = Field(None, description="Items that can be compared: all their pairs count.")
    pairs: list[list[_Scalar]] | None = Field(None, description="Pairs that can be compared.")
    max_comparisons_per_user: Annotated[StrictInt, Field(ge=1, le=10**9)] | None = None
    method: Annotated[StrictStr, Field(max_length=64)] | None = None
    scores: StrictBool = Field(False, description="Also measure the score of each item of a ranking.")
    mixing: _Number | None = None
    normalisation: Annotated[StrictInt, Field(ge=1, le=10**9)] | None = None

    def request(self) -> QuestionRequest:
        """The question."""
        return QuestionRequest.of(**self.model_dump(exclude_unset=True))


class BatchBody(_Body):
    """Several questions, which are admitted together or not at all."""

    questions: Annotated[list[QuestionBody], Field(min_length=1, max_length=MAX_BATCH)]

    def requests(self) -> list[QuestionRequest]:
        """The questions."""
        return [body.request() for body in self.questions]


class BudgetBody(_Body):
    """A total, and the owner's plan for spending it."""

    epsilon: _Number
    delta: _Number | None = None
    items: Annotated[StrictInt, Field(ge=1, le=10**9)] = DEFAULT_ITEMS
    questions: Annotated[StrictInt, Field(ge=1, le=10**9)] = DEFAULT_QUESTIONS
    epsilon_per_analyst: _Number | None = None
    delta_per_analyst: _Number | None = None
    max_questions: Annotated[StrictInt, Field(ge=1, le=10**10)] | None = Field(
        None, description="Hard limit on questions; default ten times questions."
    )
    filter: Literal["auto", "zcdp", "gaussian"] = Field(
        "zcdp", description="How charges add up; auto takes what holds more of the planned items."
    )

    def budget(self) -> Budget:
        """The budget."""
        values: dict[str, Any] = self.model_dump()
        return Budget(**values)


class RegistrationBody(_Body):
    """A file of the registration folder, and its name as a data set."""

    name: _Text
    source: _Text
    user: _Text | Annotated[list[_Text], Field(min_length=1, max_length=16)]
    budget: BudgetBody


class DataVersionBody(_Body):
    """A new label for the data."""

    data_version: _Text
    table: _Text | None = Field(None, description="Only this table, of several with the same users.")


class UnlockBody(_Body):
    """Who to unlock."""

    analyst: _Text | None = Field(None, description="Only this analyst; default: everybody.")


class TokenBody(_Body):
    """A token to issue."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"name": "ana", "role": "analyst", "datasets": ["views"], "days": 90}]},
    )

    name: _Text
    role: _Text
    datasets: Annotated[list[_Text], Field(min_length=1, max_length=100)]
    days: Annotated[StrictInt, Field(ge=1, le=3_650)] = 90
