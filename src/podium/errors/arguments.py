"""Errors about what the caller passed, or did not install."""

from __future__ import annotations

from podium.errors.root import PodiumError, quote

__all__ = ["InvalidArgument", "MissingLibrary", "UnknownEvent"]


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

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.name, self.value, self.allowed, self.hint))


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

    def __reduce__(self) -> tuple[object, ...]:
        return (UnknownEvent, (self.kind, self.version))


class MissingLibrary(PodiumError, ImportError):
    """What was asked for needs an optional library that is not installed. Nothing was read or charged."""

    def __init__(self, library: str, *, purpose: str, extra: str) -> None:
        self.library = library
        self.purpose = purpose
        self.extra = extra
        super().__init__(
            f"library={library!r} is not installed. {purpose} needs it. Run: pip install 'podium-topk[{extra}]'"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_missing, (self.library, self.purpose, self.extra))


def _rebuild(name: str, value: object, allowed: str, hint: str) -> InvalidArgument:
    return InvalidArgument(name, value, allowed=allowed, hint=hint)


def _rebuild_missing(library: str, purpose: str, extra: str) -> MissingLibrary:
    return MissingLibrary(library, purpose=purpose, extra=extra)
