"""Plans of agents, shared by all workers, each of which may be asked once."""

from __future__ import annotations

from podium.agents.priced_plans import MAX_OPEN_PLANS, PLAN_SECONDS, PricedPlan, unknown_plan
from podium.service.store.database import State, now
from podium.wire.identifiers import new_id

__all__ = ["StoredPlans"]


class StoredPlans:
    """Plans in the tables of the service."""

    def __init__(self, state: State) -> None:
        self._state = state

    def keep(self, plan: PricedPlan) -> str:
        """Keep a plan, and forget those of the same analyst that are too many or too old."""
        id_ = new_id()
        with self._state.write_transaction() as session:
            session.run("DELETE FROM service_plans WHERE expires <= ?", (now(),))
            session.run(
                """DELETE FROM service_plans WHERE analyst = ? AND id NOT IN (
                    SELECT id FROM service_plans WHERE analyst = ? ORDER BY expires DESC, id LIMIT ?)""",
                (plan.analyst, plan.analyst, MAX_OPEN_PLANS - 1),
            )
            session.run(
                "INSERT INTO service_plans (id, analyst, dataset, question, price, expires) VALUES (?, ?, ?, ?, ?, ?)",
                (id_, plan.analyst, plan.dataset, plan.question, plan.price, now() + PLAN_SECONDS),
            )
        return id_

    def take(self, id_: str, analyst: str) -> PricedPlan:
        """The plan, once: of two workers that ask it at the same time, one is refused."""
        with self._state.write_transaction() as session:
            wanted = "SELECT dataset, question, price FROM service_plans WHERE id = ? AND analyst = ? AND expires > ?"
            rows = session.rows(wanted + session.lock_rows, (id_, analyst, now()))
            if not rows:
                raise unknown_plan()
            session.run("DELETE FROM service_plans WHERE id = ?", (id_,))
        ((dataset, question, price),) = rows
        return PricedPlan(analyst, dataset, question, price)
