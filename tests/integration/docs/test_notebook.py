"""The notebook in a real kernel that has nothing beside ipykernel: no widgets, so no progress bars either."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

EXAMPLES = Path(__file__).parents[3] / "examples"
WITHOUT_WIDGETS = """
import sys
sys.modules["ipywidgets"] = None  # not installed, whatever else is in this environment
"""


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BlockingKernelClient]:
    shutil.copy(EXAMPLES / "make_orders.py", tmp_path)
    # Sockets are files, whose paths must be short, so not below pytest's folder.
    with tempfile.TemporaryDirectory(prefix="k") as short:
        for variable in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
            monkeypatch.setenv(variable, short)
        manager = KernelManager(transport="ipc", connection_file=f"{short}/kernel.json")
        assert manager.kernel_spec is not None
        manager.kernel_spec.argv[0] = sys.executable
        manager.start_kernel(cwd=str(tmp_path))
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


def test_every_cell_runs_and_every_picture_appears(kernel: BlockingKernelClient) -> None:
    shown(kernel, WITHOUT_WIDGETS)
    notebook = json.loads((EXAMPLES / "bakery.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    outputs = {cell: shown(kernel, cell) for cell in cells}
    drawn = [cell for cell in cells if ".plot(" in cell]
    assert drawn
    for cell in drawn:
        assert "data:image/png;base64," in outputs[cell]["text/html"]
    assert "<table" in next(told for cell, told in outputs.items() if cell.endswith("\nrelease"))["text/html"]
    assert not any("stderr" in told for told in outputs.values())
