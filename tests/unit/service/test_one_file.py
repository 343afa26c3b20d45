"""The service of one file: what the first command makes, and what a later one may say."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench.service.serving import views

from podium.errors import InvalidArgument, PodiumError, UnknownColumn
from podium.ledger import open_ledger
from podium.service import one_file
from podium.service.one_file import FileService, Stated, open_file
from podium.service.server import check
from podium.service.settings import load
from podium.service.store.database import open_state
from podium.service.store.sign_in_links import SignInLinks
from podium.service.store.tokens import Tokens

STATED = Stated(user=("user_id",), epsilon="3", delta="1e-6")


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    """What the command changes for its workers ends with the test."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return views(tmp_path / "views.parquet", users=50)


def _open(file: Path, stated: Stated = STATED) -> FileService:
    return open_file(str(file), stated, port=8123)


def _left(found: FileService) -> int:
    with open_ledger(found.settings.ledger) as ledger:
        return ledger.status(found.dataset).items_left


def test_the_first_run_makes_everything_and_the_second_opens_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _open(file)
    folder = file.with_name("views.parquet.podium")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (made.config, made.dataset) == (folder / "podium.toml", "views")
    assert (made.settings.server.host, made.settings.server.workers, made.settings.server.port) == (
        "127.0.0.1",
        1,
        8123,
    )
    assert _left(made) == 100
    text = made.config.read_text(encoding="utf-8")
    # From elsewhere, through a link, and with nothing stated again: the same ledger.
    monkeypatch.chdir("/")
    (file.parent / "link.parquet").symlink_to(file)
    assert _open(file.parent / "link.parquet").config == made.config
    again = _open(file, Stated())
    assert (again.config, again.settings.ledger) == (made.config, made.settings.ledger)
    assert _open(file).config.read_text(encoding="utf-8") == text
    assert dict(check(again.settings))["data sets"] == "views"


def test_what_the_environment_says_is_about_other_services(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PODIUM_HOST", "192.0.2.1"), ("PODIUM_LEDGER", "elsewhere.db"), ("PODIUM_STATE", "x.db"),
                        ("PODIUM_PUBLIC_URL", "https://podium.example")):  # fmt: skip
        monkeypatch.setenv(name, value)
    made = _open(file)
    assert made.settings.server.host == "127.0.0.1"
    assert made.settings.server.public_url is None
    assert Path(made.settings.ledger).parent == made.config.parent
    assert Path(made.settings.state).parent == made.config.parent
    assert os.environ["PODIUM_LEDGER"] == "elsewhere.db"
    # Workers, which have nothing but the environment, find the same.
    made.use_environment()
    assert load(made.config) == made.settings


@pytest.mark.parametrize(
    ("stated", "name"),
    [
        (Stated(user=("article",)), "user"),
        (Stated(epsilon="4"), "epsilon"),
        (Stated(delta="1e-7"), "delta"),
        (Stated(items=7), "items"),
        (Stated(questions=7), "questions"),
    ],
)
def test_what_was_registered_cannot_be_said_differently(file: Path, stated: Stated, name: str) -> None:
    _open(file)
    with pytest.raises(InvalidArgument) as refused:
        _open(file, stated)
    assert refused.value.name == name
    assert _open(file, Stated(epsilon="3.0", delta="0.000001", items=100)).dataset == "views"


@pytest.mark.parametrize(
    ("stated", "error"),
    [
        (Stated(), InvalidArgument),
        (Stated(user=("user_id",)), InvalidArgument),
        (Stated(user=("user_id",), epsilon="3"), InvalidArgument),
        (Stated(epsilon="3", delta="1e-6"), InvalidArgument),
        (Stated(user=("user_id",), epsilon="-3", delta="1e-6"), InvalidArgument),
        (Stated(user=("nobody",), epsilon="3", delta="1e-6"), UnknownColumn),
    ],
)
def test_a_mistake_leaves_nothing_behind(file: Path, stated: Stated, error: type[PodiumError]) -> None:
    with pytest.raises(error):
        _open(file, stated)
    assert [one.name for one in file.parent.iterdir()] == ["views.parquet"]
    assert _open(file).dataset == "views"


def test_a_run_that_was_cut_off_does_not_decide_who_is_protected(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_off(*_: object, **__: object) -> None:
        raise SystemExit

    with monkeypatch.context() as broken:
        # Like a signal that leaves no time to clean up.
        broken.setattr(one_file, "_register", cut_off)
        broken.setattr(shutil, "rmtree", cut_off)
        with pytest.raises(SystemExit):
            _open(file, replace(STATED, user=("article",)))
    assert [one.name for one in file.with_name("views.parquet.podium").iterdir()] == ["new-podium.toml"]
    assert _open(file).settings.datasets["views"].user == "user_id"
    assert sorted(one.name for one in file.with_name("views.parquet.podium").glob("*.toml")) == ["podium.toml"]


def test_a_ledger_that_is_gone_is_made_again_for_the_same_users(file: Path) -> None:
    made = _open(file)
    for part in made.config.parent.glob("ledger.db*"):
        part.unlink()
    with pytest.raises(InvalidArgument, match="whose values are protected since the first run"):
        _open(file, replace(STATED, user=("article",)))
    assert _left(_open(file)) == 100


@pytest.mark.parametrize("stated", [{"bad_lines": "drop"}, {"encoding": "latin-1"}, {"header": False}])
def test_a_file_is_read_as_in_the_first_run(file: Path, stated: dict[str, Any]) -> None:
    _open(file)
    with pytest.raises(InvalidArgument, match=r"as in podium.toml"):
        _open(file, replace(STATED, **stated))


def test_what_is_no_file_needs_settings(tmp_path: Path) -> None:
    for source in (tmp_path, tmp_path / "nothing.csv", "postgresql://somewhere/db"):
        with pytest.raises(InvalidArgument, match="TOML"):
            _open(Path(source))


def test_names_and_columns_cannot_write_settings(tmp_path: Path) -> None:
    file = tmp_path / 'a b"\n[server]\nhost = "0.0.0.0"\n#.csv'
    column = 'user "x"\\\x7f'
    file.write_text('article,"user ""x""\\\x7f"\na,1\n', encoding="utf-8")
    made = open_file(str(file), Stated(user=(column,), epsilon="1", delta="1e-6"), port=8123)
    assert made.settings.server.host == "127.0.0.1"
    assert list(made.settings.datasets) == [made.dataset]
    place = made.settings.datasets[made.dataset]
    assert (Path(place.source).resolve(), place.user) == (file, column)


def test_the_link_is_for_an_owner_whose_token_nobody_has(file: Path) -> None:
    made = _open(file)
    first, second = made.sign_in_link(), made.sign_in_link()
    assert first.startswith("http://127.0.0.1:8123/sign-in/link?code=")
    state = open_state(made.settings.state)
    tokens = Tokens(state)
    (token,) = tokens.all()
    assert (token.name, token.role.value, token.datasets) == ("owner", "owner", ("*",))
    links = SignInLinks(state, tokens)
    assert links.use(first.partition("=")[2]) is None
    used = links.use(second.partition("=")[2])
    assert used is not None
    assert (used.token, used.target) == (token, "/datasets/views/ask")
    tokens.revoke(token.id)
    state.close()
    # A revoked token is not used again.
    made.sign_in_link()
    state = open_state(made.settings.state)
    assert sorted(one.valid for one in Tokens(state).all()) == [False, True]
    state.close()
