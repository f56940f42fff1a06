"""What a reader sees, in a real browser."""

import contextlib
import os
import re
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from mkdocs.exceptions import PluginError
from playwright.sync_api import TimeoutError, ViewportSize, expect

from hooks import captions, papers, tables
from hooks.tables import on_page_content
from hooks.way import way
from sidebyside.press import ASSETS
from tests.site.conftest import ROOT, visit

DESKTOP = ViewportSize(width=1440, height=900)
PHONE = ViewportSize(width=390, height=844)

# Pages are visited in so many parts, so that each worker of pytest has some of them.
PARTS = 4

# For each row that has both: where its prose and its code lie. How wide the page is,
# and what of it is cut off.
LAYOUT = """
() => {
  const box = element => {
    const {left, right, top, bottom} = element.getBoundingClientRect();
    return {left, right, top, bottom};
  };
  const rows = [];
  for (const row of document.querySelectorAll(".sbs-row")) {
    const prose = row.querySelector(":scope > .sbs-prose");
    const code = row.querySelector(":scope > .sbs-code");
    const id = row.querySelector("[id]").id;
    const essay = row.classList.contains("sbs-essay");
    if (prose && code) rows.push({prose: box(prose), code: box(code), id, essay});
  }
  const cut = [...document.querySelectorAll(".md-content *")].filter(e =>
    e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0
    && getComputedStyle(e).overflowX === "hidden"
    && !e.closest(".katex, .md-clipboard, nav")
  ).map(e => e.outerHTML.slice(0, 200));
  return {rows, wide: document.documentElement.scrollWidth, cut};
}
"""


def all_pages(site):
    """Every page but the one for a missing page, which only a web server can show."""
    found = sorted(site.rglob("*.html"))
    return [p.relative_to(site).as_posix() for p in found if p.name != "404.html"]


def of_each_kind(site):
    """
    One page of each kind, for what takes a second or more for each. All of them with
    EVERY_PAGE=1, which is for whoever changes a template, a style or the theme.
    """
    if os.environ.get("EVERY_PAGE"):
        return all_pages(site)
    kinds = ["index", "contributing", "results", "sidebyside/symbols"]
    kinds += ["benchmarks/mistakes", "reference/sidebyside"]
    kinds += ["reference/labml_rl.ppo"]
    # With code alone, formulas, tables, figures, films, and what opens when asked.
    book = ["a2c/__main__", "returns", "speed", "bodies", "ppo/index"]
    book += ["dqn/distribution", "wrappers/pictures"]
    kinds += [f"labml_rl/{name}" for name in book]
    assert {f"{name}.html" for name in kinds} <= {*all_pages(site)}
    return [f"{name}.html" for name in kinds]


def check_layout(page, width):
    """
    Side by side on a desktop, but for prose that is an essay; stacked on a phone; and
    nothing is cut off.

    Returns:
        How many rows have both prose and code.
    """
    page.set_viewport_size({"width": width, "height": 800})
    found = page.evaluate(LAYOUT)
    if found["wide"] > width:
        # The theme's search field takes a moment to glide to its place.
        with contextlib.suppress(TimeoutError):
            page.wait_for_function(
                "() => document.documentElement.scrollWidth <= innerWidth",
                timeout=60_000,
            )
        found = page.evaluate(LAYOUT)
    wide, cut = found["wide"], found["cut"]
    assert wide <= width, f"{page.url} is {wide} pixels wide at {width}"
    assert not cut, f"{page.url}: cut off at {width}: {cut}"
    for row in found["rows"]:
        prose, code = row["prose"], row["code"]
        assert code["right"] <= width, (page.url, row)
        if width == PHONE["width"] or row["essay"]:
            assert prose["bottom"] <= code["top"] + 1, (page.url, row)
            assert prose["left"] >= 0, (page.url, row)
            assert prose["right"] <= width, (page.url, row)
        elif width == DESKTOP["width"]:
            assert prose["right"] <= code["left"] + 1, (page.url, row)
            assert prose["top"] < code["bottom"], (page.url, row)
            assert code["top"] < prose["bottom"], (page.url, row)
    return len(found["rows"])


