"""The files for deployment say what the programs that read them understand, and what this package has."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from bench.postgresql import postgresql
from tests.support.command_line import podium as run_podium
from tests.support.serving import views

from podium.service.settings import load

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
INSTRUCTIONS = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT",
                "CMD"}  # fmt: skip


def instructions() -> list[tuple[str, str]]:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    joined = re.sub(r"\\\n", " ", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return found


def test_the_dockerfile_is_one() -> None:
    found = instructions()
    assert {word for word, _ in found} <= INSTRUCTIONS
    assert found[0][0] == "FROM"
    for word, rest in found:
        if word == "COPY" and "--from=" not in rest:
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
        if word == "RUN":
            assert subprocess.run(["sh", "-n", "-c", rest], check=False).returncode == 0
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    asked = next(re.search(r"\.\[([a-z,]+)\]", rest) for word, rest in found if "pip install" in rest)
    assert asked is not None
    assert set(asked[1].split(",")) <= set(extras)
    # The last account is not root, and the last command is the service.
    assert [rest for word, rest in found if word == "USER"] == ["podium"]
    assert found[-2:] == [("ENTRYPOINT", '["podium"]'), ("CMD", '["serve"]')]


def test_the_compose_file_is_one() -> None:
    found = compose()
    assert set(found) == {"services", "volumes"}
    assert set(found["services"]) == {"ledger", "podium"}
    podium = found["services"]["podium"]
    assert (DEPLOY / podium["build"]["context"] / podium["build"]["dockerfile"]).resolve() == DEPLOY / "Dockerfile"
    assert podium["depends_on"]["ledger"]["condition"] == "service_healthy"
    assert podium["environment"]["PODIUM_LEDGER"].startswith("postgresql://podium:${POSTGRES_PASSWORD:?")
    assert podium["ports"] == ["127.0.0.1:8000:8000"]
    named = {mount.split(":")[0] for one in found["services"].values() for mount in one["volumes"]}
    assert {name for name in named if not name.startswith(".")} == set(found["volumes"])
    # What is mounted is there: an engine would make a folder in place of a missing file.
    for name in named:
        assert not name.startswith(".") or (DEPLOY / name).exists(), name


def unit_file() -> configparser.ConfigParser:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "podium.service", encoding="utf-8")
    return unit


def test_the_unit_is_one(tmp_path: Path) -> None:
    unit = unit_file()
    assert unit.sections() == ["Unit", "Service", "Install"]
    for key in ("ExecStartPre", "ExecStart"):
        _, *arguments = shlex.split(unit["Service"][key])
        assert arguments[0] == "serve"
        assert set(arguments[1:]) <= {"--check"}
    if shutil.which("systemd-analyze") is None:
        return
    # The one thing that need not be here is the program.
    there = tmp_path / "podium.service"
    text = (DEPLOY / "podium.service").read_text(encoding="utf-8")
    there.write_text(text.replace("/opt/podium/bin/podium", "/bin/true"), encoding="utf-8")
    verified = subprocess.run(["systemd-analyze", "verify", str(there)], check=False, capture_output=True, text=True)
    assert (verified.returncode, verified.stderr) == (0, "")


def test_the_steps_make_what_the_unit_and_the_settings_name() -> None:
    service, settings = unit_file()["Service"], tomllib.loads((DEPLOY / "podium.toml").read_text(encoding="utf-8"))
    text = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    (block,) = (found for found in re.findall(r"```bash\n(.*?)```", text, re.DOTALL) if "systemctl" in found)
    steps = [shlex.split(line) for line in block.splitlines()]
    made = {word for step in steps if step[:2] == ["install", "-d"] for word in step[2:] if word.startswith("/")}
    for step in steps:
        if step[0] == "install" and step[1] != "-d":
            assert str(Path(step[-1]).parent) in {*made, "/etc/systemd/system"}, step
            assert not step[-2].startswith("deploy/") or (ROOT / step[-2]).exists()
            made.add(step[-1])
    stated = re.search(
        r"^Environment=PODIUM_CONFIG=(.*)$", (DEPLOY / "podium.service").read_text("utf-8"), re.MULTILINE
    )
    assert stated is not None
    assert stated[1] in made
    assert f"/etc/podium/{settings['registration']}" in made
    program = shlex.split(service["ExecStart"])[0]
    assert ["python3", "-m", "venv", str(Path(program).parents[1])] in steps
    # systemd makes the ledger's folder.
    assert str(Path(settings["ledger"]).parent) == f"/var/lib/{service['StateDirectory']}"
    assert ["useradd", "--system", "--home-dir", "/var/lib/podium", service["User"]] in steps


def test_the_files_start_a_service_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As compose does, with its ledger in PostgreSQL, and as systemd does, but for where the ledger is."""
    shutil.copytree(DEPLOY, tmp_path / "deploy")
    config = str(tmp_path / "deploy" / "podium.toml")
    with postgresql() as server:
        for ledger in (str(tmp_path / "ledger.db"), server.url):
            monkeypatch.setenv("PODIUM_LEDGER", ledger)
            checked = run_podium("serve", "--config", config, "--check")
            assert checked.exit_code == 0, checked.stderr
            assert "data sets  none yet" in checked.stdout


