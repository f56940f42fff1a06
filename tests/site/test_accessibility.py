"""No violation that axe can find, on any page, in either colour scheme."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.press.sites import build
from tests.site.conftest import visit
from tests.site.test_pages import DESKTOP, PARTS, PHONE, of_each_kind

# What depends on colours. The rest is the same in both schemes, and is looked at once.
COLOUR_RULES = ["color-contrast", "link-in-text-block"]
EVERYTHING = {"resultTypes": ["violations"]}
COLOURS = {"runOnly": COLOUR_RULES}
# To axe a heading that is a formula is empty, though its MathML is read aloud.
STRUCTURE = {
    **EVERYTHING,
    "rules": {
        rule: {"enabled": False} for rule in (*COLOUR_RULES, "empty-table-header")
    },
}
EMPTY_HEADINGS = "all => all.filter(e => !e.textContent.trim()).length"

# Contrast is what axe takes longest for, and thousands of words look the same, before
# the same background. One of each kind is enough; the others are hidden from it.
ONE_OF_EACH = """
() => {
  const met = new Set();
  const known = new Map([[null, ""]]);
  const behind = element => {
    if (!known.has(element)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
      const own = [backgroundColor, backgroundImage, opacity].join();
      known.set(element, `${behind(element.parentElement)} ${own}`);
    }
    return known.get(element);
  };
  const kinds = [...document.body.querySelectorAll("*")].map(element => {
    const { color, fontSize, fontWeight, textDecoration } = getComputedStyle(element);
    const around = element.parentElement.tagName;
    const kind = [element.tagName, around, color, fontSize, fontWeight, textDecoration];
    return [element, `${kind.join()} ${behind(element)}`];
  });
  for (const [element, kind] of kinds) {
    const texts = [...element.childNodes].filter(e => e.nodeType === Node.TEXT_NODE);
    if (!texts.some(text => text.data.trim())) continue;
    element.style.visibility = met.has(kind) ? "hidden" : "visible";
    element.dataset.met = "";
    met.add(kind);
  }
}
"""
ALL_AGAIN = """
() => {
  for (const element of document.querySelectorAll("[data-met]")) {
    element.style.visibility = "";
    delete element.dataset.met;
  }
}
"""


# The two columns have their colours from one gradient. Here they are two backgrounds.
# No colour is to be seen on its way to another, either.
SOLID = (
    ".sbs { background: none } .sbs-code { background: var(--sbs-code-bg) }"
    "*, ::before, ::after { transition: none !important }"
)


def violations(page, options=EVERYTHING):
    """What axe complains about: rule, place and reason, one line each."""
    return complaints(page, Axe().run(page, options=options).response)


def complaints(page, response):
    return [
        f"{page.url}: {rule['id']}: {node['html'][:150]}: "
        + "; ".join(check["message"] for check in node["any"])
        for rule in response["violations"]
        for node in rule["nodes"][:3]
    ]


def of_colours(page):
    """
    The same of colours alone. What lies before a gradient is no violation to axe: it
    does not know.
    """
    page.add_style_tag(content=SOLID)
    page.evaluate(ONE_OF_EACH)
    response = Axe().run(page, options=COLOURS).response
    page.evaluate(ALL_AGAIN)
    unknown = [
        f"{page.url}: {node['html'][:150]}: {check['message']}"
        for rule in response["incomplete"]
        for node in rule["nodes"]
        for check in node["any"]
        if (check["data"] or {}).get("messageKey") in ("bgGradient", "bgImage")
    ]
    return complaints(page, response) + unknown


@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(PARTS))
def test_pages_from_a_web_server(browser, site, server, part):
    """
    One visit for both schemes; and no complaint, and no other host. (All pages are
    opened from a folder, by the tests of pages.)
    """
    found = []
    with visit(browser, server, viewport=DESKTOP, color_scheme="light") as seen:
        page = seen.page
        for name in of_each_kind(site)[part::PARTS]:
            page.goto(f"{server}/{name}")
            found += violations(page, STRUCTURE)
            assert not page.locator("th").evaluate_all(EMPTY_HEADINGS), name
            found += of_colours(page)
            page.get_by_title("Switch to dark").click()
            dark = page.locator("body[data-md-color-scheme=slate]")
            expect(dark).to_have_count(1)
            found += of_colours(page)
            page.evaluate("() => localStorage.clear()")
            seen.check()
        page.wait_for_load_state("networkidle")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_that_are_too_pale_would_be_found(browser, site, scheme):
    """Wherever they are: before the colours of both columns, too."""
    address = (site / "labml_rl/speed.html").as_uri()
    colour = {"light": "#aaa", "dark": "#555"}[scheme]
    pale = f"<i id=pale style=color:{colour}>pale</i>"
    with visit(browser, address, viewport=DESKTOP, color_scheme=scheme) as seen:
        page = seen.page
        assert not of_colours(page)
        for place in (".sbs-prose > p", ".sbs-line", ".sbs-uses summary"):
            word = page.locator(place).nth(3)
            word.evaluate("(e, pale) => e.insertAdjacentHTML('beforeend', pale)", pale)
            (found,) = of_colours(page)
            assert "pale</i>: Element has insufficient color contrast" in found
            page.locator("#pale").evaluate("e => e.remove()")


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
    done = build(tmp_path)
    assert done.returncode == 0, done.stderr
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


# --- readers who press keys, or listen ---

# What the Tab key leads to, and whether it can be seen: it is inside the window, and
# nothing that stays in place lies over it.
FOCUSED = """
() => {
  const at = document.activeElement;
  const [box] = at.getClientRects();
  const x = box.left + box.width / 2, y = box.top + box.height / 2;
  const there = document.elementFromPoint(x, y);
  const seen = there && (at.contains(there) || there.contains(at));
  return {in: !!at.closest("article"), seen: !!seen, what: at.outerHTML.slice(0, 99)};
}
"""


@pytest.mark.parametrize("width", [320, 1024])
def test_a_menu_that_is_shut_is_in_nobodys_way(browser, site, width):
    url = (site / "labml_rl/dqn/index.html").as_uri()
    with visit(browser, url, viewport={"width": width, "height": 700}) as seen:
        presses = 0
        while not seen.page.evaluate(FOCUSED)["in"]:
            seen.page.keyboard.press("Tab")
            presses += 1
            assert presses < 12


def test_the_tab_key_stops_at_nothing_that_is_not_seen(browser, site):
    """From the top of a page into its text, past the search and the navigation."""
    with visit(browser, (site / "notation.html").as_uri(), viewport=DESKTOP) as seen:
        for _ in range(300):
            seen.page.keyboard.press("Tab")
            # Some appear only when they are reached, and not in an instant. Of the
            # switch for the colours, its label is what is seen.
            seen.page.wait_for_function(
                """() => {
                  const at = document.activeElement;
                  const seen = { opacityProperty: true, visibilityProperty: true };
                  return at.matches(".md-option") || at.checkVisibility(seen);
                }""",
            )
            if seen.page.evaluate(FOCUSED)["in"]:
                break
        else:
            pytest.fail("the text was not reached")


def test_the_menu_opens_and_shuts_by_keys(browser, site):
    url = (site / "labml_rl/game.html").as_uri()
    with visit(browser, url, viewport=PHONE) as seen:
        menu = seen.page.get_by_role("button", name="Menu")
        link = seen.page.get_by_role("link", name="Workers")
        for key in ("Enter", " "):
            menu.focus()
            expect(menu).to_have_attribute("aria-expanded", "false")
            seen.page.keyboard.press(key)
            expect(menu).to_have_attribute("aria-expanded", "true")
            assert seen.page.evaluate("() => !!document.activeElement.closest('nav')")
            expect(link).to_be_visible()
            seen.page.keyboard.press("Escape")
            expect(menu).to_be_focused()
            expect(link).to_be_hidden()
        seen.page.get_by_role("button", name="Search", exact=True).focus()
        seen.page.keyboard.press("Enter")
        expect(seen.page.get_by_role("textbox", name="Search")).to_be_focused()


@pytest.mark.parametrize("width", [390, 1024])
def test_in_the_menu_the_focus_is_on_what_is_seen(browser, site, width):
    """Behind a group that is open are others, and behind the menu is the page."""
    url = (site / "labml_rl/game.html").as_uri()
    with visit(browser, url, viewport={"width": width, "height": 800}) as seen:
        page = seen.page
        page.get_by_role("button", name="Menu").press("Enter")
        for _ in range(40):
            page.wait_for_function(f"() => ({FOCUSED})().seen")
            page.keyboard.press("Tab")
            if page.evaluate(FOCUSED)["in"]:
                break
        expect(page.locator("#__drawer")).not_to_be_checked()
        page.wait_for_function(f"() => ({FOCUSED})().seen")


def test_groups_of_the_menu_open_and_shut_by_keys(browser, site):
    url = (site / "labml_rl/game.html").as_uri()
    with visit(browser, url, viewport=PHONE) as seen:
        page = seen.page
        page.get_by_role("button", name="Menu").press("Enter")
        for name in ("I · The game", "III · Values", "II · Policies"):
            group = page.get_by_role("button", name=name)
            if name != "I · The game":
                group.press("Enter")
            # Its name in the list, and the title of what opens.
            expect(group).to_have_count(1)
            expect(group).to_be_focused()
            expect(group).to_have_attribute("aria-expanded", "true")
            page.keyboard.press("Enter")
            expect(group).to_have_attribute("aria-expanded", "false")
            expect(group).to_be_focused()


def test_the_outline_of_a_page_is_in_the_menu(browser, site):
    url = (site / "labml_rl/game.html").as_uri()
    with visit(browser, url, viewport=PHONE) as seen:
        page = seen.page
        page.get_by_role("button", name="Menu").press("Enter")
        name = "The game, frame by frame: Table of contents"
        here = page.get_by_role("button", name=name)
        expect(here).to_have_attribute("aria-current", "page")
        here.press("Enter")
        title = page.get_by_role("button", name="Table of contents", exact=True)
        expect(title).to_be_focused()
        page.get_by_role("link", name="The options", exact=True).press("Enter")
        expect(page.locator("#__drawer")).not_to_be_checked()
        assert page.url.endswith("#GameOptions")


@pytest.mark.parametrize("width", [390, 1440])
def test_the_search_is_left_for_where_one_was(browser, server, width):
    address = f"{server}/labml_rl/game.html"
    with visit(browser, address, viewport={"width": width, "height": 800}) as seen:
        page = seen.page
        link = page.locator(".sbs-prose > p > a").nth(9)
        link.focus()
        at = page.evaluate("scrollY")
        page.keyboard.press("s")
        search = page.get_by_role("textbox", name="Search")
        expect(search).to_be_focused()
        expect(page.locator("#__search")).to_be_checked()
        page.keyboard.press("Escape")
        expect(link).to_be_focused()
        assert page.evaluate("scrollY") == at
        # The theme looks a millisecond later where the focus has gone. Keys that are
        # faster than that go unnoticed.
        page.wait_for_timeout(100)
        page.keyboard.press("s")
        page.keyboard.type("advantage")
        expect(page.locator(".md-search-result__link").first).to_be_visible()
        page.keyboard.press("ArrowDown")
        expect(page.locator(".md-search-result__link").first).to_be_focused()
        page.keyboard.press("Escape")
        expect(link).to_be_focused()
        expect(search).not_to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_colours_are_switched_by_keys(browser, site, scheme):
    url = (site / "labml_rl/game.html").as_uri()
    other = {"light": "dark", "dark": "light"}
    with visit(browser, url, viewport=DESKTOP, color_scheme=scheme) as seen:
        for _ in range(3):
            seen.page.keyboard.press("Tab")
        for key in ("Enter", " ", "Enter"):
            name = f"Switch to {other[scheme]}"
            expect(seen.page.get_by_role("button", name=name)).to_be_focused()
            assert seen.page.evaluate(FOCUSED)["seen"]
            seen.page.keyboard.press(key)
            scheme = other[scheme]


def test_the_focus_on_a_slider_is_seen(browser, site):
    url = (site / "labml_rl/returns.html").as_uri()
    with visit(browser, url, viewport=DESKTOP) as seen:
        slider = seen.page.get_by_role("slider").first
        slider.press("ArrowRight")
        expect(slider).to_be_focused()
        assert slider.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"


def test_a_group_of_the_navigation_opens_by_keys(browser, site):
    # With what was searched for, as the search leads there.
    url = (site / "labml_rl/game.html").as_uri() + "?h=frame"
    with visit(browser, url, viewport=DESKTOP) as seen:
        here = seen.page.locator("nav.md-nav--primary [aria-current=page]")
        expect(here).to_have_text("The game, frame by frame")
        group = seen.page.get_by_role("button", name="Watching")
        inside = seen.page.get_by_role("link", name="How well it plays")
        for key, state in (("Enter", "true"), (" ", "false"), (" ", "true")):
            group.press(key)
            expect(group).to_have_attribute("aria-expanded", state)
            expect(inside).to_be_visible(visible=state == "true")


@pytest.mark.parametrize("width", [320, 1280])
def test_on_the_way_back_nothing_is_focused_behind_the_header(browser, site, width):
    url = (site / "labml_rl/returns.html").as_uri()
    with visit(browser, url, viewport={"width": width, "height": 800}) as seen:
        last = seen.page.locator("article a:visible, article summary:visible").last
        last.focus()
        for _ in range(60):
            seen.page.keyboard.press("Shift+Tab")
            at = seen.page.evaluate(FOCUSED)
            assert at["seen"], at["what"]


def test_keys_that_lead_somewhere_can_be_switched_off(browser, server):
    address = f"{server}/index.html"
    with visit(browser, address, viewport=DESKTOP) as seen:
        page = seen.page
        page.keyboard.press("Alt+n")
        page.keyboard.press("Alt+s")
        page.wait_for_timeout(300)
        assert page.url == address
        expect(page.get_by_role("textbox", name="Search")).not_to_be_focused()
        switch = page.get_by_role("button", name="switch them off")
        switch.click()
        expect(switch).to_have_count(0)
        page.reload()
        for key in "njs":
            page.keyboard.press(key)
        page.wait_for_timeout(300)
        assert page.url == address
        expect(page.get_by_role("textbox", name="Search")).not_to_be_focused()
        page.get_by_role("button", name="switch them on again").click()
        page.locator("h1").click()
        page.keyboard.press("n")
        page.wait_for_url(f"{server}/labml_rl/index.html")


def test_a_key_says_to_which_section_it_leads(browser, site):
    """By its heading, or if it has none by the name of the link to it."""
    url = (site / "labml_rl/returns.html").as_uri()
    with visit(browser, url, viewport=DESKTOP) as seen:
        for said in (
            "Pieces of play",
            "The rollout",
            "Link to Rollout.__post_init__",
            "Link to Rollout.__post_init__: a network that computes in",
        ):
            seen.page.keyboard.press("j")
            name = re.compile(rf"^{re.escape(said)}\s*¶?$")
            expect(seen.page.locator(":focus")).to_have_accessible_name(name)


def test_what_unfolds_is_not_said_twice(browser, site):
    """Of a name that is more than what is seen, what is seen is no description."""
    with visit(browser, (site / "labml_rl/returns.html").as_uri()) as seen:
        uses = seen.page.locator("summary[aria-label]")
        assert uses.count() > 5
        expect(uses.first).to_have_accessible_name(re.compile("^Rollout: used in"))
        client = seen.page.context.new_cdp_session(seen.page)
        tree = client.send("Accessibility.getFullAXTree")["nodes"]
        folds = [n for n in tree if n["role"]["value"] == "DisclosureTriangle"]
        assert len(folds) > uses.count()
        for fold in folds:
            assert not fold.get("description", {}).get("value"), fold["name"]["value"]


def test_numbers_of_lines_are_not_read_out(browser, site):
    with visit(browser, (site / "labml_rl/returns.html").as_uri()) as seen:
        assert seen.page.locator("[data-line]").count() > 50
        client = seen.page.context.new_cdp_session(seen.page)
        tree = client.send("Accessibility.getFullAXTree")["nodes"]
        said = {
            node["name"]["value"].strip()
            for node in tree
            if node.get("name") and node["role"]["value"] == "StaticText"
        }
        assert "import torch" in said or "torch" in said
        assert not {str(line) for line in range(70, 100)} & said


def test_results_of_a_search_have_names_and_are_counted(browser, server):
    with visit(browser, f"{server}/index.html", viewport=DESKTOP) as seen:
        seen.page.keyboard.press("s")
        seen.page.keyboard.type("advantage")
        expect(seen.page.get_by_role("status").filter(has_text="match")).to_be_visible()
        first = seen.page.locator(".md-search-result__item").get_by_role("link").first
        expect(first).to_have_accessible_name(re.compile("advantage", re.IGNORECASE))
        seen.page.keyboard.press("ArrowDown")
        outline = seen.page.locator(".md-search-result__link:focus article").first
        assert outline.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"


def test_marks_are_seen_where_the_reader_chose_all_colours(browser, server):
    options = {"viewport": DESKTOP, "forced_colors": "active", "color_scheme": "dark"}
    with visit(
        browser, f"{server}/labml_rl/returns.html?h=advantage", **options
    ) as seen:
        mark = seen.page.locator("mark").first
        colours = mark.evaluate(
            "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
        )
        assert len(set(colours)) == 2
        chevron = seen.page.locator(".md-nav__link .md-nav__icon").first
        assert chevron.evaluate(
            "e => getComputedStyle(e, '::after').backgroundColor"
            " != getComputedStyle(document.body).backgroundColor"
        )


def test_a_row_of_numbers_says_what_they_are_of(browser, server):
    with visit(browser, f"{server}/results.html") as seen:
        runs = seen.page.get_by_role("table").nth(1)
        row = runs.get_by_role("rowheader", name="Breakout, PPO, seed 2")
        expect(row).to_have_count(1)
        assert row.evaluate("e => getComputedStyle(e).fontWeight") == "400"
