"""Mechanisms that pay for numbers of users and then choose: what they cost, and what the branches may."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_KNOWN = "mechanisms/by_sizes/sized_known.py"
_UNKNOWN = "mechanisms/by_sizes/sized_topk.py"
_SHARED = "mechanisms/shared_vote.py"
_RECEIPT = "unit/mechanisms/test_sized_known.py::test_a_receipt_lists_the_sizes_and_the_branch"
_PARTS = "exhaustive/mechanisms/test_sized_known.py::test_every_branch_is_within_its_part"
_METERED = "unit/mechanisms/test_metered.py::test_what_is_paid_is_what_was_drawn"
_UNKNOWN_SUM = "unit/mechanisms/test_by_sizes.py::test_the_parts_add_up_to_what_was_asked_for"
_UNKNOWN_PARTS = "exhaustive/mechanisms/test_by_sizes.py::test_every_branch_is_within_its_part"
_LEAD = "unit/mechanisms/test_by_sizes.py::test_one_or_two_places_ask_how_far_they_are_ahead"

MUTANTS = (
    Mutant(
        _UNKNOWN,
        "return self.epsilon - self.epsilon_for_sizes - self.epsilon_for_lead",
        "return self.epsilon - self.epsilon_for_sizes",
        "what a lead costs is no longer there for the branch",
        (_UNKNOWN_SUM,),
    ),
    Mutant(
        _UNKNOWN,
        "return self._limited_domain(self.epsilon - self.epsilon_for_lead)",
        "return self._limited_domain(self.epsilon)",
        "selections that follow a lead leave room for it",
        (_UNKNOWN_PARTS,),
    ),
    Mutant(
        "mechanisms/by_sizes/paid_numbers.py",
        "paid=Receipt((*asked, *release.paid.events))",
        "paid=Receipt(release.paid.events)",
        "the lead or the gap, and the numbers of users, are paid for",
        (_LEAD, _RECEIPT),
    ),
    Mutant(
        _UNKNOWN,
        "return self.within_reach(noisy)",
        "return self.within_reach(Fraction(reader.lead(self.limited_domain_at_once)))",
        "whether more is asked follows from the noisy lead, not from the lead",
        ("unit/mechanisms/test_by_sizes.py::test_the_noisy_lead_decides",),
    ),
    Mutant(
        "mechanisms/by_sizes/clear_gap.py",
        "int(top.counts[k - 1])",
        "int(top.counts[:k].sum())",
        "one user moves a lead by one",
        ("exhaustive/mechanisms/test_by_sizes.py::test_one_user_moves_a_lead_by_one",),
    ),
    Mutant(
        _KNOWN,
        "return self.epsilon - self.epsilon_for_sizes - self.epsilon_for_gap",
        "return self.epsilon - self.epsilon_for_gap",
        "what numbers of users cost is no longer there for the branch",
        ("unit/mechanisms/test_sized_known.py::test_the_parts_add_up_to_what_was_asked_for",),
    ),
    Mutant(
        _KNOWN,
        "return self.epsilon - self.epsilon_for_sizes - self.epsilon_for_gap",
        "return self.epsilon - self.epsilon_for_sizes",
        "what a gap costs is no longer there for the branch",
        ("unit/mechanisms/test_sized_known.py::test_the_parts_add_up_to_what_was_asked_for",),
    ),
    Mutant(
        "mechanisms/by_sizes/paid_numbers.py",
        "scale = 1 / epsilon",
        "scale = 1 / (16 * epsilon)",
        "the gap and the numbers of users have the noise that their part pays for",
        (_RECEIPT,),
    ),
    Mutant(
        _KNOWN,
        "self.clear_after(noisy_gap)",
        "self.clear_after(Fraction(gap))",
        "whether more is asked follows from the noisy gap, not from the gap",
        ("unit/mechanisms/test_sized_known.py::test_the_noisy_gap_decides",),
    ),
    Mutant(
        "mechanisms/by_sizes/clear_gap.py",
        "int(top.counts[k - 1]) - top.next_count",
        "int(top.counts[k - 1]) + top.next_count",
        "one user moves a gap by one",
        ("exhaustive/mechanisms/test_sized_known.py::test_one_user_moves_a_gap_by_one",),
    ),
    Mutant(
        "curator/rounds.py",
        "max_items_per_user=max_items_per_user, salt=salt)\n            self._known",
        "max_items_per_user=None, salt=None)\n            self._known",
        "a gap and selections see users who are cut as stated",
        ("integration/curator/test_known_by_sizes.py::test_users_are_cut_in_every_branch",),
    ),
    Mutant(
        _KNOWN,
        "return RisingTopK.within(self.k, epsilon=self.epsilon_of_branch, delta=self.delta)",
        "return RisingTopK.within(self.k, epsilon=self.epsilon, delta=self.delta)",
        "each branch keeps to its part, whichever runs",
        (_PARTS,),
    ),
    Mutant(
        _KNOWN,
        "return NoisyTopK(self.k, self.epsilon_of_branch)",
        "return NoisyTopK(self.k, self.epsilon)",
        "each branch keeps to its part without a delta too",
        (_PARTS,),
    ),
    Mutant(
        _KNOWN,
        "return SharedVoteTopK(self.k, self.epsilon_of_branch, max_items_per_user=self._cap)",
        "return SharedVoteTopK(self.k, self.epsilon, max_items_per_user=self._cap)",
        "Laplace noise keeps to its part",
        (_PARTS,),
    ),
    Mutant(
        _KNOWN,
        "self.k, epsilon=self.epsilon_of_branch, delta=self.delta, max_items_per_user=self._cap",
        "self.k, epsilon=self.epsilon, delta=self.delta, max_items_per_user=self._cap",
        "rounds keep to their part",
        (_PARTS,),
    ),
    Mutant(
        _SHARED,
        "scale = self.weights.unit / self.epsilon",
        "scale = 1 / self.epsilon",
        "the noise is in the units of the weights",
        (_METERED,),
    ),
    Mutant(
        "mechanisms/weights.py",
        "return Weights.shared(cap)",
        "return Weights.spread(cap)",
        "a user adds one vote in all, not one for the squares",
        ("exhaustive/mechanisms/test_sized_known.py::test_a_whole_vote_for_each_item_is_caught",),
    ),
    Mutant(
        _SHARED,
        "return (LaplaceNoise(self.epsilon * self.weights.total_sensitivity),)",
        "return (LaplaceNoise(self.epsilon / 2),)",
        "the receipt is of the noise that was drawn",
        (_METERED,),
    ),
    Mutant(
        "curator/rounds.py",
        "max_items_per_user=max_items_per_user, salt=salt)",
        "max_items_per_user=None)",
        "a stated bound cuts users where items are chosen in turn too",
        ("integration/curator/test_known_by_sizes.py::test_users_are_cut_in_every_branch",),
    ),
)
