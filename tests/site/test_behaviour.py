"""What the page does when a reader points, types or copies."""

import re
import textwrap

import pytest
from playwright.sync_api import ViewportSize, expect

from sidebyside.cli import main
from tests.press.sites import CONFIG, build
from tests.site.conftest import visit
from tests.site.test_pages import DESKTOP

PAPER = ViewportSize(width=642, height=970)  # A4, without its margins of 20 mm

MODULE = '''
    r"""
    ---
    title: Returns
    symbols:
      rewards: 'r_t'
      discount: '\\\\gamma'
      unused: '\\\\pi'
      φ: '\\\\phi'
    ---

    # Returns

    The sum $G = r_t + \\\\gamma r_{t+1}$, and again $r_t$.
    """


    def total(rewards, discount):
        """
        ## A total

        Args:
            rewards: the rewards.
            discount: the discount.
        """
        # Nothing about any name.
        return sum(rewards) * discount


    def other(rewards):
        """
        ## Another

        This speaks of `nothing` and of `rewards`. And of $\\\\phi$.
        """
        ϕ = len(rewards)
        return ϕ
'''


@pytest.fixture(scope="module")
def page_url(tmp_path_factory):
    """A page with symbols, on a small site."""
    folder = tmp_path_factory.mktemp("small")
    config = CONFIG.replace("nav: [index.md, book/index.md, book/game.md]", "")
    (folder / "mkdocs.yml").write_text(config)
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text("# Home\n")
    (folder / "book").mkdir()
    text = textwrap.dedent(MODULE).lstrip().replace("\\\\", "\\")
    (folder / "book" / "returns.py").write_text(text)
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return (folder / "site" / "book" / "returns.html").as_uri()


def lit(page):
    """What is lit, as (where, text or name), in the order of the page."""
    return page.evaluate(
        """() => [...document.querySelectorAll("[data-sbs-lit]")].map(e =>
          e.closest(".sbs-code") ? `code:${e.textContent}`
          : e.dataset.sbs ? `formula:${e.dataset.sbs}` : `prose:${e.textContent}`)"""
    )


def test_a_symbol_lights_its_name_everywhere_in_the_code(browser, page_url):
    with visit(browser, page_url, viewport=DESKTOP) as seen:
        page = seen.page
        page.locator("[data-sbs=rewards]").first.hover()
        assert lit(page) == ["formula:rewards"] * 2 + ["code:rewards"] * 4
        page.locator("h1").hover()
        assert lit(page) == []


def test_a_name_in_the_code_lights_its_symbol(browser, page_url):
    with visit(browser, page_url, viewport=DESKTOP) as seen:
        page = seen.page
        page.locator(".sbs-code span", has_text="discount").last.hover()
        assert lit(page) == ["formula:discount"] + ["code:discount"] * 2


@pytest.mark.parametrize("name", ["index", "labml_rl/ppo/index", "labml_rl/game"])
def test_above_a_title_that_is_seen_stands_the_name_of_the_site(browser, site, name):
    with visit(browser, (site / f"{name}.html").as_uri(), viewport=DESKTOP) as seen:
        header = seen.page.locator(".md-header__title")
        active = re.compile("md-header__title--active")
        expect(header).not_to_have_class(active)
        seen.page.mouse.wheel(0, 900)
        expect(header).to_have_class(active)
        seen.page.mouse.wheel(0, -900)
        expect(header).not_to_have_class(active)


@pytest.mark.parametrize("name", ["φ", "ϕ"])
def test_names_have_any_letters(browser, page_url, name):
    with visit(browser, page_url, viewport=DESKTOP) as seen:
        page = seen.page
        if name == "φ":
            page.locator("[data-sbs=φ]").hover()
        else:
            page.locator(".sbs-code span", has_text=name).last.hover()
        assert lit(page) == ["formula:φ"] + ["code:ϕ"] * 2


def test_a_click_or_a_tap_lights_one_symbol(browser, page_url):
    with visit(browser, page_url, viewport=DESKTOP, has_touch=True) as seen:
        page = seen.page
        rewards = ["formula:rewards"] * 2 + ["code:rewards"] * 4
        symbol = page.locator("[data-sbs=rewards]")
        symbol.first.click()
        assert lit(page) == rewards
        page.locator("h1").click()
        assert lit(page) == []
        for tapped in (symbol.first, symbol.last, symbol.first):
            tapped.tap()
            assert lit(page) == rewards
        page.locator("[data-sbs=discount]").tap()
        assert lit(page) == ["formula:discount"] + ["code:discount"] * 2
        page.locator("h1").tap()
        assert lit(page) == []


