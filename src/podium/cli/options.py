"""Options that several commands share, spelled the same in all of them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from podium.errors import InvalidArgument

__all__ = [
    "AnalystOption",
    "AnswerEvery",
    "BadLines",
    "BadLinesOption",
    "DatasetOption",
    "Delta",
    "DomainSize",
    "DryRun",
    "Encoding",
    "Epsilon",
    "Force",
    "Format",
    "K",
    "KBar",
    "LedgerOption",
    "MaxItemsPerUser",
    "Mechanism",
    "MechanismOption",
    "OutputFile",
    "PlotFile",
    "ReleaseFormat",
    "ReleaseFormatOption",
    "SourceArgument",
    "SourceOption",
    "Table",
    "TextFormatOption",
    "Types",
    "User",
    "Where",
    "parse_types",
]  # fmt: skip


class Format(StrEnum):
    """How to print what is not a release."""

    TABLE = "table"
    JSON = "json"


class ReleaseFormat(StrEnum):
    """How to print a release."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    CSV_RAW = "csv-raw"
    PARQUET = "parquet"


class BadLines(StrEnum):
    """What becomes of lines of a file that are not records."""

    REFUSE = "refuse"
    DROP = "drop"


class Mechanism(StrEnum):
    """How to answer from an unknown domain; the plan picks by itself."""

    AUTO = "auto"
    LIMITED_DOMAIN = "limited-domain"
    ADAPTIVE = "adaptive"


SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A Parquet, CSV or JSON file, a pattern, a folder of Parquet files, a DuckDB file, or a database URL.",
    ),
]
SourceOption = Annotated[
    str, typer.Option("--source", metavar="SOURCE", help="The table: a file, a pattern, a folder or a database URL.")
]
User = Annotated[str, typer.Option("--user", metavar="COL", help="The column that says who: the unit of protection.")]
K = Annotated[int, typer.Option("--k", "-k", metavar="N", help="How many items to ask for.")]
Epsilon = Annotated[
    str | None, typer.Option("--epsilon", metavar="NUMBER", help="The privacy loss of the whole answer.")
]
Delta = Annotated[
    str | None,
    typer.Option(
        "--delta", metavar="NUMBER", help="The slack of the promise, such as 1e-8; needed unless the items are known."
    ),
]
MaxItemsPerUser = Annotated[
    int | None,
    typer.Option("--max-items-per-user", metavar="N", help="Count at most N items of each user, chosen at random."),
]
DomainSize = Annotated[
    int | None, typer.Option("--domain-size", metavar="N", help="The items are known: the numbers 0 to N-1.")
]
KBar = Annotated[
    int | None, typer.Option("--k-bar", metavar="N", help="How many of the largest items compete, if they are unknown.")
]
MechanismOption = Annotated[
    Mechanism,
    typer.Option(
        "--mechanism",
        help="How to answer if the items are unknown; auto picks.",
    ),
]
Unordered = Annotated[
    bool, typer.Option("--unordered", help="The order does not matter: a known domain can then be answered better.")
]
LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger", metavar="URL", envvar="PODIUM_LEDGER", show_envvar=True,
        help="Where budgets are kept: a path or postgresql://user@host/database.",
    ),
]  # fmt: skip
DatasetOption = Annotated[
    str | None, typer.Option("--dataset", metavar="NAME", help="The name under which the budget was created.")
]
AnalystOption = Annotated[
    str | None, typer.Option("--analyst", metavar="NAME", help="Who asks, where the budget has caps per analyst.")
]
Table = Annotated[str | None, typer.Option("--table", metavar="NAME", help="Which table of a database.")]
Where = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="EXPR", help="Only rows like these: \"country = 'DE'\". Repeated: all must hold."),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--types", metavar="COL=TYPE",
        help="The type of a CSV or JSON column, such as user_id=integer or price=decimal(2). May be repeated.",
    ),
]  # fmt: skip
BadLinesOption = Annotated[
    BadLines,
    typer.Option(
        "--bad-lines", help="Lines of a CSV or JSON file that are not records: refuse the file, or drop them."
    ),
]
Encoding = Annotated[
    str, typer.Option("--encoding", metavar="NAME", help="How a CSV or JSON file is encoded, such as windows-1252.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show the plan, the most it can cost and the SQL; read nothing.")
]
AnswerEvery = Annotated[
    str | None,
    typer.Option(
        "--answer-every", metavar="SECONDS",
        help="Answer or fail a whole number of these periods after asking, so that the time tells less about rows.",
    ),
]  # fmt: skip
Force = Annotated[bool, typer.Option("--force", help="The table is a copy of the registered one: use it anyway.")]
ReleaseFormatOption = Annotated[
    ReleaseFormat,
    typer.Option(
        "--format", "-f",
        help="How to write the answer; csv is safe to open in a spreadsheet, csv-raw is not; parquet needs --output.",
    ),
]  # fmt: skip
TextFormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to write it.")]
OutputFile = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the answer to a file instead of stdout.")
]
PlotFile = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Also draw it: .png, .svg or .pdf.")]


def parse_types(types: list[str] | None) -> dict[str, str] | None:
    """The columns and types of --types, given one by one or separated by commas."""
    if not types:
        return None
    declared = {}
    for part in (part for text in types for part in text.split(",")):
        column, equals, type_ = part.partition("=")
        if not (equals and column.strip() and type_.strip()):
            raise InvalidArgument("types", part, allowed="COL=TYPE", hint="For example: --types user_id=integer")
        declared[column.strip()] = type_.strip()
    return declared
