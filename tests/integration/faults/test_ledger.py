"""Ledgers on a full disk, on a read-only disk, under a clock that jumps, put back from a copy, on a network mount."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.command_line import podium
from tests.support.limits import files_no_larger_than, without_rights

from podium.errors import InvalidArgument, LedgerUnavailable
from podium.ledger import Budget, open_ledger
from podium.ledger.tables import store
from podium.privacy import Cost
from podium.storage import mounts

PURE = Budget(epsilon=1, items=10, questions=10)
TENTH = Cost(epsilon="0.1", rho="0.005")


def registered(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.db"
    with open_ledger(path) as ledger:
        ledger.register("clicks", PURE, source="s")
    return path


def test_a_full_disk_spends_nothing_and_loses_nothing(tmp_path: Path) -> None:
    path = registered(tmp_path)
    with open_ledger(path) as ledger:
        kept = ledger.reserve("clicks", TENTH, "kept")
        before = path.read_bytes()
        with files_no_larger_than(len(before)):
            with pytest.raises(LedgerUnavailable, match=r"nothing was changed.*free space"):
                ledger.reserve("clicks", TENTH, "q" * 60_000)
            with pytest.raises(LedgerUnavailable, match=r"nothing was changed.*free space"):
                ledger.settle(kept, json.dumps("x" * 60_000), TENTH)
        assert ledger.status("clicks").open_reservations == 1
        assert ledger.status("clicks").reserved.epsilon == Fraction(1, 10)
        ledger.settle(kept, json.dumps("x" * 60_000), TENTH)
        assert ledger.verify().sound


def test_a_ledger_is_not_made_on_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with files_no_larger_than(8192), pytest.raises(LedgerUnavailable, match="free space"):
        open_ledger(path)
    with open_ledger(path) as ledger:
        ledger.register("clicks", PURE, source="s")
        assert ledger.verify().sound


@pytest.mark.parametrize(("file", "folder"), [(0o400, 0o700), (0o600, 0o500), (0o400, 0o500)])
def test_a_ledger_that_may_only_be_read(tmp_path: Path, file: int, folder: int) -> None:
    """SQLite needs the file and, for its journal, the folder. Without them nothing is decided, let alone released."""
    tmp_path = tmp_path / "place"
    tmp_path.mkdir()
    path = registered(tmp_path)
    path.with_name("ledger.db-journal").unlink(missing_ok=True)
    path.chmod(file)
    tmp_path.chmod(folder)
    # The folders above belong to the test's user, who may be root.
    for above in list(tmp_path.parents)[:-1]:
        if above.owner() == tmp_path.owner() and above != Path(tmp_path.anchor):
            above.chmod(above.stat().st_mode | 0o011)
    try:
        with without_rights(path, tmp_path), pytest.raises(LedgerUnavailable), open_ledger(path) as ledger:
            ledger.reserve("clicks", TENTH, "q")
    finally:
        tmp_path.chmod(0o700)
        path.chmod(0o600)
    with open_ledger(path) as ledger:
        assert ledger.status("clicks").spent.epsilon == 0
        assert ledger.verify().sound


def test_a_clock_that_goes_backwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of entries is their number and their hashes; when they were written is only told."""
    path = registered(tmp_path)
    with open_ledger(path) as ledger:
        for year in (2031, 1999, 2026):
            monkeypatch.setattr(store, "_now", lambda year=year: f"{year}-01-01T00:00:00+00:00")
            ledger.settle(ledger.reserve("clicks", TENTH, f"in {year}"), "{}", TENTH)
        assert [entry.at[:4] for entry in ledger.history("clicks")[1::2]] == ["2031", "1999", "2026"]
        assert ledger.verify().sound
        assert ledger.status("clicks").spent.epsilon == Fraction(3, 10)
        assert ledger.find_release("clicks", "in 1999") is not None


def test_a_ledger_put_back_from_a_copy_is_found_by_a_file(tmp_path: Path) -> None:
    path, copy = registered(tmp_path), tmp_path / "copy.db"
    shutil.copy2(path, copy)
    with open_ledger(path) as ledger:
        entry = ledger.settle(ledger.reserve("clicks", TENTH, "q"), "{}", TENTH)
    (tmp_path / "answer.json").write_text(json.dumps({"entry": entry.hash}), encoding="utf-8")
    verify = ["budget", "verify", "--ledger", str(path)]
    (tmp_path / "heads.json").write_text(podium(*verify, "--format", "json").stdout, encoding="utf-8")
    kept = ["--receipt", str(tmp_path / "answer.json"), "--receipt", str(tmp_path / "heads.json")]
    assert podium(*verify, *kept).exit_code == 0
    shutil.copy2(copy, path)
    assert podium(*verify).exit_code == 0
    for receipt in (kept[:2], kept[2:]):
        found = podium(*verify, *receipt)
        assert found.exit_code == 7
        assert "no entry has the hash" in found.stdout


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"entry": 1}', '{"heads": []}', '{"heads": {}}', "[" * 9999])
def test_a_file_that_is_no_receipt(tmp_path: Path, content: str) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(content, encoding="utf-8")
    found = podium("budget", "verify", "--ledger", str(registered(tmp_path)), "--receipt", str(file))
    assert found.exit_code == 2
    assert InvalidArgument.__name__ in found.stderr
    assert "a JSON file with an entry or with heads" in found.stderr


MOUNTS = """\
24 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw
31 24 0:27 / /proc rw - proc proc rw
40 24 0:50 / {home} rw,relatime shared:9 - {kind} server:/export rw,vers=4.2
41 40 259:2 / {home}/disk rw - ext4 /dev/sdb rw
broken line
"""


@pytest.mark.parametrize(
    ("kind", "refused"),
    [("nfs4", True), ("cifs", True), ("9p", True), ("fuse.sshfs", True), ("fuse.rclone", True), ("lustre", True),
     ("ext4", False), ("xfs", False), ("tmpfs", False), ("overlay", False), ("fuseblk", False)],
)  # fmt: skip
def test_a_network_mount_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, refused: bool) -> None:
    home = tmp_path / "a home"
    (home / "disk").mkdir(parents=True)
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTS.format(home=str(home).replace(" ", "\\040"), kind=kind), encoding="utf-8")
    monkeypatch.setattr(mounts, "_MOUNTS", table)
    open_ledger(home / "disk" / "local.db").close()
    open_ledger(tmp_path / "beside.db").close()
    path = home / "ledger.db"
    if not refused:
        open_ledger(path).close()
        return
    with pytest.raises(LedgerUnavailable, match=rf"network file system \({kind}\).*PODIUM_NETWORK_LEDGER"):
        open_ledger(path)
    assert not path.exists()
    monkeypatch.setenv(mounts.ALLOWING_VARIABLE, "one machine")
    open_ledger(path).close()


def test_this_machine_says_where_its_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mounts.network_filesystem(Path("/proc")) is None
    monkeypatch.setattr(mounts, "_MOUNTS", tmp_path / "absent")
    assert mounts.network_filesystem(tmp_path) is None
