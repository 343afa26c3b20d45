"""Which processes are certainly gone."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from podium.storage.processes import Owner, is_certainly_gone, this_process

ANOTHER = "of another process, or of another ledger object in this one"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process started")


@pytest.fixture
def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_this_process_lives() -> None:
    here = this_process()
    assert this_process() is here
    assert not is_certainly_gone(here)
    assert not is_certainly_gone(replace(here, token=ANOTHER))


def test_a_process_that_ended_is_gone(dead_pid: int) -> None:
    assert is_certainly_gone(replace(this_process(), pid=dead_pid, token=ANOTHER))


def test_a_number_that_was_given_to_another_process_is_gone() -> None:
    here = this_process()
    assert is_certainly_gone(replace(here, started=str(int(here.started) - 1), token=ANOTHER))


def test_an_earlier_boot_of_this_machine_is_gone() -> None:
    assert is_certainly_gone(replace(this_process(), boot="earlier", token=ANOTHER))


@pytest.mark.parametrize(
    "changes",
    [
        {"boot": "another", "host": "another machine"},
        {"namespace": "pid:[another container]"},
        {"boot": ""},
        {"started": ""},
    ],
)
def test_what_cannot_be_seen_counts_as_alive(changes: dict[str, str], dead_pid: int) -> None:
    assert not is_certainly_gone(replace(this_process(), pid=dead_pid, token=ANOTHER, **changes))


def test_a_platform_without_process_information_is_never_certain(dead_pid: int) -> None:
    elsewhere = Owner("host", "", "", 1, "", "viewer")
    assert not is_certainly_gone(replace(this_process(), pid=dead_pid, token=ANOTHER), viewer=elsewhere)


def test_owners_are_text() -> None:
    here = this_process()
    assert Owner.from_text(here.to_text()) == here
    for text in ("", "{}", "[1]", '{"host": 1}', "null"):
        assert Owner.from_text(text) is None
