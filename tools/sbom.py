"""What is installed for podium, as a CycloneDX 1.6 document: ``python -m tools.sbom > podium.cdx.json``.

Everything that the distribution needs, directly or through others, as far as it is installed; with ``--all`` every
distribution of the environment. Nothing in it depends on when or where it is made, so that two can be compared.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Any

__all__ = ["ROOT", "document", "main"]

ROOT = "podium-topk"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def document(*, everything: bool = False) -> dict[str, Any]:
    """The document."""
    installed = {_plain(found.name): found for found in metadata.distributions()}
    if _plain(ROOT) not in installed:
        raise SystemExit(f"{ROOT} is not installed. Run: make demo")
    names = set(installed) if everything else _needed(_plain(ROOT), installed)
    listed = {name: installed[name] for name in sorted(names)}
    components = [_component(found) for name, found in listed.items() if name != _plain(ROOT)]
    dependencies = [
        {
            "ref": _reference(found),
            "dependsOn": [_reference(listed[name]) for name in _requires(found) if name in listed],
        }
        for found in listed.values()
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**_component(installed[_plain(ROOT)]), "type": "application"}},
        "components": components,
        "dependencies": dependencies,
    }


def _needed(root: str, installed: dict[str, metadata.Distribution]) -> set[str]:
    found, waiting = {root}, [root]
    while waiting:
        for name in _requires(installed[waiting.pop()]):
            if name in installed and name not in found:
                found.add(name)
                waiting.append(name)
    return found


def _requires(distribution: metadata.Distribution) -> list[str]:
    """The names that it requires, those of extras too: what counts is whether they are installed."""
    matches = [_NAME.match(text) for text in distribution.requires or []]
    return sorted({_plain(match.group()) for match in matches if match is not None})


def _component(distribution: metadata.Distribution) -> dict[str, Any]:
    told: Any = distribution.metadata
    licence = told.get("License-Expression") or told.get("License") or ""
    named = [{"license": {"name": licence.splitlines()[0]}}] if licence.strip() else []
    return {
        "type": "library",
        "bom-ref": _reference(distribution),
        "name": distribution.name,
        "version": distribution.version,
        "purl": _reference(distribution),
        "licenses": named,
    }


def _reference(distribution: metadata.Distribution) -> str:
    return f"pkg:pypi/{_plain(distribution.name)}@{distribution.version}"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print it."""
    given = sys.argv[1:] if arguments is None else arguments
    print(json.dumps(document(everything="--all" in given), indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