def check_landmarks(page, with_scripts):
    """
    What a screen reader needs to find its way: landmarks, one first heading. There is a
    search where there are scripts.
    """
    for landmark in ("main", "banner", "contentinfo", *["search"] * with_scripts):
        assert page.get_by_role(landmark).count() == 1, (page.url, landmark)
    assert page.locator("h1").count() == 1, page.url
    assert page.locator("html").get_attribute("lang") == "en", page.url


WIDTHS = (320, 390, 768, 960, 1220, 1440, 1920, 2560)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(PARTS))
def test_each_page_from_a_folder(browser, site, part):
    """
    One visit for all that can be seen of a page at once. Side by side at 1440 pixels,
    stacked at 390, nothing cut off from 320 to 2560; landmarks; no complaint, and no
    other host. The theme's scripts take longer than all else, and run on a page of each
    kind.
    """
    rows = 0
    home = (site / "index.html").as_uri()
    with (
        visit(browser, home) as seen,
        visit(browser, home, java_script_enabled=False) as plain,
    ):
        kinds = of_each_kind(site)
        for name in all_pages(site)[part::PARTS]:
            with_scripts = name in kinds
            page = seen.page if with_scripts else plain.page
            page.goto((site / name).as_uri())
            check_landmarks(page, with_scripts)
            # Most pages are of one kind; it is enough to try all widths on a few.
            typical = name in ("index.html", "labml_rl/speed.html")
            for width in WIDTHS if typical else (320, 390, 1440):
                found = check_layout(page, width)
            rows += found
            seen.check()
            plain.check()
        seen.page.wait_for_timeout(500)  # for what is asked for late
    assert rows > 50


def test_the_longest_lines_of_code_fit(browser, site):
    """The 88 characters that CONTRIBUTING.md promises."""
    url = (site / "sidebyside/names.html").as_uri()
    with visit(browser, url, viewport=DESKTOP) as seen:
        code = seen.page.locator(".sbs-code code")
        longest = max(map(len, "\n".join(code.all_inner_texts()).splitlines()))
        assert longest == 88
        wide = code.evaluate_all(
            "all => all.map(e => e.scrollWidth - e.clientWidth).filter(n => n > 0)"
        )
        assert not wide, f"code is up to {max(wide)} pixels too wide"


@pytest.mark.parametrize(
    ("written", "marked"),
    [
        (
            "<code>max_gradient_norm</code>",
            "<code>max_<wbr>gradient_<wbr>norm</code>",
        ),
        (
            "<code>a/b.py 0.99 _c and</code>",
            "<code>a/<wbr>b.<wbr>py 0.99 _c and</code>",
        ),
        ("<code>max_grad_norm</code>", "<code>max_grad_norm</code>"),
        ("<code>" + 25 * "f" + "</code>", f"<code>{10 * 'f'}<wbr>{15 * 'f'}</code>"),
        ('<a href="a_b.html">a_b</a>', '<a href="a_b.html">a_b</a>'),
        ("12.1 ± 0.2 (error)", "12.1&nbsp;±&nbsp;0.2 (error)"),
        ("20 (−9–1,000)", '20 (<span class="book-range">−9–1,000</span>)'),
        ("from A–Z", "from A–Z"),
    ],
)
def test_names_in_tables_break_between_their_words(written, marked):
    assert on_page_content(f"<table>{written}</table>") == f"<table>{marked}</table>"
    assert on_page_content(f"<p>{written}</p>") == f"<p>{written}</p>"


def test_options_and_shapes_are_one_piece():
    word = '<span class="book-word">{}</span>'.format
    assert on_page_content("<code>labml-rl train --dueling</code>") == (
        f"<code>{word('labml-rl')} train {word('--dueling')}</code>"
    )
    assert on_page_content("<code>(T, N)</code>") == (
        '<code class="book-word">(T, N)</code>'
    )
    for other in (
        f"<code>{30 * '-'}</code>",
        "<code>f(x) - y</code>",
        "<code>(a long one, too)</code>",
        "<pre><code>--option</code></pre>",
    ):
        assert on_page_content(other) == other


