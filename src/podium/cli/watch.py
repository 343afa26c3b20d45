"""``podium watch``: a new top k every period, within one budget."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import podium
from podium.cli.console import print_result, progress, say, settings
from podium.cli.file_options import FileOptions
from podium.cli.options import (
    AnalystOption,
    AnswerEvery,
    By,
    Copy,
    Delta,
    DomainSize,
    Epsilon,
    Groups,
    GroupsPerUser,
    K,
    LedgerOption,
    MaxItemsPerUser,
    Per,
    ReleaseFormat,
    Table,
    User,
    Where,
    parse_clip,
    parse_groups,
    parse_groups_per_user,
)
from podium.cli.output import Output, format_of, json_text, print_document, print_facts, release_document, replace_file
from podium.errors import InvalidArgument, OutputFailed

__all__ = ["watch"]


class ListsFormat(StrEnum):
    """Output format of the lists of a schedule."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


_ENDINGS = {".csv": ListsFormat.CSV, ".json": ListsFormat.JSON, ".txt": ListsFormat.TABLE, "": ListsFormat.TABLE}
_IN_FULL = ("finding", "cost")
"""Parts of a schedule's plan that are shown with --verbose."""


def watch(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A file, a glob, a folder or a database URL.")],
    *,
    item: Annotated[
        list[str],
        typer.Option("--item", metavar="COL", help="Column to rank. Repeat it to rank combinations."),
    ],
    user: User,
    time: Annotated[str, typer.Option("--time", metavar="COL", help="Column of dates or timestamps, in UTC.")],
    start: Annotated[str, typer.Option("--start", metavar="TIME", help="Start of the first period: 2026-01-01.")],
    periods: Annotated[
        int, typer.Option("--periods", metavar="N", help="Number of periods that the budget must cover.")
    ],
    every: Annotated[str, typer.Option("--every", help="Length of a period: hour, day, week or month.")] = "day",
    window: Annotated[
        str | None,
        typer.Option("--window", metavar="SPAN", help="Rows that a list covers: its period, '7 days', or 'growing'."),
    ] = None,
    per: Per = None,
    groups: Groups = None,
    groups_per_user: GroupsPerUser = "1",
    k: K = 10,
    by: By = "users",
    clip: Annotated[
        str | None,
        typer.Option(
            "--clip",
            metavar="NUMBER",
            help="With --by events or a sum: the most that one user adds to one item of a list.",
        ),
    ] = None,
    value_unit: Annotated[
        str | None,
        typer.Option("--value-unit", metavar="NUMBER", help="What summed values are rounded down to, such as 0.01."),
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    unit: Annotated[
        str, typer.Option("--unit", help="Unit of protection: user (whole schedule) or user-period (one period).")
    ] = "user",
    where: Where = None,
    domain: Annotated[
        Path | None, typer.Option("--domain", metavar="FILE", help="File that lists the items, if they are known.")
    ] = None,
    domain_size: DomainSize = None,
    rediscover: Annotated[
        int | None, typer.Option("--rediscover", metavar="N", help="Look for new items every N periods.")
    ] = None,
    remeasure: Annotated[
        int | None,
        typer.Option(
            "--remeasure",
            metavar="N",
            help="Measure a new list every N periods; by default less often the longer the window.",
        ),
    ] = None,
    max_items_per_user: MaxItemsPerUser = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Skip periods that end later than this.")
    ] = None,
    catch_up: Annotated[
        bool, typer.Option("--catch-up", help="Answer all periods that are due, even if there are more than ten.")
    ] = False,
    ledger: LedgerOption = None,
    dataset: Annotated[str, typer.Option("--dataset", metavar="NAME", help="Name of the budget.")] = "schedule",
    analyst: AnalystOption = None,
    table: Table = None,
    files: FileOptions,
    copy: Copy = False,
    answer_every: AnswerEvery = None,
    form: Annotated[
        ListsFormat | None,
        typer.Option(
            "--format",
            "-f",
            show_default=False,
            help="Output format, by default that of the ending of --output, or table.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the lists to a file instead of stdout: .csv, .json or text. Each run replaces it by all lists.",
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Also plot the lists over time: .png, .svg or .pdf.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what is released and what it costs; read and register nothing."),
    ] = False,
) -> None:
    """Release a private top k every period, within one budget.

    Run it as often as you like: each completed period is answered once, in order, and repeated free of charge. The
    schedule is kept in the ledger, so it resumes after a crash.

    With --unit user, epsilon covers each user over the whole schedule. With --unit user-period, it covers a user's rows
    in one period: users who appear in several periods lose more, and --dry-run says how much.

    --per COL releases a list for each of its values, every period, for the price of one list.

    \b
    Examples:
      podium watch views.parquet --item article --user user_id --time at --start 2026-01-01 --periods 365 \\
        --epsilon 1 --delta 1e-6 --dry-run
      podium watch views.parquet --item article --user user_id --time at --start 2026-01-01 --periods 365 \\
        --window "7 days" --epsilon 1 --delta 1e-6 --ledger ledger.db --dataset daily --plot daily.png
    """
    if per and plot is not None:
        raise InvalidArgument(
            "plot", str(plot), allowed="none with --per", hint="A picture shows one list over time, not one per group."
        )
    kind = format_of(form, output, _ENDINGS)
    Output(ReleaseFormat(kind), output, plot).check()
    with podium.TopKMonitor(
        source, item=item, user=user, time=time, start=start, periods=periods, every=every, window=window, k=k,
        epsilon=epsilon, delta=delta or 0, unit=unit, ledger=ledger, dataset=dataset, where=where, domain=domain,
        domain_size=domain_size, rediscover=rediscover, remeasure=remeasure,
        max_items_per_user=max_items_per_user,
        by=by, clip=parse_clip(clip), value_unit=value_unit, per=per or (), groups=parse_groups(groups),
        groups_per_user=parse_groups_per_user(groups_per_user), table=table,
        analyst=analyst, force=copy, answer_every=answer_every, **files.reading(),
    ) as monitor:  # fmt: skip
        if dry_run:
            _show_plan(monitor, form or ListsFormat.TABLE)
            return
        with progress("asking"):
            lists = {release.parameters["period"]: release for release in monitor.run(until, catch_up=catch_up)}
    _write(lists, kind, output)
    if plot is not None:
        from podium.present.plots import plot_lists

        plot_lists(lists, plot)
        say(f"wrote {plot}")


def _show_plan(monitor: podium.TopKMonitor, form: ListsFormat) -> None:
    plan = monitor.plan()
    if form is ListsFormat.JSON:
        print_document(plan.to_dict())
        return
    print_facts(plan.facts() if settings().verbose else [fact for fact in plan.facts() if fact[0] not in _IN_FULL])


def _write(lists: dict[str, podium.Release], form: ListsFormat, path: Path | None) -> None:
    text = _text(lists, form)
    if path is None:
        print_result(text)
        return
    try:
        with replace_file(path) as file:
            file.write_text(f"{text.rstrip()}\n", encoding="utf-8")
    except OSError:
        print_result(text)
        raise OutputFailed(str(path)) from None
    say(f"wrote {path}")


def _text(lists: dict[str, podium.Release], form: ListsFormat) -> str:
    if form is ListsFormat.JSON:
        told = [{"period": period, **release_document(release)} for period, release in lists.items()]
        return json_text(told)
    from podium.present.text.timeline import lists_csv, lists_text

    return lists_csv(lists) if form is ListsFormat.CSV else lists_text(lists)
