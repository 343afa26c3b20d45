"""What podium says where it refuses an argument: the whole text, which a person has to act on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from podium.errors import InvalidArgument

__all__ = ["refusal"]


def refusal(call: Callable[[], object]) -> str:
    """The text with which the call refuses an argument."""
    with pytest.raises(InvalidArgument) as caught:
        call()
    return str(caught.value)
