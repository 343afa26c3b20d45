"""``podium check``: whether an engine does what podium needs."""

from __future__ import annotations

import typer

from podium.cli.console import print_result
from podium.cli.exit_codes import REFUTED
from podium.cli.options import Format, SourceArgument, TextFormatOption
from podium.cli.output import print_document

__all__ = ["check"]


def check(source: SourceArgument, *, form: TextFormatOption = Format.TABLE) -> None:
    """Check that a database engine does what podium needs.

    It must count, compare, hash and fence as others do. podium asks about constants and temporary tables of its own,
    and reads no table of yours. The report names the engine, the versions and the checks, but no host, user, database
    or path, so that it can be attached to a bug report. The engine of files is the DuckDB that podium comes with.

    \b
    Examples:
      podium check views.parquet
      podium check mysql+pymysql://me@host/shop
      podium check postgresql://me@host/shop --format json
    """
    from podium.sources.engine_check.engine_report import check_source

    report = check_source(source)
    if form is Format.JSON:
        print_document(report.to_dict())
    else:
        print_result(report.text())
    if not report.passed:
        raise typer.Exit(REFUTED)
