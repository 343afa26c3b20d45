"""Rendering of templates; everything from data or callers is escaped."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import podium
from podium.privacy.rounding import display
from podium.service.store.sessions import SignedIn
from podium.service.store.tokens import Role

if TYPE_CHECKING:
    from podium.present.drawing.page import Picture

__all__ = ["Pictures", "page"]

_TEMPLATES = Path(__file__).parent / "templates"
_environment = Environment(
    loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
    lstrip_blocks=True,
)  # fmt: skip
_MAX_PICTURES = 64


def _number(value: Fraction | None) -> str:
    return "none" if value is None else display(value)


_environment.filters["number"] = _number
_environment.filters["ratio"] = lambda text: display(Fraction(text))


def page(
    request: Request, template: str, signed: SignedIn | None, *, status: int = 200, **context: Any
) -> HTMLResponse:
    """Render a template for a session."""
    html = _environment.get_template(template).render(
        signed=signed,
        owner=signed is not None and signed.token.role is Role.OWNER,
        analyst=signed is not None and signed.token.role.covers(Role.ANALYST),
        csrf="" if signed is None else signed.form_token,
        path=request.url.path,
        version=podium.__version__,
        **context,
    )
    return HTMLResponse(html, status)


class Pictures:
    """A cache of drawings, which take much longer than anything else on a page."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], tuple[str, str]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[str, ...], draw: Callable[[], Picture]) -> tuple[str, str]:
        """The SVG and its alternative text; draws one at a time."""
        with self._lock:
            if key not in self._kept:
                picture = draw()
                self._kept[key] = (picture.svg(), picture.alt)
                while len(self._kept) > _MAX_PICTURES:
                    self._kept.popitem(last=False)
            return self._kept[key]
