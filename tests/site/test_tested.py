"""The tests beside the code: the record, and what a reader gets to see of it."""

import ast
import json

import pytest
from playwright.sync_api import expect

from sidebyside.press import find_modules, load
from sidebyside.tested import read_record, run_by
from tests.site.conftest import ROOT, visit

RECORD = ROOT / "results" / "tests.json"
REMEDY = "`make evidence` makes the record again"


def names_in(file: str) -> set[str]:
    """The tests in a file, as pytest names them."""
    names: set[str] = set()
    for node in ast.parse((ROOT / file).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            names.add(f"{file}::{node.name}")
        elif isinstance(node, ast.ClassDef):
            inside = (each for each in node.body if isinstance(each, ast.FunctionDef))
            names.update(f"{file}::{node.name}::{each.name}" for each in inside)
    return names


def test_each_test_that_a_page_names_is_there():
    named = set(json.loads(RECORD.read_text())["tests"])
    files = {name.partition("::")[0] for name in named}
    gone = named.difference(*map(names_in, files))
    assert not gone, f"{REMEDY}; or, for a new name, write it there: {sorted(gone)}"
    assert len(named) > 500


@pytest.mark.parametrize("package", ["labml_rl", "sidebyside"])
def test_most_of_the_record_is_of_the_code_of_today(package):
    recorded = read_record(RECORD.read_bytes())
    found = [
        tests.total
        for module in find_modules(ROOT / package, ROOT)
        for tests in run_by(load(module), recorded).values()
    ]
    assert len(found) > 200
    assert found.count(None) < 0.2 * len(found), REMEDY


@pytest.mark.parametrize("width", [320, 1440])
def test_a_reader_sees_which_tests_run_a_function(browser, site, width):
    viewport = {"width": width, "height": 900}
    address = (site / "labml_rl/returns.html").as_uri()
    with visit(browser, address, viewport=viewport) as seen:
        page = seen.page
        box = page.locator("section", has=page.locator("#gae")).locator("details").last
        summary = box.locator("summary")
        expect(summary).to_contain_text("Run by")
        name = box.get_by_text("three steps of advantages")
        expect(name).not_to_be_visible()
        summary.focus()
        page.keyboard.press("Enter")
        expect(name).to_be_visible()
        expect(box.get_by_text("tests/book/test_examples.py")).to_be_visible()
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width
