"""What a batch of questions would do and cost together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from podium.errors import InvalidArgument
from podium.planning.plan_document import Kinds, read_cost, read_fields, read_texts
from podium.planning.question_plan import Plan
from podium.privacy import Cost, Guarantee
from podium.privacy.rounding import display

__all__ = ["BatchPlan"]


_FIELDS: Kinds = {
    **dict.fromkeys(("plans", "questions", "same_as"), (list,)),
    **dict.fromkeys(("at_most", "guarantee"), (Mapping,)),
    "fits": (bool,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """The plans of a batch, and what all of it can cost. Nothing was read or charged.

    ``same_as`` has, for each question, the place of the one whose answer contains its own and pays for both; its own
    place for all others. ``at_most`` counts every answer once: rho and delta add up, and one conversion serves all.
    Questions that were answered before are free, so it may be less. ``fits`` says whether it is left in the budget.
    """

    plans: tuple[Plan, ...]
    questions: tuple[str, ...]
    same_as: tuple[int, ...]
    at_most: Cost
    guarantee: Guarantee
    fits: bool

    @property
    def promise(self) -> str:
        """What all answers together would guarantee, in a sentence."""
        users = {plan.user for plan in self.plans}
        return self.guarantee.sentence(user=users.pop() if len(users) == 1 else None)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """One line for each question, and what they cost together."""
        lines = []
        for place, (question, plan) in enumerate(zip(self.questions, self.plans, strict=True)):
            same = self.same_as[place]
            lines.append((str(place + 1), f"{question}: {plan.cost if same == place else f'paid with {same + 1}'}"))
        return [*lines, ("together", _amount(self.at_most)), ("promise", self.promise), ("fits", self.verdict)]

    @property
    def verdict(self) -> str:
        """Whether all of it fits into the budget, and what to do if not."""
        return "yes" if self.fits else "no: all questions are admitted together, or none; take some out"

    def to_dict(self) -> dict[str, Any]:
        """Plain data; exact numbers are text."""
        most = self.at_most
        return {
            "plans": [plan.to_dict() for plan in self.plans],
            "questions": list(self.questions),
            "same_as": list(self.same_as),
            "at_most": {
                "epsilon": None if most.epsilon is None else str(most.epsilon),
                "rho": str(most.rho),
                "delta": str(most.delta),
            },
            "guarantee": self.guarantee.to_dict(),
            "promise": self.promise,
            "fits": self.fits,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> BatchPlan:
        """The plan that ``to_dict`` described."""
        fields = read_fields(document, _FIELDS, "BatchPlan")
        plans, same_as = tuple(map(Plan.from_dict, fields["plans"])), tuple(fields["same_as"])
        questions = read_texts(fields["questions"], "questions")
        places = all(type(place) is int and 0 <= place < len(plans) for place in same_as)
        if not places or len(questions) != len(plans) or len(same_as) != len(plans):
            raise InvalidArgument("same_as", same_as, allowed="for each question the place of one, and a plan of each")
        return cls(
            plans=plans,
            questions=questions,
            same_as=same_as,
            at_most=read_cost(fields["at_most"], "BatchPlan"),
            guarantee=Guarantee.from_dict(fields["guarantee"]),
            fits=fields["fits"],
        )

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __len__(self) -> int:
        return len(self.plans)

    def __str__(self) -> str:
        return "\n".join(f"{label:<9}  {text}" for label, text in self.facts)

    def __repr__(self) -> str:
        return f"<BatchPlan of {len(self.plans)} questions: {_amount(self.at_most)}>"

    def _repr_html_(self) -> str:
        from podium.present.notebook import batch_plan_html  # noqa: PLC0415 - presenting is above this package

        return batch_plan_html(self)


def _amount(cost: Cost) -> str:
    if cost.delta == 0 and cost.epsilon is not None:
        return f"at most epsilon {display(cost.epsilon)}"
    return f"at most rho {display(cost.rho)} and delta {display(cost.delta)}"
