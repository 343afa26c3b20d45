"""Files are checked whole when they are opened, and read as they were checked."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_HOSTILE = "integration/sources/test_hostile_files.py"
_ROW = f"{_HOSTILE}::test_a_hostile_row_is_refused_with_its_line_or_changes_nobody_else"

MUTANTS = (
    Mutant(
        "sources/duckdb/validity/csv_lines.py",
        "return self.quoting | self.fields | self.length",
        "return self.fields | self.length",
        "a quote in the wrong place does not erase the lines below it",
        (f"{_HOSTILE}::test_one_line_does_not_erase_those_below_it",),
    ),
    Mutant(
        "sources/duckdb/validity/csv_lines.py",
        "fields & ~blank, lengths > MAX_RECORD_BYTES)",
        "fields & blank, lengths > MAX_RECORD_BYTES)",
        "every record has as many fields as the header",
        (f"{_ROW}[csv: too few fields]",),
    ),
    Mutant(
        "sources/duckdb/validity/csv_lines.py",
        "for marks in (alone, wrong,",
        "for marks in (wrong,",
        "a return alone begins no record",
        (f"{_ROW}[csv: a return in a field]",),
    ),
    Mutant(
        "sources/duckdb/validity/csv_lines.py",
        "np.flatnonzero(self.last & inside)):",
        "):",
        "a quotation is closed in its record",
        (f"{_ROW}[csv: never closed]",),
    ),
    Mutant(
        "sources/duckdb/validity/text_files.py",
        "bad = records.bad | text\n",
        "bad = records.bad\n",
        "bytes that are no text are refused",
        (f"{_ROW}[csv: no UTF-8]",),
    ),
    Mutant(
        "sources/duckdb/validity/json_records.py",
        "NOT (json_valid(record) AND starts_with(ltrim(record, $1), '{'))",
        "NOT (json_valid(record) AND starts_with(ltrim(record, $1), ''))",
        "a line that is no object is refused",
        (f"{_ROW}[jsonl: a list]",),
    ),
    Mutant(
        "sources/duckdb/validity/json_records.py",
        "    if not closed:\n        yield",
        "    if False:\n        yield",
        "an array that does not close is refused",
        (f"{_HOSTILE}::test_an_array_that_does_not_close_is_refused",),
    ),
    Mutant(
        "sources/duckdb/source.py",
        "or fingerprint(self._given) != self._seen",
        "",
        "a file that changed is not read",
        ("integration/curator/test_files.py::test_a_file_that_changed_is_read_when_its_owner_declares_a_version",),
    ),
    Mutant(
        "sources/duckdb/identity.py",
        "stat.st_size, stat.st_mtime_ns)",
        "stat.st_size, 0)",
        "also one that changed and has the same size",
        ("integration/sources/test_duckdb_files.py::test_a_change_of_the_same_size_is_refused_too",),
    ),
    Mutant(
        "sources/duckdb/source.py",
        "if names and not self._reads(names):",
        "if False:",
        "no question decides whether a value can be read",
        (f"{_HOSTILE}::test_parquet_with_text_that_is_none_is_refused_when_opened",),
    ),
    Mutant(
        "sources/duckdb/files.py",
        "if not all(name in declared or any(map(str.isalpha, name)) for name in names):",
        "if False:",
        "a row is not told as the names of columns",
        (f"{_HOSTILE}::test_a_first_line_that_may_be_a_row_is_no_header_and_not_quoted",),
    ),
    Mutant(
        "sources/duckdb/types.py",
        'exp.If(this=zero, true=exp.Literal.string("0.0")), ',
        "",
        "a user whose number is zero is one user, whichever sign it has",
        ("integration/sources/test_duckdb_files.py::test_floats_that_are_equal_are_one_user_as_text",),
    ),
    Mutant(
        "sources/duckdb/types.py",
        "    value = _OPAQUE(value)\n",
        "",
        "what a NaN counts as does not depend on the statistics of a file",
        (
            (
                "integration/sources/test_duckdb_statistics.py::"
                "test_another_user_changes_no_more_than_their_own_counts[7.0-decimal(2)-kind0]"
            ),
            "integration/sources/test_duckdb_statistics.py::test_what_is_not_a_number_is_missing[decimal(2)-kind0]",
        ),
        raises="SourceFailure",
    ),
    Mutant(
        "sources/sql/dialect.py",
        'return exp.Case(ifs=[exp.If(this=zero, true=exp.Literal.string("0"))], default=text)',
        "return text",
        "a row with 0 does not make a question fail",
        (
            (
                "integration/sources/test_duckdb_values.py::"
                "test_decimals_without_a_digit_before_the_point[parquet-digits1]"
            ),
        ),
        raises="SourceFailure",
    ),
    Mutant(
        "sources/duckdb/types.py",
        "    if any(_is_unsafe(inner) for inner in _inner_types(value)):\n",
        "    if False:\n",
        "no text is made of values that have none: a row would make all questions fail",
        ("integration/sources/test_duckdb_values.py::test_no_text_is_made_of_what_has_none",),
        raises="Failed",
    ),
)