def test_symbols_light_up_by_keyboard(browser, page_url):
    with visit(browser, page_url, viewport=DESKTOP) as seen:
        page = seen.page
        formula = page.locator("sbs-math").first
        formula.focus()
        expect(formula).to_be_focused()
        names = {"rewards": 2 + 4, "discount": 1 + 2}
        assert len(lit(page)) == sum(names.values())
        colours = page.evaluate(
            """() => ["rewards", "discount"].map(name =>
              document.querySelector(`[data-sbs=${name}]`).dataset.sbsLit)"""
        )
        assert colours[0] != colours[1], "each name has a colour of its own"
        # And from the code, with the tab key.
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("() => !!document.activeElement.closest('.sbs-line')"):
                break
        assert any(each.startswith("formula:") for each in lit(page))


def test_no_two_symbols_of_a_formula_have_one_colour(browser, site):
    """Though the page has more of them than there are colours."""
    url = (site / "labml_rl/returns.html").as_uri()
    with visit(browser, url, viewport=DESKTOP) as seen:
        found = seen.page.evaluate(
            """() => [...document.querySelectorAll("sbs-math[tabindex]")].map(each => {
              each.focus();
              const lit = [...each.querySelectorAll("[data-sbs]")];
              const names = new Set(lit.map(symbol => symbol.dataset.sbs));
              const colours = new Set(lit.map(symbol => symbol.dataset.sbsLit));
              return [names.size, colours.size];
            })"""
        )
    assert max(found) >= [4, 4]
    assert all(names == colours for names, colours in found)


def test_an_argument_lights_its_parameter_in_the_code_beside(browser, page_url):
    with visit(browser, page_url, viewport=DESKTOP) as seen:
        page = seen.page
        argument = page.locator("dt > code", has_text="rewards")
        argument.focus()
        assert lit(page) == ["prose:rewards", "code:rewards"]
        page.locator(".sbs-prose p code", has_text="nothing").hover()
        assert lit(page) == [], "a name that the code does not have lights nothing"


def test_keys_lead_from_section_to_section(browser, site):
    with visit(
        browser, (site / "labml_rl/game.html").as_uri(), viewport=DESKTOP
    ) as seen:
        page = seen.page
        header = page.locator(".md-header").evaluate("e => e.offsetHeight")
        ids = page.evaluate(
            """() => [...document.querySelectorAll(
                ".sbs-row, .sbs-prose :is(h2, h3, h4, h5, h6)")].map(e =>
              e.id || e.querySelector("[id]").id)"""
        )
        assert ids[:2] == ["the-game-frame-by-frame", "what-the-agent-sees"]
        for expected in ids[1:5]:
            page.keyboard.press("j")
            page.wait_for_function("id => location.hash === `#${id}`", arg=expected)
            top = page.evaluate(
                "id => document.getElementById(id).getBoundingClientRect().top",
                expected,
            )
            assert abs(top - header) < 60, f"{expected} is at {top}"
        page.keyboard.press("k")
        page.wait_for_function("id => location.hash === `#${id}`", arg=ids[3])
        # While a reader types a search, letters are letters.
        page.locator("input[name=query]").fill("")
        page.locator("input[name=query]").press_sequentially("jjj")
        assert page.url.endswith(f"#{ids[3]}")


@pytest.mark.parametrize("keys_are_off", [False, True])
def test_letters_are_letters_among_results(browser, server, keys_are_off):
    """From a result, the theme leads a letter to the query, and the page stays."""
    url = f"{server}/labml_rl/game.html"
    with visit(browser, url, viewport=DESKTOP) as seen:
        page = seen.page
        if keys_are_off:
            page.evaluate("() => localStorage.setItem('keys are off', '')")
        query = page.locator("input[name=query]")
        query.click()
        query.press_sequentially("fram")
        expect(page.locator(".md-search-result__link").first).to_be_visible()
        page.keyboard.press("ArrowDown")
        expect(page.locator(".md-search-result__link:focus")).to_have_count(1)
        page.keyboard.press("j")
        expect(query).to_have_value("framj")
        expect(query).to_be_focused()
        assert page.evaluate("() => [scrollY, location.hash]") == [0, ""]