def test_a_page_is_kept_for_the_next_build_and_then_forgotten(monkeypatch):
    """A server makes the site hundreds of times, and each save is another page."""
    made: list[str] = []
    broken = tables.broken

    def noted(html: str) -> str:
        made.append(html)
        return broken(html)

    monkeypatch.setattr(tables, "broken", noted)
    monkeypatch.setattr(tables, "NOW", {})
    monkeypatch.setattr(tables, "BEFORE", {})
    for number in range(600):
        tables.on_pre_build()
        for html in ("<code>a --b</code>", f"<p>{number}</p>"):
            assert on_page_content(html) == broken(html)
    assert len(made) == 601
    assert len(tables.NOW) + len(tables.BEFORE) == 4


def test_errors_stand_below_each_other():
    rows = "".join(
        f"<tr><td>{cell}</td></tr>"
        for cell in ("a", "1 ± 17.2", "2 ± 4.0", "3", "4 (1–1,000)")
    )
    found = on_page_content(f"<table>{rows.replace('td', 'th', 2)}</table>")
    wide, narrow = "\N{FIGURE SPACE}", "\N{PUNCTUATION SPACE}"
    assert f"17.2{2 * wide}</td>" in found
    assert f"4.0{3 * wide}</td>" in found
    assert ">3</td>" in found
    assert "1,000</span>)</td>" in found
    assert narrow not in found
    cells = "".join(f"<tr><td>{n} ± {n}</td></tr>" for n in ("1", "2", "1,000"))
    shorter = on_page_content(f"<table>{cells}</table>")
    assert f"2&nbsp;±&nbsp;2{3 * wide}{narrow}</td>" in shorter


def test_scores_of_several_seeds_are_a_column_of_numbers():
    rows = "".join(f"<tr><td>{cell}</td></tr>" for cell in ("a", "1 / −2.5", "3", "–"))
    found = on_page_content(f"<table>{rows.replace('td', 'th', 2)}</table>")
    assert found.count('style="text-align: right"') == 4
    for words in ("1 / two", "1/2", "1 / "):
        table = f"<table>{rows.replace('1 / −2.5', words)}</table>"
        assert on_page_content(table) == table


def test_italics_right_below_a_figure_are_its_caption():
    caption = '<p class="book-caption">'
    figure = '<p><img alt="A" src="a.svg" /></p>\n'
    for words in ("<em>All\nof it.</em>", "<em>Its curve, as in</em> Nature."):
        html = f"{figure}<p>{words}</p>\n<p>{words}</p>"
        assert captions.on_page_content(html) == html.replace(
            "<p><em>", caption + "<em>", 1
        )
    for words in ("<em>It</em> is one word among others.", "It is <em>one</em>", "No."):
        html = f"{figure}<p>{words}</p>\n<p><em>b</em></p>"
        assert captions.on_page_content(html) == html


# The names in tables of which a word stands on two lines.
BROKEN = """() => [...document.querySelectorAll("td code")].filter(code => {
  const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  while (walker.nextNode()) {
    for (const word of walker.currentNode.data.matchAll(/[a-z]+/gi)) {
      range.setStart(walker.currentNode, word.index)
      range.setEnd(walker.currentNode, word.index + word[0].length)
      if (new Set([...range.getClientRects()].map(e => e.top)).size > 1) return true
    }
  }
}).map(code => code.textContent)"""


def test_no_name_in_a_table_breaks_within_a_word(browser, site):
    with visit(browser, (site / "notation.html").as_uri()) as seen:
        for name in ("notation", "labml_rl/ppo/experiment", "labml_rl/dqn/settings"):
            seen.page.goto((site / f"{name}.html").as_uri())
            for size in (PHONE, DESKTOP):
                seen.page.set_viewport_size(size)
                assert seen.page.locator("td code").count() > 10
                assert seen.page.evaluate(BROKEN) == [], (name, size)


def test_without_scripts_the_layout_is_the_same(browser, site):
    url = (site / "labml_rl/game.html").as_uri()
    with visit(browser, url, viewport=DESKTOP, java_script_enabled=False) as seen:
        for width in (DESKTOP["width"], PHONE["width"]):
            assert check_layout(seen.page, width) > 5


