"""Releases as HTML for notebooks: tables that screen readers understand, one plain sentence below, details on request.

Items are data: whatever they contain is escaped, and each stands in a ``bdi`` element, so that right-to-left text
cannot reorder what is around it. Colours are those of the notebook, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape
from itertools import islice
from typing import Final

from podium.present.all_lists import all_items, all_values, group_parts
from podium.present.beside_groups import beside_groups, has_others, told_line
from podium.present.intervals import Margin, margin_of
from podium.present.measures import release_title, shown_measure, shown_value
from podium.present.text.closing import closing_sentence
from podium.present.text.group_lines import group_remarks
from podium.present.text.names import item_columns, printable, why_fewer
from podium.present.text.release_text import mechanism_text, paid_sentence
from podium.present.user_shares import list_remarks
from podium.privacy.rounding import display
from podium.release import GroupedRelease, Release

__all__ = ["details", "fact_rows", "frame", "release_html", "table_html"]

_MAX_ROWS: Final = 100
_STYLE: Final = (
    ".podium-release table{border-collapse:collapse;color:inherit;background:transparent;margin:.3em 0}"
    ".podium-release caption{text-align:left;font-weight:bold;color:inherit;padding:.2em 0}"
    ".podium-release th,.podium-release td{padding:.15em .8em .15em 0;text-align:left;background:transparent;"
    "color:inherit;border:0;border-bottom:1px solid rgba(128,128,128,.35)}"
    ".podium-release .n{text-align:right;font-variant-numeric:tabular-nums}"
    ".podium-release p,.podium-release dl{margin:.3em 0;max-width:60em}"
    ".podium-release dt{float:left;clear:left;width:7em;opacity:.75}"
    ".podium-release dd{margin-left:7em}"
    ".podium-release pre{margin:.3em 0;background:transparent;color:inherit;overflow-x:auto}"
    ".podium-release summary{cursor:pointer;opacity:.75}"
)


def release_html(release: Release, *, heading: str | None = None) -> str:
    """The release as a fragment of HTML; ``heading`` names the column of the items, unless their own names are used."""
    listed = all_items(release) if isinstance(release, GroupedRelease) else release
    margin = margin_of(listed)
    return frame(
        _table(release, listed, heading, margin),
        *_beside_groups(release),
        *(f"<p>{escape(line)}</p>" for line in _remarks(release, margin)),
        f"<p>{escape(closing_sentence(release))}</p>",
        details(_facts(release, margin)),
    )


def frame(*parts: str) -> str:
    """Fragments of HTML as one, with their style."""
    return f'<div class="podium-release"><style>{_STYLE}</style>{"".join(parts)}</div>'


def details(*parts: str) -> str:
    """What a reader must ask for."""
    return f"<details><summary>Details</summary>{''.join(parts)}</details>"


def fact_rows(facts: Iterable[tuple[str, str]], caption: str = "") -> str:
    """Labels and texts as a table with a heading for each row."""
    rows = (
        f'<tr><th scope="row" style="vertical-align:top">{escape(label)}</th><td>{escape(printable(text))}</td></tr>'
        for label, text in facts
    )
    named = f"<caption>{escape(printable(caption))}</caption>" if caption else ""
    return f"<table>{named}<tbody>{''.join(rows)}</tbody></table>"


def table_html(columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Texts in columns, of which the first names the row."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row" style="font-weight:normal"><bdi>{escape(printable(first))}</bdi></th>'
        f"{''.join(f'<td><bdi>{escape(printable(text))}</bdi></td>' for text in rest)}</tr>"
        for first, *rest in rows
    )
    named = f"<caption>{escape(printable(caption))}</caption>" if caption else ""
    return f"<table>{named}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _table(release: Release, listed: Release, heading: str | None, margin: Margin | None) -> str:
    """All lists in one table, each in a body of its own; ``listed`` has the items of all of them."""
    items = item_columns(listed, heading)
    names = list(zip(*(texts[:_MAX_ROWS] for _, texts in items), strict=True))
    values = _values(release)[:_MAX_ROWS]
    values += [None] * (len(names) - len(values))
    per = release.per if isinstance(release, GroupedRelease) else ()
    columns = [(printable(name), "") for name in per]
    columns += [("rank", "n")] * release.ordered + [(name, "") for name, _ in items]
    if release.value_kind is not None:
        columns.append((_value_heading(release), "n"))
    if margin is not None:
        columns.append((f"{margin.percent} interval", "n"))
    head = "".join(f'<th scope="col"{_class(kind)}>{escape(name)}</th>' for name, kind in columns)
    rows = iter(zip(names, values, strict=True))
    bodies = [
        _body(group, [_row(release, place, *row, margin) for place, row in enumerate(islice(rows, length), start=1)])
        for group, length in _lengths(release)
    ]
    unordered = ", in no particular order" if not release.ordered and release.k > 1 else ""
    caption = f"{release_title(release)}{unordered}"
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>{''.join(bodies)}</table>"


def _beside_groups(release: Release) -> list[str]:
    """A table of what is beside the list of each group."""
    if not isinstance(release, GroupedRelease) or not has_others(release):
        return []
    lines = islice(beside_groups(release), _MAX_ROWS)
    rows = [
        (
            *map(printable, group_parts(release, found.group)),
            told_line(found.others, found.beside),
            told_line(found.total, found.beside),
        )
        for found in lines
    ]
    return [table_html([*map(printable, release.per), "others", "total"], rows, "Beside the list of each group")]


def _values(release: Release) -> list[Fraction | None]:
    return all_values(release) if isinstance(release, GroupedRelease) else [*(release.values or ())]


def _lengths(release: Release) -> list[tuple[tuple[str, ...], int]]:
    """The texts of each group and the length of its list; a release with one list has no such texts."""
    if not isinstance(release, GroupedRelease):
        return [((), len(release.items))]
    return [
        (tuple(map(printable, group_parts(release, group))), len(found.items))
        for group, found in release.lists.items()
        if found.items
    ]


def _body(group: tuple[str, ...], rows: list[str]) -> str:
    """The rows of one group, under a heading that spans them."""
    if not rows and group:
        return ""
    heading = "".join(
        f'<th scope="rowgroup" rowspan="{len(rows)}" style="vertical-align:top"><bdi>{escape(part)}</bdi></th>'
        for part in group
    )
    first, rest = (rows[0].replace("<tr>", f"<tr>{heading}", 1), rows[1:]) if rows else ("", [])
    return f"<tbody>{first}{''.join(rest)}</tbody>"


def _value_heading(release: Release) -> str:
    if release.value_kind == "gaps":
        return "gap"
    if release.value_name:
        return printable(release.value_name)
    measure = shown_measure(release)
    return "count" if measure.noun == "users" else measure.noun


def _row(release: Release, place: int, parts: tuple[str, ...], value: Fraction | None, margin: Margin | None) -> str:
    # Scores are small: a share of 0.62 has no use for one decimal.
    number = display if release.value_kind == "scores" else _number
    cells = [f'<td class="n">{place}</td>'] * release.ordered
    first, *others = parts
    cells.append(f'<th scope="row" style="font-weight:normal"><bdi>{escape(first)}</bdi></th>')
    cells += [f"<td><bdi>{escape(part)}</bdi></td>" for part in others]
    if release.value_kind is not None:
        cells.append(f'<td class="n">{"" if value is None else number(shown_value(release, value))}</td>')
    if margin is not None:
        ends = "" if value is None else " to ".join(map(number, margin.around(value)))
        cells.append(f'<td class="n">{ends}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _number(value: Fraction) -> str:
    return f"{int(value):,}" if value.denominator == 1 else f"{float(value):,.1f}"


def _remarks(release: Release, margin: Margin | None) -> list[str]:
    listed = all_items(release) if isinstance(release, GroupedRelease) else release
    hidden = len(listed.items) - _MAX_ROWS
    remarks = [f"and {hidden:,} more: to_pandas() has all of them."] if hidden > 0 else []
    if isinstance(release, GroupedRelease):
        sentence = margin.sentence if margin is not None and listed.items else ""
        return [*remarks, *group_remarks(release), *[sentence] * bool(sentence)]
    if not release.complete:
        remarks.append(why_fewer(release))
    if margin is not None and release.items:
        remarks.append(margin.sentence)
    return [*remarks, *list_remarks(release)]


def _facts(release: Release, margin: Margin | None) -> str:
    facts = {
        "promise": release.promise,
        "paid": paid_sentence(release),
        "mechanism": mechanism_text(release),
        **({} if margin is None else {"noise": margin.law}),
        "theorem": release.theorem,
    }
    return f"<dl>{''.join(f'<dt>{name}</dt><dd>{escape(text)}</dd>' for name, text in facts.items())}</dl>"