def test_a_key_leads_to_the_last_section(browser, site):
    """Those at the foot of a page can't come to stand at the top of the window."""
    url = (site / "labml_rl/runs/signals.html").as_uri()
    with visit(browser, url, viewport=DESKTOP) as seen:
        page = seen.page
        ids = page.evaluate(
            """() => [...document.querySelectorAll(
                ".sbs-row, .sbs-prose :is(h2, h3, h4, h5, h6)")].map(e =>
              e.id || e.querySelector("[id]").id)"""
        )
        for expected in ids[1:]:
            page.keyboard.press("j")
            page.wait_for_function("id => location.hash === `#${id}`", arg=expected)
        page.keyboard.press("j")
        for expected in ids[-2:-4:-1]:
            page.keyboard.press("k")
            page.wait_for_function("id => location.hash === `#${id}`", arg=expected)


def test_lines_of_code_and_formulas_fit_on_a_laptop(browser, site):
    """
    960 and 1220 pixels: the narrowest with two columns, without and with a menu. A
    scroll bar takes 15 of them from the page, though styles still count them.
    """
    fits = {
        width: [".sbs-code pre > code", ".sbs-prose sbs-math.display"]
        for width in (960, 1024, 1025, 1220, 1279, 1280, 1366, 1425, 1440)
    }
    for width in (1280, 1366):
        fits[width] += [".sbs-prose pre > code"]
    for name in ("labml_rl/batch", "labml_rl/returns", "sidebyside/names"):
        with visit(browser, (site / f"{name}.html").as_uri()) as seen:
            seen.page.add_style_tag(content="html { padding-right: 15px }")
            for width, things in fits.items():
                seen.page.set_viewport_size({"width": width, "height": 800})
                for thing in things:
                    cut = seen.page.locator(thing).evaluate_all(
                        "all => all.map(e => e.scrollWidth > e.clientWidth + 1)"
                    )
                    assert not any(cut), f"{thing} of {name} at {width} pixels"


def test_a_long_name_stays_on_its_side(browser, tmp_path):
    """A section that is used says so, and names in other people's code are long."""
    name = "Test" + "VeryLong" * 10
    (tmp_path / "mkdocs.yml").write_text(
        CONFIG.replace("nav: [index.md, book/index.md, book/game.md]", "")
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "long.py").write_text(
        f'class {name}:\n    """A."""\n\n    def of_it(self):\n        """F."""\n\n\n'
        f'def g(it: {name}):\n    """G."""\n    it.of_it()\n'
    )
    done = build(tmp_path)
    assert done.returncode == 0, done.stderr
    url = (tmp_path / "site" / "book" / "long.html").as_uri()
    for width in (320, 1024):
        with visit(browser, url, viewport={"width": width, "height": 700}) as seen:
            wide = seen.page.locator(".sbs-uses").evaluate_all(
                "all => all.map(e => e.scrollWidth - e.clientWidth)"
            )
            assert len(wide) == 2
            assert max(wide) <= 1


def test_keys_lead_through_a_page_without_code(browser, site):
    with visit(browser, (site / "results.html").as_uri(), viewport=DESKTOP) as seen:
        page = seen.page
        ids = page.locator(".md-content h2").evaluate_all("all => all.map(e => e.id)")
        for expected in ids[:2]:
            page.keyboard.press("j")
            page.wait_for_function("id => location.hash === `#${id}`", arg=expected)
        page.keyboard.press("k")
        page.wait_for_function("id => location.hash === `#${id}`", arg=ids[0])


@pytest.mark.parametrize("name", ["results.html", "labml_rl/game.html"])
def test_the_outline_follows(browser, site, name):
    """It is longer than the window, and what is being read stays in sight."""
    small = {"width": 1440, "height": 600}
    with visit(browser, (site / name).as_uri(), viewport=small) as seen:
        page = seen.page
        for _ in range(3):
            page.mouse.wheel(0, 5000)
            page.wait_for_timeout(300)
        page.wait_for_function(
            """() => {
              const links = ".md-nav--secondary .md-nav__link--active";
              const active = [...document.querySelectorAll(links)].pop();
              const { top, bottom } = active.getBoundingClientRect();
              return scrollY > 5000 && top > 50 && bottom < innerHeight;
            }"""
        )


