"""Releases: what came out, what was paid for it, and which guarantee holds.

A release is the only thing that leaves a private computation. It is plain data, survives a round trip
through JSON, and carries its own receipt.
"""

from podium.release.beside import Beside
from podium.release.grouped_release import GroupedRelease
from podium.release.groups import Group, GroupLists, RankedList
from podium.release.item_json import ValueKind
from podium.release.outcome import BOTTOM, Bottom, ItemSet, Outcome
from podium.release.release import Receipt, Release

__all__ = [
    "BOTTOM", "Beside", "Bottom", "Group", "GroupLists", "GroupedRelease", "ItemSet", "Outcome", "RankedList",
    "Receipt", "Release", "ValueKind",
]  # fmt: skip
