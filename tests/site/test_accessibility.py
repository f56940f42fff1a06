"""No violation that axe can find, on any page, in either colour scheme."""

import os
import subprocess
import sys

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.site.conftest import visit
from tests.site.test_pages import DESKTOP, PARTS, PHONE, all_pages

# What depends on colours. The rest is the same in both schemes, and is looked at once.
EVERYTHING = {"resultTypes": ["violations"]}
COLOURS = {**EVERYTHING, "runOnly": ["color-contrast", "link-in-text-block"]}

# Most of what axe looks at are words of code that have a colour and nothing else. One
# of each kind is enough. The others become plain text, which takes half of the time.
ONE_OF_EACH = """
() => {
  const met = new Set();
  for (const word of document.querySelectorAll(".highlight span[class]:not(:has(*))")) {
    if (word.attributes.length > 1 || word.closest("a, button")) continue;
    const around = [".highlight", ".admonition, details"].map(e => word.closest(e));
    const kind = [word, word.parentElement, ...around].map(e => e?.className).join();
    if (met.has(kind)) word.replaceWith(...word.childNodes);
    met.add(kind);
  }
}
"""


def violations(page, options=EVERYTHING):
    """What axe complains about: rule, place and reason, one line each."""
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{page.url}: {rule['id']}: {node['html'][:150]}: "
        + "; ".join(check["message"] for check in node["any"])
        for rule in found
        for node in rule["nodes"][:3]
    ]


def looked_at(site):
    """
    One page of each kind, since axe takes up to ten seconds for a long one. All of them
    with EVERY_PAGE=1, which is for whoever changes a template, a style or the theme.
    """
    if os.environ.get("EVERY_PAGE"):
        return all_pages(site)
    kinds = ["index", "contributing", "sidebyside/errors", "sidebyside/symbols"]
    book = [path.stem for path in sorted((site / "labml_rl").glob("*.html"))]
    return [f"{name}.html" for name in [*kinds, *(f"labml_rl/{stem}" for stem in book)]]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(PARTS))
def test_each_page_from_a_web_server(browser, site, server, part):
    """One visit for both schemes; and no complaint, and no other host."""
    found = []
    kinds = looked_at(site)
    with visit(browser, server, viewport=DESKTOP, color_scheme="light") as seen:
        page = seen.page
        for name in all_pages(site)[part::PARTS]:
            page.goto(f"{server}/{name}")
            if name in kinds:
                page.evaluate(ONE_OF_EACH)
                found += violations(page)
                page.get_by_title("Switch to dark").click()
                expect(page.locator("body[data-md-color-scheme=slate]")).to_have_count(
                    1
                )
                found += violations(page, COLOURS)
                page.evaluate("() => localStorage.clear()")
            seen.check()
        page.wait_for_load_state("networkidle")
    assert not found, "\n".join(found)


def test_axe_finds_nothing_on_a_phone(browser, server):
    with visit(browser, f"{server}/labml_rl/game.html", viewport=PHONE) as seen:
        assert not violations(seen.page)


def test_code_can_be_read_where_nobody_chose_colours(browser, tmp_path):
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: S\nuse_directory_urls: false\n"
        "theme: {name: material, font: false}\n"
        "plugins: [sidebyside: {packages: [book]}]\n"
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "__init__.py").write_text(
        '"""# T\n\n>>> f(1)\n2\n"""\n\n\ndef f(x: int = 3) -> str:\n'
        '    """## F\n\n    Args:\n        x: a number.\n    """\n'
        "    return [x + 1, 'a', None]  # why\n"
    )
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    with visit(browser, (tmp_path / "site/book/index.html").as_uri()) as seen:
        found = violations(seen.page, COLOURS)
        assert not [each for each in found if "md-copyright" not in each]


def test_a_formula_is_read_aloud_once(browser, site):
    """MathML for a screen reader; what the eye sees is hidden from it."""
    with visit(browser, (site / "labml_rl/index.html").as_uri()) as seen:
        formulas = seen.page.locator("sbs-math")
        assert formulas.count() > 3
        for formula in formulas.all():
            assert formula.locator("math").count() == 1
            assert formula.locator(".katex-html[aria-hidden=true]").count() == 1