@pytest.mark.parametrize("anchor", ["Game.step", "Game._is_over"])
def test_where_a_link_has_led_to_is_marked(browser, site, anchor):
    """Whether the section has a heading or not."""
    address = (site / "labml_rl/game.html").as_uri()
    with visit(browser, f"{address}#{anchor}", viewport=DESKTOP) as seen:
        marked = seen.page.locator(".sbs-row").evaluate_all(
            """rows => rows.filter(row => getComputedStyle(row, "::before").content
              !== "none").map(row => row.querySelector("[id]").id)"""
        )
        assert marked == [anchor]


def test_pictures_far_away_wait_and_the_section_stays(browser, site, tmp_path):
    """On a page with fifteen of them, whoever follows a link sees its section."""
    address = (site / "labml_rl/mistakes.html").as_uri()
    with visit(browser, address, viewport=DESKTOP) as seen:
        page = seen.page
        everything = page.locator(".sbs-prose img").count()
        loaded = "images => images.filter(each => each.naturalWidth).length"
        assert page.locator(".sbs-prose img").evaluate_all(loaded) < everything / 2
        # On paper there are all of them.
        page.pdf(path=tmp_path / "printed.pdf")
        assert page.locator(".sbs-prose img").evaluate_all(loaded) == everything
    with visit(browser, f"{address}#EndsLate", viewport=DESKTOP) as seen:
        page = seen.page
        top = "document.getElementById('EndsLate').getBoundingClientRect().top"
        first = page.evaluate(top)
        page.wait_for_timeout(1_000)
        assert 0 < first < DESKTOP["height"] / 2
        assert page.evaluate(top) == first


ALL_ARE_LOADED = """titles => titles.every(
  each => document.querySelector(`img[title="${each}"]`).naturalWidth)"""
LAMBDAS = ["λ = 0", "λ = 0.5", "λ = 0.8", "λ = 0.9", "λ = 0.95", "λ = 1"]


def steps_of(series, pictures):
    """Move the slider through all pictures, and look at what is shown and said."""
    slider = series.get_by_role("slider")
    for number, title in enumerate(LAMBDAS):
        expect(series.locator("output")).to_have_text(title)
        said = f"{title}: {pictures.nth(number).get_attribute('alt')}"
        expect(slider).to_have_attribute("aria-valuetext", said)
        expect(pictures.nth(number)).to_be_visible()
        assert [each.is_visible() for each in pictures.all()].count(True) == 1
        yield
        slider.press("ArrowRight")


def test_a_slider_moves_a_picture(browser, site):
    address = (site / "labml_rl/returns.html").as_uri()
    with visit(browser, f"{address}#gae", viewport=DESKTOP) as seen:
        page = seen.page
        series = page.locator(".sbs-series").filter(has=page.get_by_title(LAMBDAS[0]))
        slider = series.get_by_role("slider")
        expect(slider).to_have_accessible_name("Move the picture")
        height = "each => each.getBoundingClientRect().height"
        before = series.evaluate(height)
        slider.focus()
        for _ in steps_of(series, series.locator("img")):
            # The next is there before it is asked for, and nothing moves.
            page.wait_for_function(ALL_ARE_LOADED, arg=LAMBDAS)
            assert series.evaluate(height) == before


def test_a_slider_moves_pictures_that_a_plugin_has_made_links_of(browser, server):
    def answer(route):
        answered = route.fetch()
        html = re.sub(r"(<img [^>]*>)", r'<a href="#">\1</a>', answered.text())
        route.fulfill(response=answered, body=html)

    with visit(browser, f"{server}/labml_rl/game.html", viewport=DESKTOP) as seen:
        page = seen.page
        page.route("**/returns.html", answer)
        page.goto(f"{server}/labml_rl/returns.html")
        series = page.locator(".sbs-series").filter(has=page.get_by_title(LAMBDAS[0]))
        assert len([*steps_of(series, series.locator("a > img"))]) == len(LAMBDAS)


PLACES = """() => {
  const side = element => {
    const box = document.querySelector(element).getBoundingClientRect()
    return (box.left + box.right) / 2
  }
  const formula = document.querySelector("sbs-math [aria-hidden=true], .katex-html")
  const letters = document.createTreeWalker(formula, NodeFilter.SHOW_TEXT)
  const at = []
  while (letters.nextNode()) {
    const range = document.createRange()
    range.selectNodeContents(letters.currentNode)
    at.push(range.getBoundingClientRect().left)
  }
  return [side(".sbs-prose"), side(".sbs-row > .sbs-code"), at]
}"""


