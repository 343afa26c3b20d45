"""Guarantees, spent and remaining budgets: exact accounting of privacy loss.

``Guarantee`` states what holds, an *event* records what was run, ``best_bound`` finds the smallest sound total of many
events, a ``Filter`` keeps them inside a total fixed in advance, and calibration inverts all of it.
"""

from podium.privacy.calibration import (
    CountPlan,
    SelectionPlan,
    calibrate_epsilon,
    calibrate_items,
    calibrate_schedule,
    calibrate_sigma,
    largest_selection_epsilon,
    split_budget,
)
from podium.privacy.costs import Cost, actual_cost, worst_case
from podium.privacy.encoding import decode_event, encode_event, events_from_json, events_to_json
from podium.privacy.events import (
    ApproximateMechanism,
    BottomEvent,
    CorrelatedNoise,
    Event,
    GaussianNoise,
    HiddenItems,
    LaplaceNoise,
    LimitedDomainCall,
    PureMechanism,
    Selection,
    SetSelection,
    limited_domain_events,
)
from podium.privacy.filters import Charge, Filter, Limits, Odometer
from podium.privacy.guarantee import Guarantee, total
from podium.privacy.theorems.adaptive_optimum import adaptive_optimum, adaptive_optimum_delta
from podium.privacy.theorems.best_bound import Bound, Candidate, Theorem, best_bound
from podium.privacy.theorems.bounded_range import bounded_range_rho, bounded_range_rho_simple
from podium.privacy.theorems.composition import (
    DiscretePoint,
    advanced,
    basic,
    bounded_range_curve,
    bounded_range_three_terms,
    bounded_range_zcdp,
    limited_domain_delta,
    optimal_pure,
    optimal_pure_delta,
    optimal_pure_discrete,
)
from podium.privacy.theorems.conversion import largest_rho, split_delta, zcdp_delta, zcdp_epsilon
from podium.privacy.theorems.gaussian import calibrate_gaussian, gaussian_delta, gaussian_epsilon
from podium.privacy.theorems.nonadaptive import nonadaptive_optimum, nonadaptive_optimum_delta
from podium.privacy.theorems.profile import Profile

__all__ = [
    "ApproximateMechanism",
    "BottomEvent",
    "Bound",
    "Candidate",
    "Charge",
    "CorrelatedNoise",
    "Cost",
    "CountPlan",
    "DiscretePoint",
    "Event",
    "Filter",
    "GaussianNoise",
    "Guarantee",
    "HiddenItems",
    "LaplaceNoise",
    "LimitedDomainCall",
    "Limits",
    "Odometer",
    "Profile",
    "PureMechanism",
    "Selection",
    "SelectionPlan",
    "SetSelection",
    "Theorem",
    "actual_cost",
    "adaptive_optimum",
    "adaptive_optimum_delta",
    "advanced",
    "basic",
    "best_bound",
    "bounded_range_curve",
    "bounded_range_rho",
    "bounded_range_rho_simple",
    "bounded_range_three_terms",
    "bounded_range_zcdp",
    "calibrate_epsilon",
    "calibrate_gaussian",
    "calibrate_items",
    "calibrate_schedule",
    "calibrate_sigma",
    "decode_event",
    "encode_event",
    "events_from_json",
    "events_to_json",
    "gaussian_delta",
    "gaussian_epsilon",
    "largest_rho",
    "largest_selection_epsilon",
    "limited_domain_delta",
    "limited_domain_events",
    "nonadaptive_optimum",
    "nonadaptive_optimum_delta",
    "optimal_pure",
    "optimal_pure_delta",
    "optimal_pure_discrete",
    "split_budget",
    "split_delta",
    "total",
    "worst_case",
    "zcdp_delta",
    "zcdp_epsilon",
]