@pytest.mark.parametrize("opened", ["from a folder", "from a web server"])
@pytest.mark.parametrize("name", ["labml_rl/game.html", "labml_rl/process.html"])
def test_search_finds_a_comment_and_leads_to_its_section(
    browser, site, server, opened, name
):
    base = site.as_uri() if opened == "from a folder" else server
    phrase, anchor = a_comment(site / name)
    with visit(browser, f"{base}/index.html", viewport=DESKTOP) as seen:
        page = seen.page
        page.locator("input[name=query]").click()
        # All at once: an index may have no answer to the first letter of a word, and
        # then Material says so on the console.
        page.locator("input[name=query]").fill(f'"{phrase}"')
        page.locator("input[name=query]").press("End")
        # Between the page and the anchor stand the words to be marked there.
        link = page.locator(
            f'.md-search-result__link[href*="{name}?h="][href$="#{anchor}"]'
        )
        expect(link).to_have_count(1)
        shown = re.findall(r"\w+", link.inner_text().lower())
        assert set(re.findall(r"\w+", phrase.lower())) <= set(shown)
        page.goto(link.evaluate("e => e.href"))
        row = page.locator(f'.sbs-row:has(> [id="{anchor}"])')
        expect(row).to_be_in_viewport()
        expect(row).to_contain_text(phrase)


# What readers type, in the words of the field, and where that is explained.
SOUGHT = {
    "actor critic": "labml_rl/a2c/index.html",
    "advantage normalisation": "labml_rl/ppo/index.html",
    "checkpoint": "labml_rl/runs/checkpoint.html",
    "atari 100k": "labml_rl/dqn/drq.html",
    "credit assignment": "labml_rl/returns.html",
    "custom environment": "labml_rl/environments.html",
    "data augmentation": "labml_rl/dqn/augmentation.html",
    "dueling network": "labml_rl/dqn/dueling.html",
    "entropy bonus": "labml_rl/a2c/index.html",
    "episodic life": "labml_rl/wrappers/acting.html",
    "epsilon greedy": "labml_rl/dqn/exploring.html",
    "explained variance": "labml_rl/ppo/index.html",
    "exploration": "labml_rl/dqn/exploring.html",
    "gae": "labml_rl/returns.html",
    "huber loss": "labml_rl/dqn/index.html",
    "kl divergence": "labml_rl/ppo/index.html",
    "orthogonal initialisation": "labml_rl/networks.html",
    "policy gradient": "labml_rl/a2c/index.html",
    "prioritised replay": "labml_rl/replay/prioritised.html",
    "rainbow": "labml_rl/dqn/rainbow.html",
    "replay buffer": "labml_rl/replay/index.html",
    "shared memory": "labml_rl/worker.html",
    "target network": "labml_rl/dqn/experiment.html",
    "value clipping": "labml_rl/ppo/index.html",
    "video": "labml_rl/watch/video.html",
}
ASK = """async (words) => {
  const base = new URL(__md_scope.href)
  const index = await (await fetch(new URL("search/search_index.json", base))).json()
  const script = JSON.parse(document.getElementById("__config").textContent).search
  const worker = new Worker(new URL(script, location.href))
  const ask = message => new Promise(resolve => {
    worker.onmessage = answer => resolve(answer.data.data)
    worker.postMessage(message)
  })
  await ask({ type: 0, data: { ...index, options: {} } })
  const found = []
  for (const each of words) {
    const { items } = await ask({ type: 2, data: each })
    found.push(items.slice(0, 3).map(([page]) => page.location.split("#")[0]))
  }
  worker.terminate()
  return found
}"""


def test_the_words_of_the_field_lead_to_where_they_are_explained(browser, server):
    with visit(browser, f"{server}/index.html") as seen:
        found = seen.page.evaluate(ASK, list(SOUGHT))
    wrong = {
        words: pages
        for (words, page), pages in zip(SOUGHT.items(), found, strict=True)
        if page not in pages
    }
    assert not wrong


