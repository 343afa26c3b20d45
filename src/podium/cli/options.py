"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from podium.query.group_columns import DeclaredTable

__all__ = [
    "EPSILON_HELP",
    "AnalystOption",
    "AnswerEvery",
    "AtLeast",
    "BadLines",
    "BadLinesOption",
    "By",
    "ByBesideSQL",
    "Clip",
    "Copy",
    "DatasetOption",
    "DeclareJoin",
    "Delta",
    "DomainSize",
    "DryRun",
    "Encoding",
    "Epsilon",
    "Force",
    "Format",
    "Groups",
    "GroupsPerUser",
    "Item",
    "JoinOption",
    "K",
    "KBar",
    "KBesideSQL",
    "LedgerOption",
    "MaxItemsPerUser",
    "Mechanism",
    "MechanismOption",
    "NoHeader",
    "OutputFile",
    "Per",
    "PlotFile",
    "ReleaseFormat",
    "ReleaseFormatOption",
    "RequiredDataset",
    "RequiredLedger",
    "SourceArgument",
    "SourceOption",
    "SourceOrTables",
    "Table",
    "TextFormatOption",
    "Types",
    "Unit",
    "User",
    "UserOfItem",
    "Where",
    "parse_clip",
    "parse_groups",
    "parse_groups_per_user",
]  # fmt: skip


class Format(StrEnum):
    """Output format of everything but releases."""

    TABLE = "table"
    JSON = "json"


