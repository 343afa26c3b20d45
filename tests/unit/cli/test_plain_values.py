"""Arguments that are converted without Pydantic: to what Typer makes of them, or left to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.support.command_line import ASK, TOTAL, podium
from typer._coercion import build_runtime_param, resolve_type_descriptor
from typer.models import OptionInfo

from podium.cli.commands import app
from podium.cli.exit_codes import USAGE
from podium.cli.options import Mechanism
from podium.cli.plain_values import UNDECIDED, convert_plainly, plain_value

TEXTS = ["", "a", " a ", "0", "10", "007", "999999999", "1" * 40, "-1", "+1", "1.0", "1e3", "1_000", " 5 ", "٣", "²",
         "auto", "AUTO", "limited-domain", "limited-domain ", "adaptive"]  # fmt: skip
VALUES: list[Any] = [*TEXTS, 5, 0, -3, True, 2.0, Mechanism.AUTO, Mechanism.ADAPTIVE, b"a", ["a", "b"], ("a",), [], [1]]


def by_typer(annotation: Any, value: Any) -> Any:
    option = typer.main.get_command(app).params[0]
    context: Any = None
    made: Any = build_runtime_param(resolve_type_descriptor(annotation, OptionInfo()))
    return made._coerce_value(value, param=option, ctx=context)


@pytest.mark.parametrize("annotation", [str, int, float, Path, Mechanism, list[str]])
def test_a_plain_value_is_what_typer_makes_of_it(annotation: Any) -> None:
    plain = [(value, found) for value in VALUES if (found := plain_value(annotation, value)) is not UNDECIDED]
    assert bool(plain) is (annotation not in (float, Path))
    for value, found in plain:
        expected = by_typer(annotation, value)
        assert (found, type(found)) == (expected, type(expected)), value


@pytest.mark.parametrize("text", ["ten", "1.5", "", "²", "1" * 5000])
def test_a_value_that_is_not_plain_gets_the_error_of_typer(text: str) -> None:
    ran = podium("top", "views.parquet", *ASK, *TOTAL, "-k", text)
    assert ran.exit_code == USAGE
    assert "-k" in ran.stderr


def test_an_option_with_limits_is_left_to_typer() -> None:
    """No command has one; the day that one has, its limits must hold."""
    small = typer.Typer()

    @small.command()
    def one(number: int = typer.Option(1, min=1, max=3)) -> None:
        typer.echo(number)

    command: Any = typer.main.get_command(small)
    convert_plainly(command.params)
    runner = typer.testing.CliRunner()
    assert runner.invoke(small, ["--number", "3"]).stdout == "3\n"
    with pytest.raises(typer.BadParameter, match="less than or equal to 3"):
        command.main(["--number", "4"], standalone_mode=False)


def test_a_question_does_without_pydantic() -> None:
    code = (
        "import sys\nfrom podium.cli import main\n"
        f"sys.argv = ['podium', 'top', 'views.csv', *{[*ASK, *TOTAL]!r}, '-q', '-k', '2', '--mechanism', 'auto']\n"
        "try: main()\nexcept SystemExit as end: assert end.code == 0\nassert 'pydantic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
