"""The example on the first page of the press, as a site of its own."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIRST_PAGE = "sidebyside/__init__.py"


def fenced(language: str, file: str = FIRST_PAGE) -> str:
    """The first block of code in this language in a file of the project."""
    text = (ROOT / file).read_text(encoding="utf-8")
    found = re.search(rf"(?s)\n```{language}\n(.*?)\n```\n", text)
    assert found, f"{file} has no block of {language}"
    return f"{found[1]}\n"


def write_example(folder: Path, config: str, name: str = "kiln") -> Path:
    """
    Args:
        folder: where the site should be.
        config: its `mkdocs.yml`.
        name: of the module.

    Returns:
        The file of the module.
    """
    module = folder / "your_package" / f"{name}.py"
    for path, text in (
        (folder / "mkdocs.yml", config),
        (folder / "docs" / "index.md", "# Your project\n"),
        (module.parent / "__init__.py", '"""# Kilns"""\n'),
        (module, fenced("python")),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return module
