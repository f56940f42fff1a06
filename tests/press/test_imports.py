"""The press knows nothing of the book, and the book nothing of the press."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def imported(text: str) -> set[str]:
    """The first part of the name of each module that a module imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize(
    ("package", "other"), [("sidebyside", "labml_rl"), ("labml_rl", "sidebyside")]
)
def test_neither_package_imports_the_other(package, other):
    files = sorted((ROOT / package).rglob("*.py"))
    found = {file: imported(file.read_text(encoding="utf-8")) for file in files}
    assert [file for file, names in found.items() if other in names] == []
    assert any(package in names for names in found.values()), "imports are seen"


def test_an_import_is_seen_wherever_it_stands():
    text = "import a.b, c\ndef f():\n    from d.e import g\n    from .h import i\n"
    assert imported(text) == {"a", "c", "d"}
