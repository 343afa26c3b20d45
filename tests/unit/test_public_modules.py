"""Public names say that they are podium's, whatever file they live in, and pickles find them there."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import pytest
from tests.support.pictures import made

import podium
from podium import BOTTOM, Budget, Histogram, Scores

CALLABLE = sorted(set(podium.__all__) - {"BOTTOM", "__version__"})
VALUES: dict[str, Any] = {
    "release": made(("a", "b"), k=5, counts=True, columns=("article",)),
    "set": made(("a", "b"), outcome=frozenset("ab")),
    "budget": Budget(epsilon=1, delta="1e-6", items=10, questions=2),
    "bottom": BOTTOM,
}


@pytest.mark.parametrize("name", CALLABLE)
def test_a_public_name_says_podium(name: str) -> None:
    value = getattr(podium, name)
    assert value.__module__ == "podium"
    assert value.__qualname__ == name
    assert pickle.loads(pickle.dumps(value)) is value  # noqa: S301 - our own


def test_what_is_not_a_class_is_there_too() -> None:
    assert set(CALLABLE) | {"BOTTOM", "__version__"} == set(podium.__all__)
    assert repr(Histogram).endswith("'podium.Histogram'>")
    assert repr(Scores).endswith("'podium.Scores'>")


@pytest.mark.parametrize("name", VALUES)
def test_values_survive_a_pickle(name: str) -> None:
    again = pickle.loads(pickle.dumps(VALUES[name]))  # noqa: S301 - our own
    assert again == VALUES[name]
    assert type(again) is type(VALUES[name])


def test_a_pickle_that_names_the_file_is_still_read() -> None:
    for home, name in (("podium.release", "Release"), ("podium.ledger.budget", "Budget"), ("podium.release", "Bottom")):
        found = pickle.loads(f"c{home}\n{name}\n.".encode())  # noqa: S301 - our own
        assert found.__qualname__ == name


def test_another_process_reads_a_pickle_and_a_result_says_podium_without_being_asked() -> None:
    program = (
        "import pickle, sys; found = pickle.loads(sys.stdin.buffer.read()); import podium; "
        "assert type(found).__module__ == 'podium'; sys.stdout.write(found.to_json())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(VALUES["release"]), capture_output=True, check=True
    )
    assert done.stdout.decode() == VALUES["release"].to_json()
    asked = "import podium; podium.top; from podium.release import Release; assert Release.__module__ == 'podium'"
    subprocess.run([sys.executable, "-c", asked], check=True)
