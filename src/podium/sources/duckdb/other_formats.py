"""Files that the embedded engine does not read, and how to convert each to a format that it does."""

from __future__ import annotations

__all__ = ["other_format", "unreadable_text"]

_EXCEL = (
    "an Excel workbook, whose cells have no types that hold for a column. Save the sheet as CSV (in Excel: Save As, "
    "CSV UTF-8) and name that file, or in Python pass pandas.read_excel(...)."
)
_OPEN_DOCUMENT = (
    "a spreadsheet, whose cells have no types that hold for a column. Save the sheet as CSV in UTF-8 and name that "
    "file, or in Python pass pandas.read_excel(...)."
)
_FEATHER = (
    "an Arrow file (Feather), which the embedded engine does not read. In Python pass "
    "pyarrow.feather.read_table(...), or write it as Parquet with pyarrow.parquet.write_table and name that file."
)
_ARCHIVE = "an archive of files. Unpack it, and name the file that is in it."
_PACKED = "compressed in a way that podium does not read. Unpack it, or compress it as .gz or .bz2."
_FRAMES = {
    ".orc": ("an ORC file", "read_orc"),
    ".sas7bdat": ("a file of SAS", "read_sas"),
    ".xpt": ("a file of SAS", "read_sas"),
    ".sav": ("a file of SPSS", "read_spss"),
    ".dta": ("a file of Stata", "read_stata"),
    ".h5": ("an HDF5 file", "read_hdf"),
    ".pkl": ("a pickle", "read_pickle"),
    ".pickle": ("a pickle", "read_pickle"),
}
_OTHERS = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb"), _EXCEL),
    ".ods": _OPEN_DOCUMENT,
    **dict.fromkeys((".feather", ".arrow", ".ipc"), _FEATHER),
    **dict.fromkeys((".zip", ".tar", ".tgz", ".7z", ".rar"), _ARCHIVE),
    **dict.fromkeys((".zst", ".xz", ".lz4", ".z", ".br"), _PACKED),
    ".avro": "an Avro file, which the embedded engine does not read. Write it as Parquet, and name that file.",
    **{
        ending: f"{what}, which the embedded engine does not read. In Python pass pandas.{function}(...)."
        for ending, (what, function) in _FRAMES.items()
    },
}
_MARKS = {
    b"\xff\xfe": "UTF-16, not {}. Save it as UTF-8 (in Excel: Save As, CSV UTF-8), or convert it with iconv.",
    b"\xfe\xff": "UTF-16, not {}. Save it as UTF-8 (in Excel: Save As, CSV UTF-8), or convert it with iconv.",
    b"\x1f\x8b": "compressed, and its name does not say so. Unpack it, or let its name end in .gz.",
    b"BZh": "compressed, and its name does not say so. Unpack it, or let its name end in .bz2.",
    b"PK\x03\x04": "a zip archive or a workbook, not text. Unpack it, or save the sheet as CSV UTF-8.",
    b"\x28\xb5\x2f\xfd": "compressed by zstd. Unpack it, or compress it as .gz or .bz2.",
    b"\xfd7zXZ": "compressed by xz. Unpack it, or compress it as .gz or .bz2.",
    b"PAR1": "Parquet, and its name does not say so. Let its name end in .parquet.",
}
"""First bytes of files that are not text, whatever their names say. They hold no data of any row."""


def other_format(ending: str) -> str | None:
    """What a file with this ending is, and how to convert it; None for unknown endings."""
    return _OTHERS.get(ending)


def unreadable_text(head: bytes, encoding: str) -> str | None:
    """What a file with these first bytes is, and how to convert it; None if they are not known."""
    return next((said.format(encoding) for mark, said in _MARKS.items() if head.startswith(mark)), None)
