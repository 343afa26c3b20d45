"""What a release says beside its list: what is not in it, and all there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from podium.errors import InvalidArgument
from podium.exact import exact_fraction, exact_integer, positive_fraction
from podium.privacy.rounding import decimal_repr
from podium.release.item_json import LARGEST_VALUE, of_type

__all__ = ["Beside", "BesideNoise"]

BesideNoise: TypeAlias = Literal["gaussian", "laplace"]
_NOISES: tuple[BesideNoise, ...] = ("gaussian", "laplace")


@dataclass(frozen=True, slots=True)
class Beside:
    """Noisy numbers beside a list.

    Where users rank, ``others`` have none of the items of the list, and ``total`` have at least one item. Both have
    discrete noise of this ``scale`` (sigma of Gaussian noise), independent of each other and of the list.

    Where events or sums rank, ``others`` is what users add to all other items together, each of them at most
    ``ceiling``; ``total`` is the sum of the values of the list and of ``others``. Noise of this scale is on ``others``.
    """

    __repr__ = decimal_repr

    others: Fraction
    total: Fraction
    noise: BesideNoise
    scale: str
    ceiling: Fraction | None = None

    def to_dict(self) -> dict[str, Any]:
        """A JSON object; amounts are text, as all exact numbers are."""
        if self.ceiling is None:
            return {"others": int(self.others), "total": int(self.total), "noise": self.noise, "scale": self.scale}
        numbers = {"others": str(self.others), "total": str(self.total)}
        return {**numbers, "noise": self.noise, "scale": self.scale, "ceiling": str(self.ceiling)}

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any] | None) -> Beside | None:
        """What ``to_dict`` wrote; its errors are those of a parser."""
        if raw is None:
            return None
        noise = next((known for known in _NOISES if known == raw["noise"]), None)
        if noise is None:
            raise InvalidArgument("noise", raw["noise"], allowed=", ".join(_NOISES))
        positive_fraction(of_type(raw["scale"], str), "scale")
        scale = str(exact_fraction(raw["scale"], "scale"))
        if "ceiling" in raw:
            ceiling = positive_fraction(of_type(raw["ceiling"], str), "ceiling")
            others, total = (exact_fraction(of_type(raw[name], str), name) for name in ("others", "total"))
        else:
            ceiling = None
            others, total = (Fraction(exact_integer(of_type(raw[name], int), name)) for name in ("others", "total"))
        if max(abs(others), abs(total)) > LARGEST_VALUE:
            raise ValueError
        return cls(others, total, noise, scale, ceiling)

    def in_amounts(self, unit: Fraction) -> Beside:
        """The same numbers, which were counted in this unit."""
        ceiling = None if self.ceiling is None else self.ceiling * unit
        scale = str(Fraction(self.scale) * unit)
        return Beside(self.others * unit, self.total * unit, self.noise, scale, ceiling)
