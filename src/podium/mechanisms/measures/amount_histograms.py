"""What the private choices of a clip and of a length share: noisy histograms, all paid for with one rho."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction

from podium.privacy.calibration import calibrate_sigma
from podium.privacy.events import GaussianNoise
from podium.randomness import BitSource, grid_bits_for, noisy_values

__all__ = ["AmountHistograms"]


class AmountHistograms(ABC):
    """Histograms with Gaussian noise on every entry; subclasses are frozen dataclasses that say what is counted."""

    __slots__ = ()
    rho: Fraction

    @property
    @abstractmethod
    def _sensitivity_squared(self) -> int:
        """The square of how far one user moves all histograms together."""

    @property
    def sigma(self) -> Fraction:
        """The noise of each entry, rounded up."""
        return calibrate_sigma(self.rho, sensitivity_squared=self._sensitivity_squared)

    @property
    def event(self) -> GaussianNoise:
        """What the histograms cost together, whatever comes out."""
        return GaussianNoise(self.sigma, sensitivity_squared=self._sensitivity_squared)

    def _add_noise(self, exact: Sequence[int | Fraction], bits: BitSource | None) -> list[Fraction]:
        return noisy_values(exact, scale=self.sigma, noise="gaussian", grid_bits=grid_bits_for(self.sigma), bits=bits)
