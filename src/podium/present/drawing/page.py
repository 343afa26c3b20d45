"""A picture and the page that it is laid out on: a title, the drawing, notes below; nothing overlaps.

Everything is measured before it is placed, in inches. No figure is ever known to pyplot, so threads and servers may
draw, and nothing has to be closed.
"""

from __future__ import annotations

import base64
import html
import io
import re
from pathlib import Path
from typing import Any, Final

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from podium.errors import InvalidArgument
from podium.present.drawing.style import DARK, LIGHT, SPELLED_OUT, Style, drawable, font
from podium.present.text.names import clip

__all__ = ["SMALL", "TEXT", "WIDTH", "Page", "Picture"]

WIDTH: Final = 8.0
"""Inches; 100 dots each make the width of a README."""
TEXT: Final = 10.0
SMALL: Final = 8.5
_TITLE: Final = 13.0
_DPI: Final = 100
_SAVED_DPI: Final = 200
_EDGE: Final = 0.2
_TITLE_HEIGHT: Final = 0.26
_NOTE_HEIGHT: Final = 0.175
_FORMATS: Final = (".png", ".svg", ".pdf")
_SVG_SETTINGS: Final[Any] = {"svg.hashsalt": "podium", "svg.fonttype": "none"}
"""Text stays text, which can be searched and read aloud; and names inside the drawing are random otherwise."""
_SVG_TEXT: Final = re.compile(r"(<text [^>]*>)([^<]*)(</text>)")
_SVG_FONT: Final = "font-family: 'DejaVu Sans'"
_SVG_FONTS: Final = f"{_SVG_FONT}, Verdana, 'Noto Sans', Arial, sans-serif"
"""Where the first is not installed, one that is about as wide; the last lets a viewer find any sign."""


class Picture(Figure):
    """A matplotlib figure that says in words what it shows, and shows itself in notebooks."""

    def __init__(self, height: float, style: Style) -> None:
        super().__init__(figsize=(WIDTH, height), dpi=_DPI, facecolor=style.paper)
        FigureCanvasAgg(self)
        self.alt = ""
        self._spelled: dict[str, str] = {}

    def spell(self, text: str) -> str:
        """What is drawn for a text: signs that no font has are spelled out, except in SVG, whose viewer has fonts."""
        drawn = drawable(text)
        if drawn != text:
            self._spelled[drawn] = text
        return drawn

    def save(self, path: Path | str) -> None:
        """Write PNG, SVG or PDF, as the name of the file says."""
        target = Path(path)
        kind = target.suffix.lower()
        if kind not in _FORMATS:
            raise InvalidArgument("path", str(path), allowed=f"a file name that ends with {', '.join(_FORMATS)}")
        if not target.parent.is_dir():
            raise InvalidArgument("path", str(path), allowed="a file in a folder that exists")
        if kind == ".svg":
            target.write_text(self.svg(), encoding="utf-8", newline="")
            return
        # Without a date the same picture is the same file, as far as the format allows.
        about: dict[str, Any] = {".png": {"Description": self.alt}, ".pdf": {"Subject": self.alt, "CreationDate": None}}
        self.savefig(target, dpi=_SAVED_DPI, facecolor=self.get_facecolor(), metadata=about[kind])

    def png(self) -> bytes:
        """The picture as a PNG file."""
        written = io.BytesIO()
        self.savefig(written, format="png", dpi=_SAVED_DPI, metadata={"Description": self.alt})
        return written.getvalue()

    def svg(self) -> str:
        """The picture as SVG, with its text as text; the same picture is the same file."""
        written = io.StringIO()
        with rc_context(_SVG_SETTINGS):
            self.savefig(
                written, format="svg", facecolor=self.get_facecolor(), metadata={"Description": self.alt, "Date": None}
            )
        return _SVG_TEXT.sub(self._as_written, written.getvalue())

    def _as_written(self, found: re.Match[str]) -> str:
        """One text of an SVG file with its own signs, and fonts to look for them."""
        text = html.unescape(found[2])
        if text == SPELLED_OUT:
            return ""  # Nothing is, here.
        return f"{found[1].replace(_SVG_FONT, _SVG_FONTS)}{html.escape(self._spelled.get(text, text))}{found[3]}"

    def _repr_html_(self) -> str:
        """For notebooks: with the text alternative, which a bare image would not have."""
        data = base64.b64encode(self.png()).decode("ascii")
        width = round(WIDTH * _DPI)
        return f'<img alt="{html.escape(self.alt)}" src="data:image/png;base64,{data}" style="width:{width}px">'