def test_a_theme_that_is_read_from_right_to_left(browser, page_url):
    with visit(browser, page_url, viewport=DESKTOP) as seen:
        page = seen.page
        prose, code, letters = page.evaluate(PLACES)
        assert prose < code
        assert len(letters) > 3
        assert letters == sorted(letters)
        page.evaluate("() => (document.body.dir = 'rtl')")
        prose, code, letters = page.evaluate(PLACES)
        assert prose > code
        assert letters == sorted(letters), "a formula is read from left to right"
        style = "each => getComputedStyle(each).backgroundPositionX"
        assert page.locator(".sbs").first.evaluate(style) == "138.4%"


def test_without_scripts_all_pictures_of_a_series_are_there(browser, site, tmp_path):
    picture = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
    (tmp_path / "a.svg").write_text(picture)
    module = tmp_path / "alone.py"
    module.write_text('"""\n# T\n\n![A](a.svg "1")\n![B](a.svg "2")\n"""\n')
    alone = tmp_path / "alone.html"
    assert main(["page", str(module), "-o", str(alone)]) == 0
    for address, scripts, count in (
        ((site / "labml_rl/returns.html").as_uri(), False, 12),
        (alone.as_uri(), True, 2),
    ):
        with visit(browser, address, java_script_enabled=scripts) as seen:
            pictures = seen.page.locator(".sbs-series img").all()
            assert len(pictures) == count
            for each in pictures:
                expect(each).to_be_visible()


def test_what_is_printed_from_a_dark_page_can_be_read(browser, site):
    address = (site / "labml_rl/game.html").as_uri()
    colours = []
    for scheme in ("light", "dark"):
        with visit(browser, address, color_scheme=scheme) as seen:
            page = seen.page
            # The theme's colours change slowly, and only the last are printed.
            at_once = "*, ::before, ::after { transition: none !important }"
            page.add_style_tag(content=at_once)
            page.emulate_media(media="print", color_scheme=scheme)
            colours.append(
                page.evaluate(
                    """() => ["h1", ".sbs-line .k", ".sbs-prose a", ".sbs-prose code"]
                      .map(e => getComputedStyle(document.querySelector(e)).color)"""
                )
            )
    assert colours[0] == colours[1]


def test_the_tab_key_does_not_stop_at_each_name_in_the_code(browser, site):
    """Once on a page at each place; in a section that was come to with a key, again."""
    stops = """row => [...(row ?? document).querySelectorAll(".sbs-line a")].map(
      e => [e.getAttribute("href"), e.tabIndex === 0])"""
    url = (site / "labml_rl/game.html").as_uri()
    with visit(browser, url, viewport=DESKTOP) as seen:
        page = seen.page
        links = page.evaluate(stops)
        stopped_at = [href for href, is_stop in links if is_stop]
        assert len(links) > 2 * len(stopped_at)
        assert sorted(stopped_at) == sorted({href for href, _ in links})

        rows = page.locator(".sbs-row")
        closed = rows.evaluate_all(
            """rows => rows.findIndex((row, i) => i > 0
              && row.querySelector(".sbs-line a")
              && !row.querySelector(".sbs-line a:not([tabindex])"))"""
        )
        assert closed > 0, "no section with names that were all met before"
        row = rows.nth(closed)
        before = rows.nth(closed - 1)
        before.locator(".headerlink, .sbs-link a").first.focus()
        before.evaluate("e => e.scrollIntoView({block: 'start'})")
        page.keyboard.press("j")
        opened = row.evaluate(stops)
        stopped_at = [href for href, is_stop in opened if is_stop]
        assert sorted(stopped_at) == sorted({href for href, _ in opened})
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("() => !!document.activeElement.closest('.sbs-line a')"):
                break
        focus = page.evaluate("() => document.activeElement.getAttribute('href')")
        assert focus == opened[0][0]


