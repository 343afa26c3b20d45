"""Frames in memory: pandas, polars and Arrow, known without loading any of them."""

from __future__ import annotations

__all__ = ["is_frame", "library_of"]


def is_frame(data: object) -> bool:
    """Whether this is a frame that can be read; its library is not imported to find out."""
    return library_of(data) is not None


def library_of(data: object) -> str | None:
    """The library that made this, if it is a frame."""
    for cls in type(data).__mro__:
        root = cls.__module__.partition(".")[0]
        if (root, cls.__name__) in (
            ("pandas", "DataFrame"),
            ("polars", "DataFrame"),
            ("pyarrow", "Table"),
            ("pyarrow", "RecordBatch"),
        ):
            return root
    return None