# What readers ask, in words that are not the book's, and the section that answers it.
ASKED = {
    "how do I save the model and continue training?": (
        "labml_rl/runs/checkpoint.html#checkpoints"
    ),
    "how often do I update the target network?": (
        "labml_rl/dqn/index.html#two-remedies-replay-and-a-target-network"
    ),
    "how many parallel environments should I use?": (
        "questions.html#how-many-parallel-environments-should-i-use"
    ),
    "my DQN does not learn": (
        "labml_rl/dqn/mistakes.html#when-dqn-does-not-learn-what-to-look-at"
    ),
    "my Q-values explode": (
        "labml_rl/dqn/experiment.html#when-q-values-explode-or-are-all-the-same"
    ),
    "PPO vs DQN: which is better for Atari?": "labml_rl/index.html#ppo-or-dqn",
    "should losing a life end the episode?": (
        "labml_rl/game.html#how-it-ends-the-loss-of-a-life"
    ),
    "why clip rewards to -1 and 1?": (
        "labml_rl/game.html#what-it-is-paid-clipped-rewards"
    ),
    "why does my loss go up?": "labml_rl/dqn/experiment.html#when-the-loss-goes-up",
    "why is my explained variance 0?": "labml_rl/ppo/index.html#explained_variance",
    "why take the minimum in PPO?": "labml_rl/ppo/index.html#clipped_policy_loss",
}


@pytest.mark.parametrize("opened", ["from a folder", "from a web server"])
def test_a_question_leads_to_its_answer(browser, site, server, opened):
    """Among the first three results, and not below the fold of one of them."""
    base = site.as_uri() if opened == "from a folder" else server
    with visit(browser, f"{base}/index.html", viewport=DESKTOP) as seen:
        page = seen.page
        query = page.locator("input[name=query]")
        query.click()
        for question, place in ASKED.items():
            query.fill(question)
            query.press("End")
            name, _, anchor = place.partition("#")
            link = page.locator(
                ".md-search-result__item:nth-child(-n+3) > "
                f'.md-search-result__link[href*="{name}?h="][href$="#{anchor}"]'
            )
            expect(link, question).to_have_count(1)


def test_the_name_of_a_chapter_leads_to_it_first(browser, server):
    names = ["a2c", "dqn", "impala", "ppo", "pqn", "replay", "runs", "watch"]
    with visit(browser, f"{server}/index.html") as seen:
        found = seen.page.evaluate(ASK, names)
    assert [pages[0] for pages in found] == [f"labml_rl/{n}/index.html" for n in names]


def a_comment(path):
    """Some words of a comment on a page, and its section's anchor."""
    text = path.read_text(encoding="utf-8")
    rows = re.findall(
        r'<div class="sbs-link" [^>]*id="([^"]*--[^"]*)">.*?</div>\s*'
        r'<div class="sbs-prose sbs-text">\s*<p>([\w ,]{25,60})',
        text,
    )
    # A few common words would be found on many pages: it takes six at least.
    anchor, words = max(rows, key=lambda row: len(row[1].split()))
    assert len(words.split()) > 6, words
    return words.rsplit(" ", 1)[0], anchor


SCHEME = "() => document.body.dataset.mdColorScheme"


def test_both_colour_schemes(browser, site):
    url = (site / "labml_rl/game.html").as_uri()
    brightness = {}
    for scheme in ("light", "dark"):
        with visit(browser, url, color_scheme=scheme, viewport=DESKTOP) as seen:
            for part in ("body", ".sbs-code", ".sbs-line::before"):
                selector, _, pseudo = part.partition("::")
                brightness[scheme, part] = seen.page.evaluate(
                    """([selector, pseudo]) => {
                      const style = getComputedStyle(
                        document.querySelector(selector), pseudo || null);
                      const numbers = style.backgroundColor.match(/[\\d.]+/g);
                      return numbers.slice(0, 3).map(Number).reduce((a, b) => a + b);
                    }""",
                    [selector, f"::{pseudo}" if pseudo else ""],
                )
    for part in ("body", ".sbs-code", ".sbs-line::before"):
        assert brightness["light", part] > 600, f"{part} is dark in the light scheme"
        assert brightness["dark", part] < 200, f"{part} is light in the dark scheme"


def test_a_dark_screen_is_shown_no_light_page_before_the_script_comes(browser, server):
    with visit(browser, server, color_scheme="dark") as seen:
        seen.page.evaluate("() => localStorage.clear()")
        seen.page.route("**/bundle.*.js", lambda route: route.fulfill(body=""))
        seen.page.goto(f"{server}/labml_rl/game.html")
        assert seen.page.evaluate(SCHEME) == "slate"


