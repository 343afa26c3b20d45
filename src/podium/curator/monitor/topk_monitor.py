"""The monitor: a new private top k for every period of a schedule, within one budget."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from podium.closed_at_exit import ClosedAtExit
from podium.curator.curator import Curator
from podium.curator.held_source import HeldSource
from podium.curator.monitor.periods import Found, Record, Role
from podium.curator.monitor.schedule_curator import ScheduleCurator
from podium.curator.monitor.turn import Task, Turn, empty_list
from podium.curator.monitor.windows import InGroups, RankedBy, require_found_in_rounds, schedule_key, subject_of
from podium.curator.prepare import column_name, state_domain
from podium.curator.reuse import domain_fingerprint
from podium.curator.timing import period_of
from podium.errors import DatasetExists, InvalidArgument, LedgerTampered
from podium.exact import Number, exact_fraction, positive_integer
from podium.ledger import Budget, Entry, Ledger, open_ledger
from podium.planning.schedule.calendar import Period, Schedule, moment
from podium.planning.schedule.group_plan import GroupedSchedulePlan, plan_grouped_schedule
from podium.planning.schedule.schedule_plan import DEFAULT_MAX_ITEMS_PER_USER, SchedulePlan, plan_schedule
from podium.planning.schedule.shares import Unit
from podium.query.ranked_by import USERS
from podium.release import Receipt, Release
from podium.sources import Domain, SourceOptions
from podium.user_columns import user_columns

__all__ = ["TopKMonitor"]

_MAX_NEW_PERIODS = 10
"""How many new periods one run may ask about without ``catch_up``."""


class TopKMonitor(ClosedAtExit):
    """The k items with the most users, events or amounts, for every period of a schedule, within one budget.

    Each list is chosen from items that earlier releases of the schedule named, which needs no threshold; from time to
    time a round of finding admits new items. What a period does not use is carried forward. The ledger holds the whole
    state of the schedule: a new run, on any machine, continues where the last one stopped and repeats answered periods
    free of charge.

    A growing or long sliding window changes slowly, so it is not measured in every period: the others repeat the last
    list, free of charge. ``remeasure`` is a number of periods from one measured list to the next instead.

    ``unit="user"`` guarantees (epsilon, delta) to every user for the whole schedule. ``unit="user-period"`` guarantees
    it for the rows of a user in one period; users who appear in more periods lose more, as ``plan`` states.

    ``time`` is a column of dates or timestamps (UTC). ``every`` is hour, day, week or month. ``window`` is the time
    that a list covers: by default its own period, or ``"7 days"``, or ``"growing"``. Rows that arrive after a period
    was answered do not change its list. Without ``epsilon`` the data set must be registered, and its budget is used.
    ``answer_every`` is as for ``Curator``, for each question of the schedule.

    With ``by="events"`` or ``by="sum(COLUMN)"`` a ``clip`` is required: the most that one user adds to one item of a
    list, the same in all periods. ``value_unit`` is what summed values are rounded down to.

    ``per``, ``groups`` and ``groups_per_user`` ask for a list for each group, as in ``podium.top``. Each list is then
    found in rounds of its own, and in which groups a user counts is chosen anew in each window, for every period to
    pay for by itself: somebody who moves from one group to another is protected like everybody else.
    """

    def __init__(
        self,
        source: object,
        *,
        item: str | Iterable[str],
        user: str | Iterable[str],
        time: str,
        start: object,
        periods: int,
        every: str = "day",
        window: str | None = None,
        k: int = 10,
        epsilon: Number | None = None,
        delta: Number = 0,
        unit: str = Unit.USER,
        ledger: str | Path | Ledger | None = None,
        dataset: str = "schedule",
        where: str | Iterable[str] | None = None,
        domain: object = None,
        domain_size: int | None = None,
        rediscover: int | None = None,
        remeasure: int | None = None,
        max_items_per_user: int | None = None,
        by: str = USERS,
        clip: object = None,
        value_unit: object = None,
        per: object = None,
        groups: object = None,
        groups_per_user: int | str = 1,
        analyst: str | None = None,
        force: bool = False,
        answer_every: Number | None = None,
        **options: Unpack[SourceOptions],
    ) -> None:
        period_of(answer_every)
        self._answer_every = answer_every
        self._schedule = Schedule.of(start=start, every=every, periods=periods, window=window)
        self._epsilon, self._delta, self._unit = epsilon, delta, Unit.parse(unit)
        self._ledger_at, self._dataset, self._analyst, self._force = ledger, dataset, analyst, force
        self._rediscover, self._remeasure, self._max_items_per_user = rediscover, remeasure, max_items_per_user
        most = DEFAULT_MAX_ITEMS_PER_USER if max_items_per_user is None else max_items_per_user
        bound = positive_integer(most, "max_items_per_user")
        self._domain: Domain | None = state_domain(domain, domain_size)
        if per:
            require_found_in_rounds(domain=domain, domain_size=domain_size, rediscover=rediscover)
        with ExitStack() as opened:
            self._held = HeldSource(source, options)
            opened.callback(self._held.close)
            self._source = self._held.source
            self._subject = subject_of(
                self._source, item=item, user=user_columns(user), time=column_name(time, "time"), where=where,
                k=positive_integer(k, "k"), max_items_per_user=bound, schedule=self._schedule,
                ranked_by=RankedBy(by, clip, value_unit),
                in_groups=InGroups(per, groups, groups_per_user, max_items_per_user),
            )  # fmt: skip
            query = self._subject.first_query(self._schedule.period(0), known=self._domain is not None)
            self._source.check(query, domain=self._domain)
            self._domain_size = None if self._domain is None else self._source.domain_size(query, self._domain)
            if epsilon is not None:
                self.plan()
            self._opened = opened.pop_all()
        listed = None if self._domain is None else domain_fingerprint(self._domain, self._domain_size)
        self._key = schedule_key(self._subject, self._schedule, self._unit.value, listed)
        self._opened_ledger: Ledger | None = None
        self._curators: dict[str, Curator] = {}

    @property
    def schedule(self) -> Schedule:
        """The periods and their windows."""
        return self._schedule

    def plan(self) -> SchedulePlan | GroupedSchedulePlan:
        """What comes back, what it costs, and what a user who appears in every period loses. No row is read."""
        epsilon, delta = self._epsilon, self._delta
        if epsilon is None:
            budget = self._ledger().status(self._account(self._schedule.period(0))).totals.budget
            epsilon, delta = budget.epsilon, budget.delta
        if self._subject.groups is not None:
            of_groups = plan_grouped_schedule(
                self._schedule, self._subject.group_facts, epsilon=epsilon, delta=delta, unit=self._unit,
                remeasure=self._remeasure, groups=self._subject.groups_told,
            )  # fmt: skip
            return replace(of_groups, user=self._subject.user)
        plan = plan_schedule(
            self._schedule, k=self._subject.k, epsilon=epsilon, delta=delta, unit=self._unit,
            domain_size=self._domain_size, rediscover=self._rediscover, remeasure=self._remeasure,
            max_items_per_user=self._max_items_per_user, measure=self._subject.measure_facts,
        )  # fmt: skip
        return replace(plan, user=self._subject.user)

    def run(self, until: object = None, *, catch_up: bool = False) -> Iterator[Release]:
        """Yield the list of every period that has ended, in order; periods that the ledger has are free.

        ``until`` leaves out periods that end later; it must not lie in the future. A period whose attempts failed is
        asked again with a share of what is left, or skipped if the unit leaves it nothing. More than ten new periods
        need ``catch_up``: a clock that is years ahead would otherwise spend the whole schedule on today's rows.
        """
        due = self._due(until)
        if not catch_up:
            self._require_catch_up(due)
        if self._held.refresh() is not self._source:
            self._source = self._held.source
            self._curators.clear()
        task = Task(self._key, self._subject, self.plan(), self._domain)
        with suppress(LedgerTampered):
            # An abandoned attempt would block its period. Other data sets need not be sound.
            self._ledger().recover()
        records: dict[str, Record] = {}
        found = Found()
        last: Release | None = None
        for index in range(due):
            period = self._schedule.period(index)
            curator = self._curator(period)
            read = self._reader(curator.dataset, period)
            if task.alone or curator.dataset not in records:
                # A period with its own cap must know everything that was charged to it.
                records[curator.dataset] = self._record(curator.dataset)
            record = records[curator.dataset].of_period(period.label)
            release = None
            if task.plan.sharing.has_list(index) or record.attempts:
                release = Turn(task, period, curator, record, read, found).release()
            if release is not None:
                last = _label_period(release, period)
                yield last
            elif last is not None and not task.alone:
                yield _repeat(last, period)

    @property
    def releases(self) -> dict[str, Release]:
        """The lists in the ledger, by the label of their period. Nothing is asked."""
        lists: dict[str, Release] = {}
        last: Release | None = None
        known = set(self._ledger().datasets())
        if self._account(self._schedule.period(0)) not in known:
            return lists
        asks, due = self._asks(), self._due(None)
        records: dict[str, Record] = {}
        for index in range(self._schedule.periods):
            period = self._schedule.period(index)
            account = self._account(period)
            if account not in known:
                break
            if account not in records:
                records[account] = self._record(account)
            record = records[account].of_period(period.label)
            listed, finding = record.release(Role.LIST), record.release(Role.FINDING)
            asked = asks(index, record)
            if listed is not None:
                last = lists[period.label] = _label_period(replace(listed, k=self._subject.k), period)
            elif finding is not None and not finding.items and (last is None or not last.items):
                last = lists[period.label] = _label_period(empty_list(finding, self._subject.k), period)
            elif last is not None and index < due and not asked and self._unit == Unit.USER:
                lists[period.label] = _repeat(last, period)
            else:
                last = None
        return lists

    def _asks(self) -> Callable[[int, Record], bool]:
        """Whether a period asks something, by what the ledger has of it; called with each period in turn."""
        sharing = self.plan().sharing
        done, found = 0, self._domain is not None or sharing.grouped

        def asks(index: int, record: Record) -> bool:
            nonlocal done, found
            searched = record.release(Role.FINDING)
            done += searched is not None
            # A list that is not empty has items that were found, or was found in rounds.
            found = found or any(one is not None and one.items for one in (searched, record.release(Role.LIST)))
            if record.attempts or self._unit == Unit.USER_PERIOD:
                return True
            return sharing.has_list(index) and (found or sharing.searches(index, done=done, short=True))

        return asks

    def history(self) -> tuple[Entry, ...]:
        """The ledger entries of this budget, for plots; with a budget per period, those of the first."""
        return self._ledger().history(self._account(self._schedule.period(0)))

    def _require_catch_up(self, due: int) -> None:
        """Raise if more new periods are due than one run may ask about."""
        if due <= _MAX_NEW_PERIODS:
            return
        known, records = set(self._ledger().datasets()), dict[str, Record]()
        asks, nothing, has_list = self._asks(), Record((), 0, ""), self.plan().sharing.has_list
        new: list[Period] = []
        for period in map(self._schedule.period, range(due)):
            account = self._account(period)
            if account in known and account not in records:
                records[account] = self._record(account)
            record = records[account].of_period(period.label) if account in known else nothing
            # What a new round of finding will release is not known: every list after it may be asked for.
            asked = asks(period.index, record) or (bool(new) and has_list(period.index))
            if asked and not record.attempts:
                new.append(period)
        number = new[-1].index - new[0].index + 1 if new else 0
        if number > _MAX_NEW_PERIODS:
            raise InvalidArgument(
                "catch_up",
                False,
                allowed=f"True where more than {_MAX_NEW_PERIODS} periods are due; {number} are, up to {new[-1].label}",
                hint="Check this machine's clock first: a period is asked about once. Then run with --catch-up "
                "(in Python: run(catch_up=True)), or up to an earlier time with --until.",
            )

    def _due(self, until: object) -> int:
        # A period has ended only if both clocks say so: the server's may be right when ours is wrong.
        now = min(_now(), self._ledger().clock())
        if until is None:
            return self._schedule.due(now)
        last = moment(until, "until")
        if last > now:
            raise InvalidArgument(
                "until", until, allowed="a time in the past", hint="A period is answered after it has ended."
            )
        return self._schedule.due(last)

    def _ledger(self) -> Ledger:
        if self._opened_ledger is None:
            if self._ledger_at is None:
                raise InvalidArgument("ledger", None, allowed="a path, a URL or an open ledger: it remembers the lists")
            at = self._ledger_at
            self._opened_ledger = at if isinstance(at, Ledger) else open_ledger(at)
            if self._opened_ledger is not at:
                self._opened.callback(self._opened_ledger.close)
        return self._opened_ledger

    def _reader(self, account: str, period: Period) -> Callable[[], Record]:
        return lambda: self._record(account).of_period(period.label)

    def _record(self, account: str) -> Record:
        record = Record.of(self._ledger().history(account), self._key)
        if self._unit == Unit.USER_PERIOD and record.foreign:
            raise InvalidArgument(
                "dataset",
                account,
                allowed="a data set that only this schedule asks, with unit='user-period'",
                hint="Other questions about the same rows would weaken its guarantee. Name another data set.",
            )
        return record

    def _account(self, period: Period) -> str:
        """The data set that pays for a period: one for all, or one for the periods that share rows."""
        if self._unit == Unit.USER:
            return self._dataset
        first = period.index - period.index % self._schedule.overlap
        return f"{self._dataset}@{self._schedule.period(first).label}"

    def _curator(self, period: Period) -> Curator:
        account = self._account(period)
        if account not in self._curators:
            ledger = self._ledger()
            first = account == self._account(self._schedule.period(0))
            self._curators[account] = ScheduleCurator(
                self._source,
                schedule=f"{self._key} {account}",
                exclusive=self._unit == Unit.USER_PERIOD,
                dataset=account,
                user=self._subject.user,
                ledger=ledger,
                budget=self._budget(ledger, account),
                analyst=self._analyst,
                force=self._force or not first,
                answer_every=self._answer_every,
            )
        return self._curators[account]

    def _budget(self, ledger: Ledger, account: str) -> Budget | None:
        """The budget to register an account with; None if it is registered with the same budget."""
        if account in ledger.datasets():
            budget = ledger.status(account).totals.budget
            if budget.filter != "zcdp":
                raise InvalidArgument(
                    "ledger", account, allowed="a data set with the zcdp filter, because schedules divide rho"
                )
            if self._epsilon is not None:
                given = exact_fraction(self._epsilon, "epsilon"), exact_fraction(self._delta, "delta")
                if given != (budget.epsilon, budget.delta):
                    raise DatasetExists(account, account)
            return None
        if self._epsilon is None:
            raise InvalidArgument(
                "epsilon", None, allowed=f"a number above 0, because dataset={account!r} is not registered yet"
            )
        sharing = self.plan().sharing
        return Budget(
            epsilon=self._epsilon,
            delta=self._delta,
            items=self._subject.k * len(sharing.lists),
            questions=len(sharing.lists) + sharing.rounds,
            filter="zcdp",
        )

    def close(self) -> None:
        """Close the engine and the ledger, if this monitor opened them."""
        self._opened.close()
        self._opened_ledger = None
        self._curators.clear()


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC).replace(tzinfo=None)


def _label_period(release: Release, period: Period) -> Release:
    """The release with the label and window of its period, which are public."""
    window = {"period": period.label, "opens": period.opens.isoformat(), "closes": period.closes.isoformat()}
    return replace(release, parameters={**release.parameters, **window})


def _repeat(last: Release, period: Period) -> Release:
    """The last list again, in a period that measures none: a copy of a release, which costs nothing."""
    measured = last.parameters.get("measured", last.parameters["period"])
    parameters = {**last.parameters, "period": period.label, "measured": measured}
    return replace(last, parameters=parameters, paid=Receipt((), entry=last.paid.entry))