def test_a_section_and_the_module_can_be_copied(browser, server):
    url = f"{server}/labml_rl/game.html"
    with visit(
        browser,
        url,
        viewport=DESKTOP,
        permissions=["clipboard-read", "clipboard-write"],
    ) as seen:
        page = seen.page
        module = page.request.get(f"{server}/labml_rl/game.py").text()
        page.get_by_role("button", name="Copy module").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("() => navigator.clipboard.readText()") == module
        # What has happened is said, and no more.
        button = page.get_by_role("button", name="Copy module")
        expect(button).to_have_attribute("aria-live", "off")

        section = page.locator(".sbs-code").nth(1)
        numbers = section.locator(".sbs-line").evaluate_all(
            "lines => lines.map(e => Number(e.dataset.line))"
        )
        section.hover()
        section.get_by_title("Copy to clipboard").click()
        expect(page.locator(".md-dialog")).to_have_text("Copied to clipboard")
        lines = module.split("\n")
        assert page.evaluate("() => navigator.clipboard.readText()").strip(
            "\n"
        ) == "\n".join(lines[number - 1] for number in numbers).strip("\n")


COPIED = """([text, kind = "plain"]) => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector(text));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  let copied = null;
  const listen = e => (copied = e.clipboardData.getData(`text/${kind}`));
  document.addEventListener("copy", listen, { once: true });
  document.execCommand("copy");
  return copied;
}"""


def test_a_formula_is_copied_as_its_tex(browser, page_url):
    with visit(browser, page_url, viewport=DESKTOP) as seen:
        page = seen.page
        whole = r"The sum $G = {r_t} + {\gamma} r_{t+1}$, and again ${r_t}$."
        assert page.evaluate(COPIED, [".sbs-prose > p"]) == whole
        # Part of a formula is no formula.
        part = page.evaluate(COPIED, [".sbs-prose .katex-html .katex-base"])
        assert part == r"$G = {r_t} + {\gamma} r_{t+1}$"
        assert page.locator("body > div > p").count() == 0, "nothing is left behind"
        # What has no formula is left to the browser.
        assert page.evaluate(COPIED, [".sbs-code code"]) == ""


def test_what_is_copied_with_a_formula_keeps_its_links(browser, server):
    """And loses the signs after its headings, as all that is copied does."""
    url = f"{server}/labml_rl/ppo/index.html"
    with visit(browser, url, viewport=DESKTOP) as seen:
        page = seen.page
        html = page.evaluate(COPIED, [".sbs", "html"])
        assert f'<a href="{server}/labml_rl/a2c/index.html">A2C</a>' in html
        assert "katex" not in html
        assert "¶" not in page.evaluate(COPIED, [".sbs"])
        assert page.evaluate(COPIED, [".sbs-row > h2:not(:has(sbs-math))"]) == ""
        assert "¶" not in page.evaluate("() => getSelection().toString()")


def test_a_page_in_one_file_is_printed_whole(browser, tmp_path):
    module, made = tmp_path / "m.py", tmp_path / "m.html"
    long = "x = " + repr("long" * 50)
    row = "|".join(["`a_name_of_some_length`"] * 6)
    table = f"{row}\n{'|'.join(['---'] * 6)}\n{row}"
    module.write_text(f'"""\n```python\n{long}\n```\n\n{table}\n"""\n{long}\n')
    assert main(["page", str(module), "-o", str(made)]) == 0
    with visit(browser, made.as_uri(), viewport=PAPER) as seen:
        seen.page.emulate_media(media="print")
        assert seen.page.evaluate(
            """() => [...document.querySelectorAll("html, pre > code, table")].map(
              each => each.scrollWidth - each.clientWidth)"""
        ) == [0, 0, 0, 0]


def test_a_page_in_one_file_has_a_formula_copied_once(browser, tmp_path):
    """It has no script that would see to it."""
    module, made = tmp_path / "m.py", tmp_path / "m.html"
    module.write_text('"""The sum $a + b$."""\n')
    assert main(["page", str(module), "-o", str(made)]) == 0
    with visit(browser, made.as_uri()) as seen:
        copied = seen.page.evaluate(
            """() => {
              getSelection().selectAllChildren(document.querySelector(".sbs-prose p"));
              return getSelection().toString();
            }"""
        )
    assert copied.split() == ["The", "sum", "a+b."]


def test_what_is_copied_from_a_box_is_what_is_in_it(browser, page_url):
    """Firefox keeps what was selected on the page before."""
    with visit(browser, page_url, viewport=DESKTOP) as seen:
        page = seen.page
        assert "$G" in page.evaluate(COPIED, [".sbs-prose > p"])
        assert (
            page.evaluate(
                """() => {
              const clipboardData = new DataTransfer();
              const copy = new ClipboardEvent("copy", { bubbles: true, clipboardData });
              document.querySelector(".md-search__input").dispatchEvent(copy);
              return getSelection().isCollapsed || clipboardData.getData("text/plain");
            }"""
            )
            == ""
        )


