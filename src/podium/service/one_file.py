"""A service for one file: its settings, ledger and owner in a folder beside it, made by the first command.

A later command opens them again, from wherever it is given: the budget of a file must not depend on where somebody
stands. Settings are an ordinary TOML file, which may be edited and served by itself.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from podium.curator import Curator
from podium.errors import InvalidArgument, UnknownDataset
from podium.exact import exact_fraction
from podium.ledger import Budget, Status, open_ledger
from podium.ledger.budget import DEFAULT_ITEMS, DEFAULT_QUESTIONS
from podium.service.settings import OVERRIDES, Settings, load
from podium.service.store.database import open_state
from podium.service.store.sign_in_links import SignInLinks
from podium.service.store.tokens import EVERYTHING, Role, Tokens
from podium.user_columns import UserColumns, same_users, user_columns

__all__ = ["FileService", "Stated", "is_served", "open_file"]

_FOLDER = ".podium"
_OWNER = "owner"
_MAX_NAME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What the command says about the file and its budget; a file that was served before needs none of it."""

    user: tuple[str, ...] = ()
    epsilon: str | None = None
    delta: str | None = None
    items: int | None = None
    questions: int | None = None
    bad_lines: str = "refuse"
    encoding: str = "utf-8"
    header: bool = True


@dataclass(frozen=True, slots=True)
class FileService:
    """The settings of one file, and its name as a data set."""

    config: Path
    dataset: str
    settings: Settings

    def use_environment(self) -> None:
        """Let workers find this service: what the environment says about other services is not about this one."""
        for variable in OVERRIDES:
            os.environ.pop(variable, None)
        os.environ.update(_environment(self.settings.server.port))

    def sign_in_link(self) -> str:
        """A link that signs the owner in, once."""
        with closing(open_state(self.settings.state)) as state:
            tokens = Tokens(state)
            mine = (one for one in tokens.all() if one.valid and one.name == _OWNER and one.role is Role.OWNER)
            token = next((one for one in mine if EVERYTHING in one.datasets), None)
            if token is None:
                # Nobody needs its secret: it is what the session of a link rests on.
                _, token = tokens.create(_OWNER, role=Role.OWNER.value, datasets=[EVERYTHING])
            code = SignInLinks(state, tokens).create(token, f"/datasets/{self.dataset}/ask")
        return f"http://127.0.0.1:{self.settings.server.port}/sign-in/link?code={code}"


def is_served(source: str) -> bool:
    """Whether an earlier run made the service of a file."""
    return _config(_file(source)).exists()