class Page:
    """One picture in the making: ``bottom`` to ``top``, in inches, is the room for the drawing."""

    def __init__(self, title: str, notes: list[str], *, body: float, dark: bool) -> None:
        self.style: Style = DARK if dark else LIGHT
        self.picture: Picture = Picture(1.0, self.style)
        self._fine = RendererAgg(1, 1, _SAVED_DPI)  # type: ignore[no-untyped-call]
        room = WIDTH - 2 * _EDGE
        titles = self.wrap(title, room, font(_TITLE, bold=True))
        lines = [line for note in notes for line in self.wrap(note, room, font(SMALL))]
        self.bottom: float = _EDGE + _NOTE_HEIGHT * len(lines) + (0.08 if lines else 0)
        self.top: float = self.bottom + body
        self.height: float = self.top + 0.1 + _TITLE_HEIGHT * len(titles) + _EDGE
        self.picture.set_size_inches(WIDTH, self.height)
        for place, line in enumerate(titles):
            y = self.height - _EDGE - _TITLE_HEIGHT * (place + 0.5)
            self._write(y, line, font(_TITLE, bold=True), self.style.ink, "title")
        for place, line in enumerate(lines):
            y = _EDGE + _NOTE_HEIGHT * (len(lines) - place - 0.5)
            self._write(y, line, font(SMALL), self.style.muted, "note")

    def _write(self, y: float, text: str, prop: FontProperties, color: str, role: str) -> None:
        self.picture.text(
            _EDGE / WIDTH, y / self.height, text, va="center_baseline", color=color, fontproperties=prop, gid=role,
            parse_math=False, usetex=False,
        )  # fmt: skip

    def axes(self, *, left: float, right: float, above: float = 0.0, below: float = 0.0) -> Axes:
        """Axes with margins in inches: left and right on the page, above and below in the drawing."""
        low, high = self.bottom + below, self.top - above
        box = (left / WIDTH, low / self.height, (WIDTH - left - right) / WIDTH, (high - low) / self.height)
        axes = self.picture.add_axes(box)
        axes.set_facecolor("none")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(self.style.line)
        axes.tick_params(colors=self.style.muted, labelsize=SMALL, labelfontfamily=font(SMALL).get_family())
        axes.grid(visible=True, color=self.style.line, linewidth=0.6)
        axes.set_axisbelow(True)
        return axes

    def text(self, axes: Axes, x: float, y: float, text: str, **how: Any) -> None:
        """Text that is never read as mathematics: a dollar in a name is a dollar."""
        how = {"color": self.style.ink, "fontproperties": font(TEXT), "va": "center_baseline", **how}
        axes.text(x, y, text, parse_math=False, usetex=False, **how)

    def label(self, axes: Axes, *, x: str = "", y: str = "") -> None:
        """Name the axes."""
        for axis, name in ((axes.xaxis, x), (axes.yaxis, y)):
            axis.set_label_text(name, color=self.style.ink, fontproperties=font(TEXT), parse_math=False, usetex=False)

    def width_of(self, text: str, prop: FontProperties) -> float:
        """How wide a text is, in inches: on a screen or as it is saved, where signs are rounded to other dots."""
        coarse = self.picture.canvas.get_renderer()  # type: ignore[attr-defined]
        drawn = ((coarse, _DPI), (self._fine, _SAVED_DPI))
        return max(
            float(renderer.get_text_width_height_descent(text, prop, False)[0]) / dots for renderer, dots in drawn
        )

    def wrap(self, text: str, room: float, prop: FontProperties) -> list[str]:
        """Break the text into lines of at most ``room`` inches; a single word that is wider is cut."""
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".strip()
            if self._drawn_width(longer, prop) <= room:
                lines[-1] = longer
            else:
                lines.append(self._clipped(word, room, prop))
        return [self.picture.spell(line) for line in lines if line]

    def cut(self, text: str, room: float, prop: FontProperties) -> str:
        """Cut the text to at most ``room`` inches, with an ellipsis where something is missing."""
        return self.picture.spell(self._clipped(text, room, prop))

    def _clipped(self, text: str, room: float, prop: FontProperties) -> str:
        if self._drawn_width(text, prop) <= room:
            return text
        low, high = 1, len(text)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._drawn_width(clip(text, middle), prop) <= room else (low, middle)
        return clip(text, low)

    def _drawn_width(self, text: str, prop: FontProperties) -> float:
        return self.width_of(drawable(text), prop)