def test_colours_are_those_of_the_system_until_a_reader_chooses(browser, server):
    url = f"{server}/labml_rl/game.html"
    with visit(browser, url, color_scheme="dark", viewport=DESKTOP) as seen:
        assert seen.page.evaluate(SCHEME) == "slate"
        seen.page.emulate_media(color_scheme="light")
        seen.page.goto(url)
        assert seen.page.evaluate(SCHEME) == "default"
        seen.page.get_by_title("Switch to dark").click()
        seen.page.goto(url)
        assert seen.page.evaluate(SCHEME) == "slate"


def test_the_scheme_can_be_switched(browser, site):
    with visit(
        browser, (site / "index.html").as_uri(), color_scheme="light", viewport=DESKTOP
    ) as seen:
        body = seen.page.locator("body")
        expect(body).to_have_attribute("data-md-color-scheme", "default")
        seen.page.get_by_title("Switch to dark").click()
        expect(body).to_have_attribute("data-md-color-scheme", "slate")


def test_search_works_where_nothing_can_be_stored(browser, server):
    refuse = """
    for (const name of ["localStorage", "sessionStorage"])
      Object.defineProperty(window, name, {
        configurable: true,
        get() { throw new DOMException("nothing is stored", "SecurityError"); },
      });
    """
    with visit(browser, server, viewport=DESKTOP) as seen:
        seen.page.add_init_script(refuse)
        seen.page.goto(f"{server}/labml_rl/game.html")
        seen.page.get_by_title("Switch to dark").click()
        expect(seen.page.locator("body[data-md-color-scheme=slate]")).to_have_count(1)
        seen.page.keyboard.press("s")
        seen.page.keyboard.type("advantage")
        expect(seen.page.locator(".md-search-result__item").first).to_be_visible()


def test_what_search_looks_through_is_loaded_when_somebody_searches(browser, server):
    with visit(browser, server, viewport=DESKTOP) as seen:
        asked = []
        seen.page.on("request", lambda each: asked.append(each.url.split("/")[-1]))
        url = f"{server}/labml_rl/a2c/index.html"
        seen.page.goto(url, wait_until="networkidle")
        assert any(name.startswith("bundle.") for name in asked)
        assert "search_index.json" not in asked
        seen.page.locator("input[name=query]").hover()
        expect(seen.page.locator(".md-search-result__meta")).to_have_text(
            "Type to start searching"
        )
        assert asked.count("search_index.json") == 1

        # Who comes from a search has its words marked, and a link may bring a search.
        seen.page.goto(f"{url}?h=baseline")
        marked = seen.page.locator("mark").first
        expect(marked).to_have_text("baseline", ignore_case=True)
        seen.page.goto(f"{url}?q=baseline")
        expect(seen.page.locator(".md-search-result__item").first).to_be_visible()


def test_without_scripts_the_page_is_whole(browser, site):
    url = (site / "labml_rl/screen.html").as_uri()
    with visit(browser, url, java_script_enabled=False, viewport=DESKTOP) as seen:
        page = seen.page
        expect(page.locator("h1")).to_have_text(re.compile("From screens"))
        expect(page.locator(".sbs-code").first).to_be_visible()
        expect(page.locator("sbs-math .katex-html").first).to_be_visible()
        # KaTeX's own font, and not a fallback, is what sets the formulas.
        loaded = page.evaluate(
            """async () => {
              await document.fonts.ready;
              return [...document.fonts].filter(f => f.status == "loaded").length;
            }"""
        )
        assert loaded > 0


@pytest.mark.parametrize(
    ("name", "more"), [("ppo/index", {"KaTeX_Size2-Regular"}), ("returns", set())]
)
def test_fonts_of_formulas_are_asked_for_early(browser, server, name, more):
    """With letters of other fonts, the text would be drawn first in another width."""
    with visit(browser, f"{server}/labml_rl/{name}.html", viewport=DESKTOP) as seen:
        asked = seen.page.evaluate(
            """async () => {
              await document.fonts.ready;
              const asked = performance.getEntriesByType("resource");
              const fonts = asked.filter(entry => entry.name.endsWith(".woff2"));
              return fonts.map(entry => [
                entry.name.split("/").pop().split(".")[0], entry.initiatorType
              ]);
            }"""
        )
    early = {font for font, by in asked if by == "link"}
    assert early == {"Main-Letters", "Math-Letters", *more}
    fonts = [font for font, _ in asked]
    assert len(fonts) == len(set(fonts)), "none is loaded twice"
    assert not {"KaTeX_Main-Regular", "KaTeX_Math-Italic"} & set(fonts)


