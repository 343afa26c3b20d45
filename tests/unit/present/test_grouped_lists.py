"""Lists of groups as text, tables and HTML: the groups first, in their own order, and nothing of an item is markup."""

from __future__ import annotations

import datetime as dt
import io

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from tests.support.grouped_releases import counted_lists, grouped_release, many_groups

from podium.present import release_text
from podium.present.tables import release_in
from podium.present.text.terminal import release_drawing
from podium.release import GroupedRelease, RankedList

SHORT = "2 of 3 lists have fewer than 3: no other item of those groups stood out enough to be named at this budget."


def test_a_release_as_text() -> None:
    assert str(grouped_release()).splitlines() == [
        "country  rank  article",
        "DE          1  c",
        "            2  b",
        "            3  =d",
        "FR          1  a",
        "            2  <b>bold</b>",
        "",
        SHORT,
        "Nothing stood out enough in: IT.",
        "Each `user_id` counts in at most 1 value of country.",
        "",
        "private for each user_id: epsilon 0.5, delta 0.009901",
    ]
    assert "paid       rho 0.03115 and delta 0.009901, for all groups together" in release_text(grouped_release())


def test_counts_come_with_their_intervals() -> None:
    lines = release_text(counted_lists()).splitlines()
    assert lines[:3] == [
        "country  rank  article      users  95% interval",
        "DE          1  c              100     90 to 110",
        "            2  b               30      20 to 40",
    ]
    assert "Each `user_id` counts in at most 2 values of country." in lines


def test_no_group_at_all_and_sets() -> None:
    empty = "No group had an item that stood out enough to be named at this budget."
    assert str(grouped_release({})).splitlines()[0] == empty
    listed = grouped_release({"DE": RankedList(frozenset("cab"), 3)})
    assert str(listed).splitlines()[1:4] == ["DE          -  a", "            -  b", "            -  c"]
    assert "A set, in no particular order" in str(listed)


def test_several_group_columns_and_what_cannot_be_printed() -> None:
    day = dt.date(2026, 11, 2)
    release = grouped_release({("D\x1bE", day): RankedList(("a\n",), 1)}, per=("country", "day"), k=1)
    lines = str(release).splitlines()
    assert lines[:2] == ["country   day         rank  article", r"'D\x1bE'  2026-11-02     1  'a\n'"]


def test_a_terminal_gets_a_line_between_groups() -> None:
    console = Console(width=100, file=io.StringIO())
    with console.capture() as captured:
        console.print(release_drawing(counted_lists()))
    lines = [line.rstrip() for line in captured.get().splitlines()]
    at = next(place for place, line in enumerate(lines) if line.lstrip().startswith("FR"))
    assert not lines[at - 1].strip()
    assert "=d" in lines[at - 2]
    assert any(SHORT in line for line in lines) or "2 of 3 lists" in "".join(lines)


def test_tables_have_the_groups_first() -> None:
    table = counted_lists().to_arrow()
    assert table.column_names == ["country", "rank", "article", "count", "count_low", "count_high"]
    assert table.column("country").to_pylist() == ["DE", "DE", "DE", "FR", "FR"]
    assert table.column("rank").to_pylist() == [1, 2, 3, 1, 2]
    assert table.column("count").to_pylist() == [100, 30, 7, 10, 3]
    assert release_in(table) == counted_lists()
    assert list(grouped_release().to_pandas().columns) == ["country", "rank", "article"]
    assert pl.DataFrame(grouped_release()).columns == ["country", "rank", "article"]
    assert grouped_release({}).to_arrow().num_rows == 0


def test_groups_keep_their_type_and_several_columns_their_names() -> None:
    day = dt.date(2026, 11, 2)
    release = grouped_release({(3, day): RankedList((("x", 1),), 3)}, per=("shop", "day"), columns=("p", "q"))
    table = release.to_arrow()
    assert table.column_names == ["shop", "day", "rank", "p", "q"]
    assert (table.schema.field("shop").type, table.schema.field("day").type) == (pa.int64(), pa.date32())


def test_a_group_column_does_not_hide_another() -> None:
    for name in ("rank", "count", "article"):
        table = counted_lists(per=(name,)).to_arrow()
        assert table.column_names == [f"group_{name}", "rank", "article", "count", "count_low", "count_high"]


def test_gaps_that_are_missing_are_missing_in_their_own_list() -> None:
    lists = {"DE": RankedList(("a", "b"), 2, (5,)), "FR": RankedList(("c",), 2, (4,))}  # type: ignore[arg-type]
    assert grouped_release(lists, value_kind="gaps", k=2).to_arrow().column("gap").to_pylist() == [5, None, 4]


def test_csv_and_parquet(tmp_path: object) -> None:
    release = counted_lists()
    path = f"{tmp_path}/lists.parquet"
    release.to_parquet(path)
    assert release_in(pq.read_table(path)) == release
    assert (release.to_csv() or "").splitlines()[:4] == [
        '"country","rank","article","count","count_low","count_high"',
        '"DE",1,"c",100,90,110',
        '"DE",2,"b",30,20,40',
        '"DE",3,"\'=d",7,0,17',
    ]


@pytest.mark.parametrize("release", [grouped_release(), counted_lists()])
def test_html_spans_a_group_and_escapes_what_is_in_it(release: GroupedRelease) -> None:
    html = release._repr_html_()
    assert "<caption>Private top 3 of article for each country, by number of users</caption>" in html
    assert html.count('scope="rowgroup" rowspan="3"') == html.count('scope="rowgroup" rowspan="2"') == 1
    assert html.count("<tbody>") == 2
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<b>bold" not in html
    assert "Nothing stood out enough in: IT." in html


def test_html_of_very_many_groups_ends() -> None:
    html = many_groups(200)._repr_html_()
    assert "and 500 more: to_pandas() has all of them." in html
    assert html.count("<tr>") == 1 + 100
    assert html.count("<tbody>") == html.count("</tbody>") == 34
    assert html.count('rowspan="1"') == 1
