"""The Gaussian filter: a fully adaptive total whose guarantee is that of Gaussian noise.

``steps_of`` reads steps off events, ``price`` says what one costs, a ``Chain`` is what a call is reserved and settled
at, and ``GaussianLimits`` are the total. The proofs are in docs/proofs/gaussian-filter.md.
"""

from podium.privacy.gaussian.chains import Chain, ChainPart, FoundChain, chain, find_chain
from podium.privacy.gaussian.gaussian_limits import GaussianLimits
from podium.privacy.gaussian.prices import nodes, price, required_remainder
from podium.privacy.gaussian.steps import Step, steps_of

__all__ = [
    "Chain",
    "ChainPart",
    "FoundChain",
    "GaussianLimits",
    "Step",
    "chain",
    "find_chain",
    "nodes",
    "price",
    "required_remainder",
    "steps_of",
]
