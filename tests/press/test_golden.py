"""Annotated files in, sections and pages out, compared with what was reviewed before.

`pytest tests/press --regenerate-golden` writes the files anew; review the diff.
"""

from pathlib import Path

import pytest

from sidebyside.catalogue import catalogue
from sidebyside.crossings import cross
from sidebyside.inventory import inventory
from sidebyside.read import Source, read
from sidebyside.render import environment, render
from sidebyside.split import split
from sidebyside.weave import weave

GOLDEN = Path(__file__).parent / "golden"
MODULES = sorted(GOLDEN.glob("*.py"))


def sections_text(source: Source) -> str:
    """A module with a ruler before each section and the role of each line."""
    out = []
    for section in split(source):
        out.append(f"──── {section.kind} {section.scope}".rstrip())
        for span in section.spans:
            for number in range(span.first, span.stop):
                line = source.lines[number - 1].rstrip("\n")
                out.append(f"{span.role:5} │ {line}".rstrip())
    return "\n".join(out) + "\n"


def page_text(source: Source) -> str:
    places = catalogue([source])
    crossing = cross([source], places, inventory())[source.module]
    return render(weave(source, places, crossing=crossing), environment())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    ("suffix", "make"), [(".sections.txt", sections_text), (".page.md", page_text)]
)
def test_golden(path, suffix, make, request):
    source = read(path.read_bytes(), path.name, path.stem)
    made = make(source)
    golden = path.with_suffix(suffix)
    if request.config.getoption("--regenerate-golden"):
        golden.write_text(made, encoding="utf-8")
    assert made == golden.read_text(encoding="utf-8"), (
        f"{golden.name} has changed: if it should have, run --regenerate-golden"
    )