class ReleaseFormat(StrEnum):
    """Output format of a release."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    CSV_RAW = "csv-raw"
    PARQUET = "parquet"
    MARKDOWN = "md"


class BadLines(StrEnum):
    """How to treat malformed lines of a file."""

    REFUSE = "refuse"
    DROP = "drop"


class Mechanism(StrEnum):
    """Mechanisms by name; by default the planner chooses, and only the first three go with a ledger."""

    AUTO = "auto"
    LIMITED_DOMAIN = "limited-domain"
    ADAPTIVE = "adaptive"
    LAPLACE = "limited-domain-laplace"
    STRICT = "limited-domain-strict"
    PRIVATE_K_BAR = "limited-domain-private-k-bar"
    FIXED_THRESHOLD = "fixed-threshold"
    HYBRID = "hybrid"
    HYBRID_ESTIMATES = "hybrid-estimates"


def _complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    from podium.cli.source_columns import complete_column

    return complete_column(ctx, incomplete)


def _complete_measure(ctx: typer.Context, incomplete: str) -> list[str]:
    from podium.cli.source_columns import complete_measure

    return complete_measure(ctx, incomplete)


SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A Parquet, CSV or JSON file, a glob, a folder of Parquet files, a DuckDB or SQLite file, a database URL, "
        "or - for standard input.",
    ),
]
_SOURCE = typer.Option("--source", metavar="SOURCE", help="The table: a file, a glob, a folder or a database URL.")
SourceOption = Annotated[str, _SOURCE]
SourceOrTables = Annotated[str | None, _SOURCE]
User = Annotated[
    list[str],
    typer.Option(
        "--user",
        metavar="COL",
        autocompletion=_complete_column,
        help="User column: the unit of protection. Repeat it if columns together are one user.",
    ),
]
JoinOption = Annotated[
    list[str] | None,
    typer.Option(
        "--join",
        metavar="TABLE",
        help="Also read the columns of another table: 'users.parquet USING (user_id)', matched by all user "
        "columns; or 'PUBLIC products=products.csv USING (product)', which says nothing about users. With --ledger "
        "the name of a table that its owner declared. May be repeated.",
    ),
]
DeclareJoin = Annotated[
    list[str] | None,
    typer.Option(
        "--join",
        metavar="TABLE",
        help="Declare a table that questions may join: '[PUBLIC] [NAME=]TABLE USING (COLUMN, ...)'. May be repeated.",
    ),
]
_LENGTH = typer.Option("--k", "-k", metavar="N", help="Number of items to release.")
K = Annotated[int, _LENGTH]
KBesideSQL = Annotated[int | None, _LENGTH]
EPSILON_HELP = "How much the answer may reveal about one person; 1 is a common choice."
Epsilon = Annotated[str | None, typer.Option("--epsilon", metavar="NUMBER", help=EPSILON_HELP)]
Delta = Annotated[
    str | None,
    typer.Option(
        "--delta",
        metavar="NUMBER",
        help="Probability that this limit fails, such as 1e-6: much less than one over the number of people. Needed "
        "unless the items are known.",
    ),
]
MaxItemsPerUser = Annotated[
    int | None,
    typer.Option("--max-items-per-user", metavar="N", help="Count at most N items per user, chosen at random."),
]
DomainSize = Annotated[
    int | None, typer.Option("--domain-size", metavar="N", help="The items are known: the integers 0 to N-1.")
]
KBar = Annotated[
    int | None,
    typer.Option("--k-bar", metavar="N", help="Number of largest items that compete, if unknown."),
]
MechanismOption = Annotated[
    Mechanism,
    typer.Option(
        "--mechanism",
        help="Mechanism to use; by default the planner chooses. Hybrids are for known items, the others for unknown.",
    ),
]
Unordered = Annotated[
    bool, typer.Option("--unordered", help="Release an unordered set, which is more accurate on a known domain.")
]
_LEDGER = typer.Option(
    "--ledger", metavar="URL", envvar="PODIUM_LEDGER", show_envvar=True,
    help="Where budgets are kept: a path or postgresql://user@host/database.",
)  # fmt: skip
LedgerOption = Annotated[str | None, _LEDGER]
RequiredLedger = Annotated[str, _LEDGER]
_DATASET = typer.Option("--dataset", metavar="NAME", help="Name under which the budget was created.")
DatasetOption = Annotated[str | None, _DATASET]
RequiredDataset = Annotated[str, _DATASET]
AnalystOption = Annotated[
    str | None, typer.Option("--analyst", metavar="NAME", help="Who asks, if the budget has caps per analyst.")
]
Table = Annotated[str | None, typer.Option("--table", metavar="NAME", help="Table of the database.")]
_MEASURE = typer.Option(
    "--by", metavar="MEASURE", help='What ranks items: users (distinct), events (rows), or "sum(COL)".',
    autocompletion=_complete_measure,
)  # fmt: skip
By = Annotated[str, _MEASURE]
ByBesideSQL = Annotated[str | None, _MEASURE]
Clip = Annotated[
    str | None,
    typer.Option(
        "--clip", metavar="NUMBER",
        help="With --by events or a sum: the most that one user adds to one item, or -A,B for signed sums. "
        "By default a small part of the budget pays for choosing it.",
    ),
]  # fmt: skip
AtLeast = Annotated[
    str | None,
    typer.Option(
        "--at-least", metavar="NUMBER",
        help="Leave out items with fewer users (or events, or less of the sum): near, not exact.",
    ),
]  # fmt: skip
Unit = Annotated[
    str | None,
    typer.Option("--unit", metavar="NUMBER", help="What summed values are rounded down to, such as 0.01."),
]
Per = Annotated[
    list[str] | None,
    typer.Option(
        "--per", metavar="COL", help="A list for each value of this column. Repeat it for combinations.",
        autocompletion=_complete_column,
    ),
]  # fmt: skip
Item = Annotated[
    list[str] | None,
    typer.Option(
        "--item", metavar="COL", help="Column to rank (needed). Repeat it to rank combinations.",
        autocompletion=_complete_column,
    ),
]  # fmt: skip
UserOfItem = Annotated[
    list[str] | None,
    typer.Option(
        "--user", metavar="COL", autocompletion=_complete_column,
        help="User column (needed): the unit of protection. Repeat it if columns together are one user.",
    ),
]  # fmt: skip
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups", metavar="LIST|FILE|@NAME",
        help="The values of --per, if known, all of which are shown: separated by commas, or a file that lists them in "
        "a column named like --per, or @NAME for a declared public table with that column.",
    ),
]  # fmt: skip
GroupsPerUser = Annotated[
    str,
    typer.Option(
        "--groups-per-user", metavar="N|all",
        help="In how many groups one user counts. All groups together cost as much as N.",
    ),
]  # fmt: skip
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="EXPR",
        help="Filter rows, such as \"country = 'DE'\". Repeated: all must hold.",
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--types", metavar="COL=TYPE",
        help="Type of a CSV or JSON column, such as user_id=integer or price=decimal(2). May be repeated.",
    ),
]  # fmt: skip
BadLinesOption = Annotated[
    BadLines,
    typer.Option("--bad-lines", help="On malformed lines of a CSV or JSON file: refuse the file, or drop the lines."),
]
Encoding = Annotated[
    str, typer.Option("--encoding", metavar="NAME", help="Encoding of a CSV or JSON file, such as windows-1252.")
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first line of a CSV file is a row: columns are column1, column2, ...")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan, its maximum cost and the SQL; read nothing.")]
AnswerEvery = Annotated[
    str | None,
    typer.Option(
        "--answer-every", metavar="SECONDS",
        help="Delay the answer to a multiple of SECONDS, which limits what its timing reveals.",
    ),
]  # fmt: skip
Copy = Annotated[bool, typer.Option("--copy", help="Use the table although it is not the registered one but a copy.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output file if there is one.")]
ReleaseFormatOption = Annotated[
    ReleaseFormat | None,
    typer.Option(
        "--format", "-f", show_default=False,
        help="Output format, by default that of the ending of --output, or table; csv is safe to open in a "
        "spreadsheet, csv-raw is not; parquet needs --output.",
    ),
]  # fmt: skip
TextFormatOption = Annotated[Format, typer.Option("--format", "-f", help="Output format.")]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE",
        help="Write the answer to a file instead of stdout: .csv, .json, .parquet, .md, or text.",
    ),
]  # fmt: skip
PlotFile = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Also write a plot: .png, .svg or .pdf.")]


def parse_clip(clip: str | None) -> str | tuple[str, ...] | None:
    """A number, or the two ends of --clip -A,B."""
    return tuple(end.strip() for end in clip.split(",")) if clip is not None and "," in clip else clip


def parse_groups(groups: str | None) -> DeclaredTable | Path | tuple[str, ...] | None:
    """A file, which has an ending or a folder in its name, @ and a declared table, or values separated by commas."""
    if groups is None:
        return None
    if groups.startswith("@") and "," not in groups:
        from podium.query.group_columns import DeclaredTable

        return DeclaredTable(groups[1:])
    path = Path(groups)
    if "," not in groups and (path.suffix or path.name != groups):
        return path
    return tuple(value.strip() for value in groups.split(",") if value.strip())


_MAX_DIGITS = 20


def parse_groups_per_user(most: str) -> int | str:
    """A number, or all; what is neither is refused with the question."""
    # Longer ones are refused with the question too: Python reads no more than a few thousand digits.
    return int(most) if most.isdecimal() and most.isascii() and len(most) <= _MAX_DIGITS else most
