"""Errors about what the caller passed, or did not install."""

from __future__ import annotations

from podium.errors.installing import install_command
from podium.errors.root import PodiumError, quote

__all__ = ["InvalidArgument", "MissingLibrary", "OutputFailed", "UnknownEvent"]


class InvalidArgument(PodiumError, ValueError):
    """A parameter is outside what is allowed.

    The fields let a caller react without parsing the text.
    """

    def __init__(self, name: str, value: object, *, allowed: str, hint: str = "") -> None:
        self.name = name
        self.value = value
        self.allowed = allowed
        self.hint = hint
        super().__init__(" ".join(self.lines))

    @property
    def lines(self) -> tuple[str, ...]:
        """What is wrong, what is allowed, what to do."""
        wrong = f"{self.name}={quote(self.value)} is not valid."
        return tuple(line for line in (wrong, f"Allowed: {self.allowed}.", self.hint.rstrip()) if line)


class UnknownEvent(InvalidArgument):
    """A receipt names a kind or version of event that this release of podium does not know."""

    def __init__(self, kind: object, version: object) -> None:
        self.kind = kind
        self.version = version
        super().__init__(
            "event",
            (kind, version),
            allowed="a kind and version of podium's closed registry of events",
            hint="A receipt written by a newer podium needs that version, or a later one, to be read.",
        )


class MissingLibrary(PodiumError, ImportError):
    """What was asked for needs an optional library that is not installed. Nothing was read or charged."""

    def __init__(self, library: str, *, purpose: str, extra: str) -> None:
        self.library = library
        self.purpose = purpose
        self.extra = extra
        super().__init__(f"library={library!r} is not installed. {purpose} needs it. Run: {install_command(extra)}")


class OutputFailed(PodiumError, OSError):
    """An answer was released and paid for, but the file that it should go to could not be written."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"output={path!r} could not be written, although the answer was released. The answer is on stdout instead. "
            "Free some space there, or name another file; with a ledger, asking the same question again is free."
        )
