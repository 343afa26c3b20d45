"""Names of a package that are imported on first use."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping

__all__ = ["late_names"]


def late_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The ``__getattr__`` of a package: it imports a name from its home, a module below the package, when it is used.

    Whoever imports one module of the package then does not wait for all others.
    """

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
