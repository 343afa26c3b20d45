"""Exact randomness: the only package that draws random bits.

``race`` is the kernel of every selection by noise on scores, ``choose`` the same distribution for weights of an
exponential mechanism from fewer bits, ``noisy_value`` and the integer noises release numbers. All are exact: their
distribution is that of the ideal mechanism on real numbers, not of a floating-point approximation. ``race_above`` is
the race against a public level.
"""

from podium.randomness.bits import BitSource, system_bits
from podium.randomness.centred_gaussian import centred_values
from podium.randomness.choice import choose
from podium.randomness.coins import Coins
from podium.randomness.correlated_gaussian import correlated_values
from podium.randomness.discrete import bernoulli_exp, discrete_gaussian, discrete_laplace, geometric
from podium.randomness.grid import FINEST_GRID, grid_bits_for, steps_per_unit
from podium.randomness.integers import uniform_below
from podium.randomness.noise import NOISES, Noise, NoiseName, lipschitz_noise
from podium.randomness.noisy_values import noisy_value, noisy_values
from podium.randomness.number import NoisyNumber
from podium.randomness.race import Finish, race, race_above

__all__ = [
    "FINEST_GRID",
    "NOISES",
    "BitSource",
    "Coins",
    "Finish",
    "Noise",
    "NoiseName",
    "NoisyNumber",
    "bernoulli_exp",
    "centred_values",
    "choose",
    "correlated_values",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "grid_bits_for",
    "lipschitz_noise",
    "noisy_value",
    "noisy_values",
    "race",
    "race_above",
    "steps_per_unit",
    "system_bits",
    "uniform_below",
]
