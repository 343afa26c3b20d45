"""Asking: from what a caller wrote to a question with its plan. Only public facts, and no row, are touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from podium.errors import InvalidArgument
from podium.histogram import Item
from podium.mechanisms import AdaptiveTopK, GaussianSparseHistogram
from podium.mechanisms.weights import Weights
from podium.planning.facts import Facts
from podium.planning.planner import Allowance, GaussianAllowance, Plan, plan_for
from podium.query import Question, parse_conditions
from podium.randomness import system_bits
from podium.ranking import RankingMethod
from podium.sources import CountQuery, Domain, DomainFile, DomainItems, DomainSize, DomainTable, Source

__all__ = ["SHOWN_SALT", "Asked", "Calibrate", "Options", "Preview", "ask", "checked", "column_name", "question_about"]

_SALT_BYTES = 32
SHOWN_SALT = "0" * 2 * _SALT_BYTES
"""What stands in place of a salt where nothing is read."""

Calibrate: TypeAlias = Callable[[Facts], Allowance | GaussianAllowance]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a caller may add to a question, as written."""

    counts: bool = False
    max_items_per_user: int | None = None
    domain: object = None
    domain_size: int | None = None
    k_bar: int | None = None
    mechanism: str = "auto"

    def stated_domain(self) -> Domain | None:
        """The domain that the caller means."""
        if self.domain is not None and self.domain_size is not None:
            raise InvalidArgument("domain_size", self.domain_size, allowed="None where domain is given")
        if self.domain_size is not None:
            return DomainSize(self.domain_size)
        if self.domain is None or isinstance(self.domain, (DomainSize, DomainItems, DomainTable, DomainFile)):
            return self.domain
        if isinstance(self.domain, (str, Path)):
            return DomainFile(self.domain)
        # A frame would be read as the names of its columns, bytes as numbers.
        if isinstance(self.domain, (bytes, Mapping)) or not isinstance(self.domain, Iterable) or _is_frame(self.domain):
            raise InvalidArgument(
                "domain", type(self.domain).__name__, allowed="a list of items, or the path of a file with one"
            )
        return DomainItems(tuple(self.domain))


def _is_frame(value: object) -> bool:
    return hasattr(value, "columns")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with everything that decides how it is answered; ``ranking`` says how comparisons become scores."""

    question: Question
    plan: Plan
    domain: Domain | None
    user: str
    ranking: RankingMethod | None = None

    def reading(self) -> CountQuery:
        """What to count; the salt that decides which items a user keeps is fresh each time."""
        return self._reading(self.fresh_salt())

    def _reading(self, salt: str) -> CountQuery:
        most = self.plan.facts.max_items_per_user
        return CountQuery(self.question.items, self.user, self.question.where, most, None if most is None else salt)

    def first_reading(self) -> CountQuery:
        """What is read first, with zeros in place of the salt: what must be possible before anything is paid."""
        mechanism = self.plan.mechanism
        stage = mechanism.first_stage if isinstance(mechanism, AdaptiveTopK) else mechanism
        if isinstance(stage, GaussianSparseHistogram):
            return self.weighted(stage.weights, (), SHOWN_SALT)
        return self._reading(SHOWN_SALT)

    def preview(self, source: Source, shown_as: str | None = None) -> Preview:
        """The plan and the SQL, in which ``shown_as`` stands for the table."""
        rows = self.plan.rows if self.ranking is None else len(self.ranking.graph.comparisons)
        queries = source.queries(self.first_reading(), limit=rows, domain=self.domain, shown_as=shown_as)
        return Preview(self.plan, queries, self.user)

    def weighted(self, weights: Weights, without: tuple[Item, ...], salt: str) -> CountQuery:
        """What a round counts: each user spreads weight over their items, but for those that are out."""
        question = self.question
        return CountQuery(
            question.items, self.user, question.where, weights.cap, salt, weights=weights.steps, without=without
        )

    def fresh_salt(self) -> str:
        """Which items heavy users keep, decided anew for each question."""
        return system_bits().read(_SALT_BYTES).hex()


@dataclass(frozen=True, slots=True)
class Preview:
    """What a question would do: the plan and the SQL. Nothing was read and nothing was charged.

    Where the items of a user are bounded, the SQL shows zeros in place of the salt, which is fresh for each question.
    Of an answer in rounds the SQL of the first is shown: what the others ask about depends on what it releases.
    """

    plan: Plan
    queries: tuple[str, ...]
    user: str | None = None

    @property
    def promise(self) -> str:
        """What the answer would promise, in a sentence that names the column of the users."""
        return self.plan.promise.sentence(user=self.user)

    def __str__(self) -> str:
        facts = [
            ("mechanism", self.plan.describe()),
            ("why", self.plan.why),
            ("promise", self.promise),
            ("at most", self.plan.cost_sentence()),
            ("reach", self.plan.reach_sentence),
            *(("sql", query) for query in self.queries),
        ]
        return "\n".join(f"{label:<9}  {text}" for label, text in facts)


def column_name(value: object, role: str) -> str:
    """A name, whether or not there is such a column."""
    if not isinstance(value, str):
        raise InvalidArgument(role, value, allowed="the name of a column")
    return value


def question_about(source: Source, item: str | Iterable[str], k: int, where: str | Iterable[str] | None) -> Question:
    """The question that these arguments mean; columns are checked against the table's schema."""
    if not isinstance(item, Iterable):
        raise InvalidArgument("item", item, allowed="the name of a column")
    items = (item,) if isinstance(item, str) else tuple(item)
    schema = source.schema()
    for name in items:
        schema.column(column_name(name, "item"), role="item")
    return Question(items, k, parse_conditions(where, schema=schema))


def ask(source: Source, question: Question, user: str, options: Options, calibrate: Calibrate) -> Asked:
    """Plan a question and check it against the schema; raises before anything is paid."""
    if user in question.items:
        raise InvalidArgument(
            "item",
            user,
            allowed="a column other than the user column",
            hint="Items are ranked by how many users have them.",
        )
    domain = options.stated_domain()
    # Columns and their kinds come first: a bound and weights are known only with the plan.
    probe = CountQuery(question.items, column_name(user, "user"), question.where)
    source.check(probe, domain=domain)
    facts = Facts(
        k=question.k,
        domain_size=None if domain is None else source.domain_size(probe, domain),
        max_items_per_user=options.max_items_per_user,
        counts=options.counts,
        k_bar=options.k_bar,
        mechanism=options.mechanism,
    )
    return checked(source, Asked(question, plan_for(facts, calibrate(facts)), domain, user), probe)


def checked(source: Source, asked: Asked, probe: CountQuery | None = None) -> Asked:
    """The question, if the engine can do what its plan needs; ``probe`` is a reading that was checked already."""
    reading = asked.first_reading()
    if reading != probe:
        source.check(reading, domain=asked.domain)
    return asked
