"""What the programs that draw have in common: the ground, the colours, the marks."""

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree as Xml

FOLDER = Path(__file__).parent.parent / "docs" / "assets" / "figures"

# Figures have their own dark ground, as the pictures of games do, and so can be read on
# light pages and on dark ones.
WIDTH, GROUND, TEXT, FAINT = 440, "#1b2230", "#eef1f6", "#b4bfd0"
COLOURS = ("#6fb1ff", "#ffb454", "#8fdc8f")


class Drawing:
    """An SVG image, one mark after the other."""

    def __init__(self, height: int, description: str) -> None:
        size = {"width": str(WIDTH), "height": str(height)}
        self.root = Xml.Element(
            "svg",
            {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {WIDTH} {height}"}
            | size
            | {"font-family": "system-ui, sans-serif", "role": "img"},
        )
        Xml.SubElement(self.root, "title").text = description
        self.mark("rect", rx=10, fill=GROUND, **size)

    def svg(self) -> str:
        """All marks, as the text of a file."""
        return Xml.tostring(self.root, encoding="unicode") + "\n"

    def mark(self, tag: str, /, **attributes: str | float) -> Xml.Element:
        """Add a mark. An underscore in the name of an attribute is a hyphen."""
        named = {
            name.replace("_", "-"): value if isinstance(value, str) else f"{value:g}"
            for name, value in attributes.items()
        }
        return Xml.SubElement(self.root, tag, named)

    def words(
        self,
        x: float,
        y: float,
        *lines: str,
        colour: str = TEXT,
        size: int = 16,
        text_anchor: str = "start",
    ) -> None:
        """Write lines, one below the other."""
        for row, line in enumerate(lines):
            self.mark(
                "text",
                x=x,
                y=y + row * 18,
                fill=colour,
                font_size=size,
                text_anchor=text_anchor,
            ).text = line


def line(drawing: Drawing, points: Iterable[tuple[float, float]], **style: str) -> None:
    """Draw a line through points."""
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    drawing.mark("path", d=path, fill="none", **style)


def write_or_check(figures: Mapping[str, str], *, program: str, truth: str) -> None:
    """
    Write figures, or with `--check` on the command line, only compare them.

    Args:
        figures: SVG by the name of its file.
        program: the module that draws them.
        truth: what they should show, for the message if they don't.
    """
    parser = argparse.ArgumentParser(description=f"Draw the figures of {program}.")
    parser.add_argument("--check", action="store_true", help="only compare")
    only_compare = parser.parse_args().check
    stale = []
    for name, figure in figures.items():
        path = FOLDER / name
        if not only_compare:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_text(figure, encoding="utf-8")
        if not path.exists() or path.read_text(encoding="utf-8") != figure:
            stale.append(str(path))
    if stale:
        sys.exit(f"not what {truth}; run python -m {program}: {', '.join(stale)}")
