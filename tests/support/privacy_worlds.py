"""Strategies shared by the accounting properties: exact numbers, events, guarantees."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from podium.privacy import (
    ApproximateMechanism,
    BottomEvent,
    CorrelatedNoise,
    Event,
    GaussianNoise,
    Guarantee,
    LaplaceNoise,
    LimitedDomainCall,
    PureMechanism,
    Selection,
    SetSelection,
)

__all__ = ["deltas", "epsilons", "events", "guarantees", "pairs", "rhos"]

epsilons = st.fractions(min_value=Fraction(1, 10**4), max_value=8, max_denominator=10**6)
rhos = st.fractions(min_value=Fraction(1, 10**6), max_value=20, max_denominator=10**7)
deltas = st.integers(1, 10**9).map(lambda n: Fraction(n, 10**10))


@st.composite
def _pure(draw: st.DrawFn) -> Event:
    reserved = draw(epsilons)
    return PureMechanism(reserved * draw(st.fractions(0, 1, max_denominator=8)), reserved=reserved)


events: st.SearchStrategy[Event] = st.one_of(
    epsilons.map(Selection),
    epsilons.map(BottomEvent),
    epsilons.map(SetSelection),
    _pure(),
    st.builds(LaplaceNoise, epsilons, discrete=st.booleans()),
    st.builds(
        GaussianNoise,
        st.fractions(Fraction(1, 2), 100, max_denominator=1000),
        sensitivity_squared=st.integers(1, 9),
        discrete=st.booleans(),
    ),
    st.builds(
        lambda items, sigma, shared: CorrelatedNoise(items, max(1, items // 2), sigma, shared),
        st.integers(1, 9),
        st.fractions(Fraction(1, 2), 100, max_denominator=1000),
        st.fractions(0, 100, max_denominator=1000),
    ),
    st.builds(ApproximateMechanism, epsilons, deltas),
    deltas.map(LimitedDomainCall),
)

_points = st.lists(st.tuples(epsilons, deltas), min_size=1, max_size=3)

pairs: st.SearchStrategy[Guarantee] = st.one_of(
    epsilons.map(Guarantee.pure),
    st.builds(Guarantee.approximate, epsilons, deltas),
    _points.map(Guarantee.profile),
)
"""Guarantees that are a list of (epsilon, delta) pairs and nothing else."""

guarantees: st.SearchStrategy[Guarantee] = st.one_of(
    pairs,
    rhos.map(Guarantee.zcdp),
    st.builds(Guarantee.approximate_zcdp, rhos, deltas),
)
