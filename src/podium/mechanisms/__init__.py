"""Mechanisms: frozen descriptions with their samplers, costs and, of those that draw once, exact distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.late_names import late_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from podium.mechanisms.base import Mechanism
    from podium.mechanisms.by_sizes.sized_known import SizedKnownTopK
    from podium.mechanisms.by_sizes.sized_topk import SizedTopK
    from podium.mechanisms.canonical.canonical_topk import CanonicalTopK
    from podium.mechanisms.exponential import ExponentialTopK, ExponentialWithGap
    from podium.mechanisms.fixed_threshold import FixedThreshold
    from podium.mechanisms.gaussian.adaptive import AdaptiveTopK
    from podium.mechanisms.gaussian.refined import RefinedTopK
    from podium.mechanisms.gaussian.set_union import SetUnionThenTopK, TwoReadings
    from podium.mechanisms.gaussian.sparse_histogram import GaussianSparseHistogram
    from podium.mechanisms.joint.joint_topk import JointTopK
    from podium.mechanisms.limited_domain.limited_domain import LimitedDomain
    from podium.mechanisms.limited_domain.pay_what_you_get import PayWhatYouGet
    from podium.mechanisms.limited_domain.private_k_bar import PrivateKBar
    from podium.mechanisms.measures.measured_topk import MeasuredTopK
    from podium.mechanisms.noisy import NoisyTopK, PermuteAndFlip
    from podium.mechanisms.oneshot import OneshotLaplace
    from podium.mechanisms.rising import RisingTopK
    from podium.mechanisms.shared_vote import SharedVoteTopK
    from podium.mechanisms.sparse_vector.hybrid import HybridTopK
    from podium.mechanisms.sparse_vector.technique import SparseVector
    from podium.mechanisms.tested import TestedTopK
    from podium.mechanisms.truncated.gaussian_histogram import TruncatedGaussianHistogram
    from podium.mechanisms.truncated.laplace_histogram import TruncatedLaplaceHistogram
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
    "MeasuredTopK",
    "Mechanism",
    "NoisyTopK",
    "OneshotLaplace",
    "PayWhatYouGet",
    "PermuteAndFlip",
    "PrivateKBar",
    "RefinedTopK",
    "RisingTopK",
    "SetUnionThenTopK",
    "SharedVoteTopK",
    "SizedKnownTopK",
    "SizedTopK",
    "SparseVector",
    "TestedTopK",
    "TruncatedGaussianHistogram",
    "TruncatedLaplaceHistogram",
    "TwoReadings",
    "Weights",
]

__getattr__: Callable[[str], object] = late_names(
    __name__,
    {
        "AdaptiveTopK": "gaussian.adaptive",
        "CanonicalTopK": "canonical.canonical_topk",
        "ExponentialTopK": "exponential",
        "ExponentialWithGap": "exponential",
        "FixedThreshold": "fixed_threshold",
        "GaussianSparseHistogram": "gaussian.sparse_histogram",
        "HybridTopK": "sparse_vector.hybrid",
        "JointTopK": "joint.joint_topk",
        "LimitedDomain": "limited_domain.limited_domain",
        "MeasuredTopK": "measures.measured_topk",
        "Mechanism": "base",
        "NoisyTopK": "noisy",
        "OneshotLaplace": "oneshot",
        "PayWhatYouGet": "limited_domain.pay_what_you_get",
        "PermuteAndFlip": "noisy",
        "PrivateKBar": "limited_domain.private_k_bar",
        "RefinedTopK": "gaussian.refined",
        "RisingTopK": "rising",
        "SetUnionThenTopK": "gaussian.set_union",
        "SharedVoteTopK": "shared_vote",
        "SizedKnownTopK": "by_sizes.sized_known",
        "SizedTopK": "by_sizes.sized_topk",
        "SparseVector": "sparse_vector.technique",
        "TestedTopK": "tested",
        "TruncatedGaussianHistogram": "truncated.gaussian_histogram",
        "TruncatedLaplaceHistogram": "truncated.laplace_histogram",
        "TwoReadings": "gaussian.set_union",
        "Weights": "weights",
    },
)
