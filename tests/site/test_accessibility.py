"""No violation that axe can find, on any page, in either colour scheme."""

import os

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.site.conftest import visit
from tests.site.test_pages import DESKTOP, PHONE, all_pages

# What depends on colours. The rest is the same in both schemes, and is looked at once.
EVERYTHING = {"resultTypes": ["violations"]}
COLOURS = {**EVERYTHING, "runOnly": ["color-contrast", "link-in-text-block"]}


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


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, site, server, scheme):
    found = []
    with visit(browser, server, viewport=DESKTOP, color_scheme=scheme) as seen:
        for name in looked_at(site):
            seen.page.goto(f"{server}/{name}")
            found += violations(seen.page, COLOURS if scheme == "dark" else EVERYTHING)
    assert not found, "\n".join(found)


def test_axe_finds_nothing_on_a_phone(browser, server):
    with visit(browser, f"{server}/labml_rl/game.html", viewport=PHONE) as seen:
        assert not violations(seen.page)


def test_there_are_landmarks_and_one_first_heading(browser, site):
    with visit(browser, (site / "index.html").as_uri()) as seen:
        for name in all_pages(site):
            seen.page.goto((site / name).as_uri())
            for landmark in ("main", "banner", "contentinfo", "search"):
                assert seen.page.get_by_role(landmark).count() == 1, (name, landmark)
            assert seen.page.locator("h1").count() == 1, name
            assert seen.page.locator("html").get_attribute("lang") == "en"


def test_a_formula_is_read_aloud_once(browser, site):
    """MathML for a screen reader; what the eye sees is hidden from it."""
    with visit(browser, (site / "labml_rl/index.html").as_uri()) as seen:
        formulas = seen.page.locator("sbs-math")
        assert formulas.count() > 3
        for formula in formulas.all():
            assert formula.locator("math").count() == 1
            assert formula.locator(".katex-html[aria-hidden=true]").count() == 1
