"""Mechanisms: each a frozen description with its sampler, its exact law and its cost."""

from podium.mechanisms.adaptive import AdaptiveTopK
from podium.mechanisms.base import Mechanism
from podium.mechanisms.canonical import CanonicalTopK
from podium.mechanisms.exponential import ExponentialTopK, ExponentialWithGap
from podium.mechanisms.fixed_threshold import FixedThreshold
from podium.mechanisms.hybrid import HybridTopK
from podium.mechanisms.joint import JointTopK
from podium.mechanisms.limited_domain import LimitedDomain
from podium.mechanisms.noisy import NoisyTopK, PermuteAndFlip
from podium.mechanisms.oneshot import OneshotLaplace
from podium.mechanisms.pay_what_you_get import PayWhatYouGet
from podium.mechanisms.private_k_bar import PrivateKBar
from podium.mechanisms.rising import RisingTopK
from podium.mechanisms.set_union import SetUnionThenTopK, TwoReadings
from podium.mechanisms.sparse import GaussianSparseHistogram
from podium.mechanisms.sparse_vector import SparseVector
from podium.mechanisms.tested import TestedTopK
from podium.mechanisms.weights import Weights

__all__ = [
    "AdaptiveTopK",
    "CanonicalTopK",
    "ExponentialTopK",
    "ExponentialWithGap",
    "FixedThreshold",
    "GaussianSparseHistogram",
    "HybridTopK",
    "JointTopK",
    "LimitedDomain",
    "Mechanism",
    "NoisyTopK",
    "OneshotLaplace",
    "PayWhatYouGet",
    "PermuteAndFlip",
    "PrivateKBar",
    "RisingTopK",
    "SetUnionThenTopK",
    "SparseVector",
    "TestedTopK",
    "TwoReadings",
    "Weights",
]
