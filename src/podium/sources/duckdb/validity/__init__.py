"""Files are checked completely when the owner opens them, so that no row decides later whether a question fails."""

from podium.sources.duckdb.validity.rules import BadLines, FileRules
from podium.sources.duckdb.validity.text_files import check_text

__all__ = ["BadLines", "FileRules", "check_text"]
