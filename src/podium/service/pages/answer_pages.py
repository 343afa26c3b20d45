"""Pages: a release, its files and its card."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from podium.errors import InvalidArgument, PodiumError
from podium.ledger import Status
from podium.present.json import json_text
from podium.present.plots import plot_release
from podium.present.text.group_lines import group_remarks
from podium.present.text.names import why_fewer
from podium.present.text.release_text import mechanism_text, paid_sentence, theorem_texts
from podium.present.user_shares import list_remarks
from podium.release import GroupedRelease, Release
from podium.service.api.records import Record
from podium.service.api.routes import EntryHash, render_release
from podium.service.api.routes import Form as ReleaseForm
from podium.service.pages.answer_table import answer_table
from podium.service.pages.budget_bar import bar_of, percent_above
from podium.service.pages.cookies import View, view
from podium.service.pages.rendering import page
from podium.service.pages.snippets import in_curl, in_python, in_shell
from podium.service.pages.wording import asks_the_same, headline, question_sentence, request_of
from podium.service.store.tokens import Role
from podium.wire.request import QuestionRequest

__all__ = ["router"]

router: APIRouter = APIRouter()

Viewing = Annotated[View, Depends(view(Role.VIEWER))]


@router.get("/datasets/{dataset}/releases/{entry}.card.json")
def release_card(granted: Viewing, entry: EntryHash) -> Response:
    """The card of the release, as a file."""
    return render_release(
        granted.service.records.release(granted.dataset, entry, granted.signed.token), ReleaseForm.CARD
    )


@router.get("/datasets/{dataset}/releases/{entry}.{suffix}")
def release_file(request: Request, granted: Viewing, entry: EntryHash, suffix: str, theme: str = "light") -> Response:
    """The release as a file, or its plot."""
    record = granted.service.records.release(granted.dataset, entry, granted.signed.token)
    if suffix == "svg":
        dark = theme == "dark"
        drawn, _ = request.app.state.pictures.get(
            ("release", record.entry, str(dark)), lambda: plot_release(record.release, dark=dark)
        )
        return Response(drawn, media_type="image/svg+xml")
    try:
        form = ReleaseForm(suffix)
    except ValueError:
        raise InvalidArgument("suffix", suffix, allowed="json, csv, parquet, svg or card.json") from None
    return render_release(record, form)


@router.get("/datasets/{dataset}/releases/{entry}")
def release(request: Request, granted: Viewing, entry: EntryHash) -> Response:
    """The release: list, guarantee, cost, downloads, and how to ask the same elsewhere."""
    record = granted.service.records.release(granted.dataset, entry, granted.signed.token)
    found = record.release
    status = granted.service.records.status(granted.dataset)
    table = answer_table(found, ", ".join(record.items))
    return page(
        request, "release.html", granted.signed, record=record, release=found, dataset=granted.dataset,
        sentence=question_sentence(record.question), headline=headline(status), table=table,
        bar=bar_of(status, granted.signed.token), remarks=_remarks(found),
        margin="" if table.margin is None else table.margin.sentence, promise=found.promise,
        price=_price(record, status), paid=paid_sentence(found), mechanism=mechanism_text(found),
        theorems=theorem_texts(found), card=json_text(found.card().to_dict(), indent=2),
        same=_snippets(request, granted, record, str(status.totals.epsilon_per_item)),
    )  # fmt: skip


def _price(record: Record, status: Status) -> str:
    """What the answer was charged, as part of the total; its worst case may have been more."""
    return f"{percent_above(status.totals.whole.share(record.charged))} of the budget"


def _remarks(found: Release) -> list[str]:
    if isinstance(found, GroupedRelease):
        return group_remarks(found)
    return [*([] if found.complete or not found.items else [why_fewer(found)]), *list_remarks(found)]


def _snippets(request: Request, granted: View, record: Record, planned: str) -> list[tuple[str, str]]:
    """The same question elsewhere, where it can be repeated for free."""
    again = _repeat_request(granted, record, planned)
    if again is None:
        return []
    url = granted.service.settings.server.public_url or str(request.base_url).rstrip("/")
    return [
        ("Python", in_python(again, url, granted.dataset)), ("curl", in_curl(again, url, granted.dataset)),
        ("Command line", in_shell(again, granted.dataset)),
    ]  # fmt: skip


def _repeat_request(granted: View, record: Record, planned: str) -> QuestionRequest | None:
    """The question as it can be repeated for free; None if unknown, or if the table is unreachable."""
    question = request_of(record.question, planned)
    try:
        plan = None if question is None else granted.service.plan_here(granted.dataset, question, granted.signed.token)
    except PodiumError:
        return None
    return question if plan is not None and asks_the_same(plan, record.question) else None
