"""What a release says beside its list: users with none of its items, and all users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from podium.errors import InvalidArgument
from podium.exact import exact_fraction, exact_integer, positive_fraction
from podium.release.item_json import of_type

__all__ = ["Beside", "BesideNoise"]

BesideNoise: TypeAlias = Literal["gaussian", "laplace"]
_NOISES: tuple[BesideNoise, ...] = ("gaussian", "laplace")


@dataclass(frozen=True, slots=True)
class Beside:
    """Noisy numbers of users: with none of the items of the list (``others``), and with at least one item (``total``).

    Both have discrete noise of this ``scale`` (sigma of Gaussian noise), independent of each other and of the list.
    """

    others: int
    total: int
    noise: BesideNoise
    scale: str

    def to_dict(self) -> dict[str, Any]:
        """A JSON object."""
        return {"others": self.others, "total": self.total, "noise": self.noise, "scale": self.scale}

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any] | None) -> Beside | None:
        """What ``to_dict`` wrote; its errors are those of a parser."""
        if raw is None:
            return None
        noise = next((known for known in _NOISES if known == raw["noise"]), None)
        if noise is None:
            raise InvalidArgument("noise", raw["noise"], allowed=", ".join(_NOISES))
        positive_fraction(of_type(raw["scale"], str), "scale")
        found = [exact_integer(of_type(raw[name], int), name) for name in ("others", "total")]
        return cls(found[0], found[1], noise, str(exact_fraction(raw["scale"], "scale")))