def open_file(source: str, stated: Stated, *, port: int) -> FileService:
    """Open the service of a file, which is made and registered if it is not there yet."""
    file = _file(source)
    config, dataset = _config(file), _dataset_name(file)
    folder, environment = config.parent, _environment(port)
    if config.exists():
        return _reopen(FileService(config, dataset, load(config, environment=environment)), stated)
    budget = _budget(stated)
    if not stated.user:
        raise InvalidArgument(
            "user", None, allowed="the column that identifies the people to protect",
            hint=f"For example: podium serve {file.name} --user customer --epsilon 3 --delta 1e-6",
        )  # fmt: skip
    new, draft = not folder.exists(), config.with_name(f"new-{config.name}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        draft.write_text(_toml(file, dataset, stated), encoding="utf-8")
        made = FileService(config, dataset, load(draft, environment=environment))
        _register(made, budget)
        # Not before: settings of a run that was cut off would decide who is protected in the next one.
        draft.replace(config)
    except BaseException as failed:
        # Nothing was released: without a registration there is no budget to keep.
        with suppress(OSError):
            shutil.rmtree(folder) if new else draft.unlink(missing_ok=True)
        if not isinstance(failed, OSError):
            raise
        raise InvalidArgument(
            "source", source, allowed="a file in a folder that can be written to",
            hint=f"The ledger and its settings go to {folder.name} beside it. Or write a TOML file: --config.",
        ) from None  # fmt: skip
    return made


def _environment(port: int) -> dict[str, str]:
    """Listen on this computer only, whatever the settings say."""
    return {"PODIUM_HOST": "127.0.0.1", "PODIUM_PORT": str(port)}


def _reopen(found: FileService, stated: Stated) -> FileService:
    """The service as it was registered; what is stated differently is refused, never ignored."""
    place = found.settings.datasets[found.dataset]
    for name, option, default in (("bad_lines", stated.bad_lines, "refuse"), ("encoding", stated.encoding, "utf-8"),
                                  ("header", stated.header, True)):  # fmt: skip
        if option not in (default, place.options.get(name, default)):
            raise InvalidArgument(
                name, option, allowed=f"{place.options.get(name, default)!r}, as in {found.config.name}",
                hint="Change it there, and declare a version of the data if answers were given already.",
            )  # fmt: skip
    try:
        status = _status(found)
    except UnknownDataset:
        _require_user(stated, place.user)
        _register(found, _budget(stated))
        return found
    _require_user(stated, status.user or "")
    registered = status.totals.budget
    for name, given in (("epsilon", stated.epsilon), ("delta", stated.delta), ("items", stated.items),
                        ("questions", stated.questions)):  # fmt: skip
        known = getattr(registered, name)
        if given is not None and exact_fraction(given, name) != known:
            raise InvalidArgument(
                name, given, allowed=f"{known}, as it was registered",
                hint="Leave it out to go on. A total is raised on the owner's page, and never lowered.",
            )  # fmt: skip
    return found


def _require_user(stated: Stated, known: UserColumns) -> None:
    if stated.user and not same_users(user_columns(list(stated.user)), known):
        raise InvalidArgument(
            "user", ", ".join(stated.user), allowed=f"{known!r}, whose values are protected since the first run"
        )


def _status(found: FileService) -> Status:
    with open_ledger(found.settings.ledger) as ledger:
        return ledger.status(found.dataset)


def _register(made: FileService, budget: Budget) -> None:
    place = made.settings.datasets[made.dataset]
    with Curator(
        place.source, dataset=made.dataset, user=place.user, ledger=made.settings.ledger, budget=budget, **place.options
    ):
        pass


def _budget(stated: Stated) -> Budget:
    for name, given in (("epsilon", stated.epsilon), ("delta", stated.delta)):
        if given is None:
            raise InvalidArgument(
                name, None, allowed="the total for everything ever released about the file",
                hint="The first run registers it, for example with: --epsilon 3 --delta 1e-6",
            )  # fmt: skip
    return Budget(
        epsilon=stated.epsilon or "", delta=stated.delta,
        items=DEFAULT_ITEMS if stated.items is None else stated.items,
        questions=DEFAULT_QUESTIONS if stated.questions is None else stated.questions,
    )  # fmt: skip


def _file(source: str) -> Path:
    file = Path(source).absolute()
    if not file.is_file():
        raise InvalidArgument(
            "source", source, allowed="a file",
            hint="Databases, folders and several tables are served with settings in a TOML file: --config.",
        )  # fmt: skip
    # One file has one ledger, by whatever link it is reached.
    return file.resolve()


def _config(file: Path) -> Path:
    return file.with_name(f"{file.name}{_FOLDER}") / "podium.toml"


def _dataset_name(file: Path) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", file.name.partition(".")[0]).strip("_")
    return plain[:_MAX_NAME] or "data"


def _toml(file: Path, dataset: str, stated: Stated) -> str:
    user = [_quoted(name) for name in stated.user]
    return f"""# Written by: podium serve {file.name!a}
# The budget is in the ledger. Read docs/service.md before other computers may reach this service.
ledger = "ledger.db"

[server]
host = "127.0.0.1"
workers = 1
log_file = "log.jsonl"

[datasets.{dataset}]
source = {_quoted(f"../{file.name}")}
user = {user[0] if len(user) == 1 else f"[{', '.join(user)}]"}
bad_lines = {_quoted(stated.bad_lines)}
encoding = {_quoted(stated.encoding)}
header = {str(stated.header).lower()}
"""


def _quoted(text: str) -> str:
    """A basic string of TOML."""
    signs = (f"\\u{ord(sign):04x}" if ord(sign) < 32 or ord(sign) == 127 else sign for sign in text)
    return '"' + "".join("\\" + sign if sign in ('"', "\\") else sign for sign in signs) + '"'