def test_the_settings_name_a_data_set_once_they_are_told_to(tmp_path: Path) -> None:
    shipped = (DEPLOY / "podium.toml").read_text(encoding="utf-8")
    before, _, after = shipped.partition("# [datasets.views]")
    named = re.sub(r"^# (?=\[|[a-z]+ = )", "", f"# [datasets.views]{after}", flags=re.MULTILINE)
    text = before + named
    (tmp_path / "data").mkdir()
    views(tmp_path / "data" / "views.parquet", users=50)
    config = tmp_path / "podium.toml"
    config.write_text(text.replace("/var/lib/podium/ledger.db", "ledger.db"), encoding="utf-8")
    assert load(config, environment={}).server.workers == 2
    checked = run_podium("serve", "--config", str(config), "--check")
    assert checked.exit_code == 0, checked.stderr
    assert "data sets  views" in checked.stdout
    config.write_text(text.replace("workers = 2", "wrokers = 2"), encoding="utf-8")
    wrong = run_podium("serve", "--config", str(config), "--check")
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith("InvalidArgument: server.wrokers=2 is not valid.")


def test_tokens_are_made_listed_and_revoked_by_the_command_line(tmp_path: Path) -> None:
    config = tmp_path / "podium.toml"
    config.write_text('ledger = "l.db"\n[datasets.views]\nsource = "v.parquet"\nuser = "u"\n', encoding="utf-8")
    made = run_podium("token", "create", "ana", "--config", str(config), "--dataset", "views", "--days", "3")
    assert re.fullmatch(r"podium_[A-Za-z0-9_-]{43}\n", made.stdout)
    assert made.stderr == "a token for 'ana', analyst of views; it cannot be shown again\n"
    listed = run_podium("token", "list", "--config", str(config)).stdout
    assert made.stdout.strip() not in listed
    id_ = listed.splitlines()[1].split()[0]
    assert run_podium("token", "revoke", id_, "--config", str(config)).stdout == "revoked the token of 'ana'\n"
    assert run_podium("token", "list", "--config", str(config)).stdout.splitlines()[1].endswith("revoked")
    nope = run_podium("token", "create", "ben", "--config", str(config), "--dataset", "views", "--dataset", "nope")
    assert (nope.exit_code, nope.stdout) == (2, "")
    assert "dataset='nope' is not valid. Allowed: * for all, or one of: views." in " ".join(nope.stderr.split())
    assert len(run_podium("token", "list", "--config", str(config)).stdout.splitlines()) == 2
    everything = run_podium("token", "create", "olga", "--config", str(config), "--dataset", "*", "--role", "owner")
    assert everything.exit_code == 0
    unknown = run_podium("token", "revoke", "0" * 32, "--config", str(config))
    assert unknown.exit_code == 2
    assert "'podium token list' shows all tokens." in unknown.stderr
    refused = run_podium("token", "create", "x", "--config", str(config), "--dataset", "views", "--role", "king")
    assert "role='king' is not valid. Allowed: viewer, analyst, owner." in " ".join(
        line.strip() for line in refused.stderr.splitlines()
    )


def test_the_client_needs_no_web_library() -> None:
    code = (
        "import sys, podium; podium.connect; "
        "print([name for name in ('fastapi', 'starlette', 'uvicorn', 'jinja2', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
