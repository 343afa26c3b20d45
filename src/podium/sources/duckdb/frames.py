"""Frames in memory: pandas, polars, Arrow and their like, known without loading any of them."""

from __future__ import annotations

__all__ = ["is_frame", "library_of", "speaks_arrow"]


def is_frame(data: object) -> bool:
    """Whether this is a frame of pandas, polars or pyarrow; its library is not imported to find out."""
    return library_of(data) is not None


def speaks_arrow(data: object) -> bool:
    """Whether this object hands its columns over as an Arrow stream or array.

    Its class is asked, not the object: looking up an attribute may compute something, as it does on lazy frames.
    """
    return any(hasattr(type(data), name) for name in ("__arrow_c_stream__", "__arrow_c_array__"))


def library_of(data: object) -> str | None:
    """The library that made this, if it is a frame of pandas, polars or pyarrow."""
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
