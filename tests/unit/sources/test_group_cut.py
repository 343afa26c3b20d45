"""Which groups and pairs of a user count: what a cut says of itself, and what kept pairs may be read with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podium.errors import InvalidArgument
from podium.sources import CountQuery, GroupCut
from podium.sources.sql.groups.named_pairs import require_groups

SALT = "0123456789abcdef" * 2


def test_a_cut_that_hashes_needs_a_salt() -> None:
    for cut, hashes in (
        (GroupCut(("country",)), True),
        (GroupCut(("country",), None), False),
        (GroupCut(("country",), None, pairs_per_user=3), True),
    ):
        assert cut.bounds is hashes
        assert CountQuery(("article",), "user", groups=cut, salt=SALT if hashes else None).bounds is hashes
        with pytest.raises(InvalidArgument, match=r"^salt="):
            CountQuery(("article",), "user", groups=cut, salt=None if hashes else SALT)
    with pytest.raises(InvalidArgument, match=r"^max_items_per_user="):
        GroupCut(("country",), pairs_per_user=0)


def test_kept_pairs_are_read_with_the_salt_that_cut_them() -> None:
    kept = CountQuery(("article",), "user", groups=GroupCut(("country",), None, pairs_per_user=3), salt=SALT)
    require_groups(replace(kept, groups=GroupCut(("country",), None, within_group=True, pairs_per_user=3)), kept)
    for other in (
        replace(kept, salt=SALT[::-1]),
        replace(kept, groups=GroupCut(("country",), None, pairs_per_user=2)),
    ):
        with pytest.raises(InvalidArgument, match="other groups"):
            require_groups(other, kept)
