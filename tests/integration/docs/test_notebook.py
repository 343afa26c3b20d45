"""The notebooks in one real kernel that has nothing beside ipykernel: no widgets, so no progress bars either."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from tools.pages import blocks_of

EXAMPLES = Path(__file__).parents[3] / "examples"
WITHOUT_WIDGETS = """
import sys
sys.modules["ipywidgets"] = None  # not installed, whatever else is in this environment
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingKernelClient]:
    # Sockets are files, whose paths must be short, so not below pytest's folder.
    with tempfile.TemporaryDirectory(prefix="k") as short, pytest.MonkeyPatch.context() as monkeypatch:
        for variable in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
            monkeypatch.setenv(variable, short)
        manager = KernelManager(transport="ipc", connection_file=f"{short}/kernel.json")
        assert manager.kernel_spec is not None
        manager.kernel_spec.argv[0] = sys.executable
        manager.start_kernel(cwd=str(tmp_path_factory.mktemp("kernel")))
        client = manager.blocking_client()
        try:
            client.start_channels()
            client.wait_for_ready(timeout=120)
            yield client
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


def shown(kernel: BlockingKernelClient, source: str) -> dict[str, Any]:
    """What a cell shows, by its type; an error of the cell fails the test."""
    told: dict[str, Any] = {}

    def keep(message: dict[str, Any]) -> None:
        content = message["content"]
        assert message["msg_type"] != "error", content
        told.update(content.get("data", {}))
        if message["msg_type"] == "stream":
            told[content["name"]] = told.get(content["name"], "") + content["text"]

    kernel.execute_interactive(source, output_hook=keep, timeout=120)
    return told


def code_cells(name: str) -> list[str]:
    notebook = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    assert all(cell.get("outputs", []) == [] for cell in notebook["cells"])
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize(
    ("name", "pictures", "tables"), [("analyst.ipynb", 2, 4), ("owner.ipynb", 1, 5), ("epsilons.ipynb", 1, 2)]
)
def test_every_cell_runs_and_every_picture_appears(
    name: str, pictures: int, tables: int, kernel: BlockingKernelClient, tmp_path: Path
) -> None:
    shutil.copy(EXAMPLES / "make_orders.py", tmp_path)
    shown(kernel, f"%reset -f\n%cd -q {tmp_path}\n{WITHOUT_WIDGETS}")
    outputs = {cell: shown(kernel, cell) for cell in code_cells(name)}
    drawn = [told["text/html"] for told in outputs.values() if told.get("text/html", "").startswith("<img")]
    assert (
        len(drawn) == sum("plot" in cell.splitlines()[-1] or "plot_recall(\n" in cell for cell in outputs) == pictures
    )
    assert all(re.match(r'<img alt="[^"]+" src="data:image/png;base64,[^"]{1000,}"', html) for html in drawn)
    assert sum("<table" in told.get("text/html", "") for told in outputs.values()) == tables
    assert not any("stderr" in told for told in outputs.values())
    assert not any("Fraction(" in text for told in outputs.values() for text in told.values())


def test_all_notebooks_are_run_here() -> None:
    assert {path.name for path in EXAMPLES.glob("*.ipynb")} == {"analyst.ipynb", "owner.ipynb", "epsilons.ipynb"}


def test_the_notebook_of_the_first_minutes_says_what_the_page_shows(
    kernel: BlockingKernelClient, tmp_path: Path
) -> None:
    page = (EXAMPLES.parent / "docs" / "first-minutes.md").read_text(encoding="utf-8")
    run = [sys.executable, str(EXAMPLES / "make_messy.py"), str(tmp_path / "export.csv"), "utf-8-sig"]
    subprocess.run(run, check=True, timeout=120)
    shown(kernel, f"%reset -f\n%cd -q {tmp_path}\n{WITHOUT_WIDGETS}")
    blocks = [block for block in blocks_of(page) if block.language == "python" or block.marker == "output"]
    assert [block.language for block in blocks] == ["python", "text"] * 3
    for cell, output in zip(blocks[::2], blocks[1::2], strict=True):
        assert shown(kernel, cell.text) == {"stdout": output.text}