@pytest.mark.parametrize(
    ("part", "whole", "rare"),
    [
        ("Main-Letters", "KaTeX_Main-Regular", ("mord", "⟨")),
        ("Math-Letters", "KaTeX_Math-Italic", ("mathnormal", "ϱ")),
    ],
)
def test_a_rare_letter_brings_the_whole_font(browser, server, part, whole, rare):
    css = (ASSETS / "sidebyside.css").read_text()
    (face,) = re.findall(rf"{part}.woff2[^}}]*}}", css)
    common = [
        chr(code)
        for first, last in re.findall(r"U\+(\w+)(?:-(\w+))?", face)
        for code in range(int(first, 16), int(last or first, 16) + 1)
    ]
    add = """([style, text]) => {
      const formula = document.createElement("span");
      Object.assign(formula, {className: style, textContent: text});
      document.querySelector(".katex-html").append(formula);
    }"""
    with visit(browser, f"{server}/labml_rl/returns.html", viewport=DESKTOP) as seen:
        asked = []
        seen.page.on("request", lambda each: asked.append(each.url.split("/")[-1]))
        seen.page.evaluate(add, [rare[0], "".join(common)])
        with seen.page.expect_request(f"**/{whole}.woff2"):
            seen.page.wait_for_timeout(500)
            assert not [name for name in asked if name.endswith(".woff2")]
            seen.page.evaluate(add, list(rare))


def test_line_numbers_are_seen_but_not_copied(browser, site):
    url = (site / "labml_rl/game.html").as_uri()
    source = (ROOT / "labml_rl/game.py").read_text(encoding="utf-8").split("\n")
    with visit(browser, url, viewport=DESKTOP) as seen:
        for row in range(5):
            code = seen.page.locator(".sbs-code").nth(row)
            numbers = code.locator(".sbs-line").evaluate_all(
                "lines => lines.map(e => e.dataset.line)"
            )
            shown = code.locator(".sbs-line").first.evaluate(
                "e => getComputedStyle(e, '::before').content"
            )
            # Seen, and not read out.
            assert shown == f'"{numbers[0]}" / ""'
            copied = code.locator("code").evaluate(
                """e => {
                  getSelection().selectAllChildren(e);
                  return getSelection().toString();
                }"""
            )
            expected = "\n".join(source[int(number) - 1] for number in numbers)
            assert copied.strip("\n") == expected.strip("\n")


def test_links_between_definitions_lead_to_them(browser, site):
    url = (site / "labml_rl/game.html").as_uri()
    with visit(browser, url, viewport=DESKTOP) as seen:
        seen.page.locator('.sbs-prose a[href="#make_game"]').first.click()
        expect(seen.page.locator('[id="make_game"]')).to_be_in_viewport()
        # The header covers the top of the window; the target must not be under it.
        top = seen.page.evaluate(
            """() => document.querySelector('[id="make_game"]')
              .getBoundingClientRect().top
              - document.querySelector(".md-header").getBoundingClientRect().bottom"""
        )
        assert top >= -1


def test_the_source_can_be_had(browser, server):
    with visit(browser, f"{server}/labml_rl/game.html", viewport=DESKTOP) as seen:
        with seen.page.expect_download() as download:
            seen.page.get_by_title("View source").click()
        module = ROOT / "labml_rl" / "game.py"
        assert download.value.suggested_filename == "game.py"
        assert download.value.path().read_bytes() == module.read_bytes()


def test_previous_and_next_follow_the_chapters(site):
    def neighbour(name, rel):
        text = (site / name).read_text(encoding="utf-8")
        link = re.search(rf'<link rel="{rel}" href="([^"]+)"', text)
        if link is None:
            return None
        return (site / name).parent.joinpath(link[1]).resolve().relative_to(site)

    order = ["index.html"]
    while following := neighbour(order[-1], "next"):
        assert str(neighbour(following, "prev")) == order[-1]
        order.append(str(following))
    chapters = [f"labml_rl/{name}.html" for name in ("index", "screen", "game")]
    book = [name for name in order if name.startswith("labml_rl/")]
    assert book[: len(chapters)] == chapters
    # A module's page of the reference is for looking up.
    looked_up = r"reference/\w+\.[\w.]+\.html"
    read = [name for name in all_pages(site) if not re.fullmatch(looked_up, name)]
    assert sorted(order) == read, "each page is in the order once"