@pytest.mark.parametrize("name", ["labml_rl/screen", "sidebyside/plugin"])
def test_each_block_is_copied_by_its_own_button(browser, server, name):
    """Also where several stand in one section, with a heading or without."""
    with visit(
        browser,
        f"{server}/{name}.html",
        viewport=DESKTOP,
        permissions=["clipboard-read", "clipboard-write"],
    ) as seen:
        page = seen.page
        blocks = page.locator(".md-content pre:has(> code)")
        page.locator(".md-code__button").first.wait_for(state="attached")
        copied = 0
        for block in blocks.all():
            block.scroll_into_view_if_needed()
            button = block.locator(".md-code__button[data-md-type=copy]")
            if not button.count():
                button = block.locator(".md-code__button")
            page.evaluate("() => navigator.clipboard.writeText('')")
            button.first.evaluate("e => e.click()")
            page.wait_for_function(
                "async () => (await navigator.clipboard.readText()) !== ''"
            )
            wanted = block.locator("> code").inner_text().strip("\n")
            found = page.evaluate("() => navigator.clipboard.readText()").strip("\n")
            assert found == wanted
            copied += 1
        assert copied > 10


def test_short_code_follows_long_prose(browser, site):
    """At the end of a long derivation the code is still beside it."""
    with visit(
        browser, (site / "labml_rl/returns.html").as_uri(), viewport=DESKTOP
    ) as seen:
        page = seen.page
        row = page.locator(".sbs-row:has(> #gae)")
        top, height = row.evaluate("e => [e.offsetTop, e.offsetHeight]")
        assert height > 1500, "the row is long, or this tests nothing"
        page.evaluate("y => window.scrollTo(0, y)", top + height * 0.6)
        expect(row.locator("pre code").last).to_be_in_viewport(ratio=0.9)
        header = page.locator(".md-header").evaluate("e => e.offsetHeight")
        top = row.locator(".sbs-code pre").evaluate(
            "e => e.getBoundingClientRect().top"
        )
        assert top >= header


def test_print_is_a_clean_document(browser, site):
    with visit(browser, (site / "labml_rl/game.html").as_uri()) as seen:
        page = seen.page
        page.emulate_media(media="print", color_scheme="dark")
        canvas = "() => getComputedStyle(document.documentElement).colorScheme"
        assert page.evaluate(canvas) == "light", "the margins of a sheet are white"
        furnitures = (".md-header", ".md-sidebar", ".md-footer", ".md-code__nav")
        for furniture in (*furnitures, ".sbs-uses"):
            for each in page.locator(furniture).all():
                expect(each).not_to_be_visible()
        cut = page.evaluate(
            """() => [...document.querySelectorAll(".sbs-code code")].filter(e =>
              e.scrollWidth > e.clientWidth + 1).length"""
        )
        assert cut == 0, "long lines wrap, since paper does not scroll"
        page.set_viewport_size(PAPER)
        wrapped = page.evaluate(
            """() => [...document.querySelectorAll(".sbs-line")].filter(e =>
              e.offsetHeight > 20).length"""
        )
        assert wrapped == 0, "a line of 88 characters fits on a sheet"
        page.set_viewport_size(PAPER | {"width": 300})
        clear = page.evaluate(
            """() => {
              const lines = [...document.querySelectorAll(".sbs-line")];
              const [long] = lines.filter(e => e.offsetHeight > 25);
              const number = parseFloat(getComputedStyle(long, "::before").width);
              const range = document.createRange();
              range.selectNodeContents(long);
              const rects = [...range.getClientRects()];
              const left = Math.min(...rects.map(rect => rect.left));
              return left - long.getBoundingClientRect().left - number;
            }"""
        )
        assert clear > 0, "nothing stands below the numbers of lines"
        shown = page.evaluate(
            """() => {
              const box = "<details><summary>More</summary><p>Inside</p></details>";
              const article = document.querySelector("article");
              article.insertAdjacentHTML("beforeend", box);
              const inside = article.lastElementChild.lastElementChild;
              return inside.checkVisibility({ contentVisibilityAuto: true });
            }"""
        )
        assert shown, "nobody opens a box on paper"