def test_each_link_leads_somewhere(site):
    """Also those that MkDocs does not check: of the templates, and in HTML."""
    texts = {
        (site / name).resolve(): (site / name).read_text(encoding="utf-8")
        for name in all_pages(site)
    }
    checked = 0
    for path, text in texts.items():
        for tag, href in re.findall(r'(<a [^>]*?href="([^"]+)"[^>]*>)', text):
            if re.match(r"[a-z]+:", href):
                continue
            address, _, anchor = href.partition("#")
            target = (path.parent / address).resolve() if address else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{path.name}: {href}"
            if target.suffix == ".py":
                assert " download" in tag, (
                    f"{path.name}: no page, but its source: {tag}"
                )
            if anchor and target in texts and not anchor.startswith("__"):
                assert f'id="{anchor}"' in texts[target], f"{path.name}: {href}"
            checked += 1
    assert checked > 100


def test_the_short_way_leads_from_page_to_page(site):
    """To the last, and no page has two ways on."""
    names = way((ROOT / "labml_rl" / "__init__.py").read_text(encoding="utf-8"))
    assert names[:2] == ["labml_rl/index.md", "labml_rl/game.md"]
    assert len(names) > 10
    pages = [name.replace(".md", ".html") for name in names]
    led = re.compile(
        r'<p class="book-way">The short way, (\d+) of (\d+)\. '
        r'<span>Next: <a href="([^"]+)">([^<]+)</a></span></p>'
    )
    for number, (page, following) in enumerate(pairwise(pages), 1):
        text = (site / page).read_text(encoding="utf-8")
        ((here, of, address, title),) = led.findall(text)
        assert (int(here), int(of)) == (number, len(pages))
        assert (site / page).parent.joinpath(address).resolve() == site / following
        assert f"<title>{title} - " in (site / following).read_text(encoding="utf-8")
    ((here, of, address, title),) = led.findall((site / pages[-1]).read_text("utf-8"))
    assert here == of == str(len(pages))
    assert (address, title) == ("../../index.html#make-it-your-own", "Make it your own")
    for page in set(all_pages(site)) - {*pages}:
        assert "book-way" not in (site / page).read_text(encoding="utf-8")


def test_a_short_way_that_is_gone_is_missed():
    with pytest.raises(PluginError, match="has no links in The short way"):
        way("### The short way\n\nNo links.\n\n### All of it\n")


def test_each_paper_leads_to_the_pages_that_cite_it(site):
    html = (site / "papers.html").read_text(encoding="utf-8")
    entries = re.findall(
        r'<li>[^<]*<a href="([^"]+)">.*?<span class="book-cited">In (.*?)</span>',
        html,
        re.DOTALL,
    )
    assert len(entries) > 70
    for paper, pages in entries:
        for name in re.findall('href="([^"]+)"', pages):
            assert f'href="{paper}"' in (site / name).read_text(encoding="utf-8")


def test_a_paper_that_is_missing_or_left_over_is_named(caplog):
    def page(name, html):
        file = SimpleNamespace(src_uri=name, url=name)
        file.page = SimpleNamespace(file=file, content=html, title=name)
        return file

    cited, listed, other = (f"https://arxiv.org/abs/{n}" for n in (1, 2, 3))
    link = '<a href="{}">x</a>'
    files = [
        page("one.md", link.format(cited) + link.format("https://pytorch.org/1")),
        page("reference/one.md", link.format(other)),
        page("papers.md", f"<ul><li>{link.format(listed)}</li></ul>"),
    ]
    site: Any = SimpleNamespace(documentation_pages=lambda: files)
    papers.on_env(None, site)
    assert caplog.messages == [
        f"papers.md: {cited}, which one.md cites, is not there.",
        f"papers.md: {listed} is cited on no page.",
    ]
