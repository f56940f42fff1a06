"""What happens to prose on its way to the page: links, lists, fields, formulas."""

import re
from html import unescape
from textwrap import indent
from typing import Any

import pytest
from markdown import Markdown

from sidebyside.catalogue import catalogue
from sidebyside.errors import PressError, stop
from sidebyside.fields import set_fields, types_of
from sidebyside.inventory import inventory
from sidebyside.links import labels_in, pictures_in, set_labels, set_links
from sidebyside.lists import keep_lines, open_lists
from sidebyside.mathematics import FormulaError, find, typeset
from sidebyside.press import EXTENSIONS, WithOutside
from sidebyside.prose import Prose
from sidebyside.read import page_of, read
from sidebyside.render import environment, render
from sidebyside.rst.examples import open_examples
from sidebyside.split import comment_text, prose_blocks, split
from sidebyside.weave import is_essay, outlined, public_names, weave

# ---- A book of three modules

GAME = b"""
import numpy as np
class Game:
    def step(self):
        pass
    def reset(self):
        pass
    def stub(self): ...
def make_game(): pass
"""
WORKER = b"""
from .game import make_game
from book.game import Game as G
class Worker:
    def step(self):
        pass
"""
GAME_SOURCE = read(GAME, "book/game.py", "book.game")
WORKER_SOURCE = read(WORKER, "book/worker.py", "book.worker")
PACKAGE_SOURCE = read(b"", "book/__init__.py", "book")
PLACES = catalogue([PACKAGE_SOURCE, GAME_SOURCE, WORKER_SOURCE])


def prose(text: str) -> Prose:
    return Prose(tuple(enumerate(text.split("\n"), start=10)))


# ---- Links


@pytest.mark.parametrize(
    ("text", "scope", "expected"),
    [
        ("[Worker.step][]", "", "[`Worker.step`](#Worker.step)"),
        ("[step][]", "Worker", "[`step`](#Worker.step)"),
        ("[step][]", "Worker.step", "[`step`](#Worker.step)"),
        ("[one\nstep][Worker.step]", "", "[one\nstep](#Worker.step)"),
        ("[`Worker`][]", "", "[`Worker`](#Worker)"),
        ("[make_game][]", "", "[`make_game`](game.md#make_game)"),
        ("[G.reset][]", "", "[`G.reset`](game.md#Game.reset)"),
        ("[book.game.Game][]", "", "[`book.game.Game`](game.md#Game)"),
        ("[game.Game][]", "", "[`game.Game`](game.md#Game)"),
        ("[G.stub][]", "", "[`G.stub`](game.md#Game.stub)"),
        ("[the game][book.game]", "", "[the game](game.md)"),
        ("[the book][book]", "", "[the book](index.md)"),
        # As a call, in a code span, with blanks.
        ("[make_game()][]", "", "[`make_game()`](game.md#make_game)"),
        ("[`Worker.step()`][]", "", "[`Worker.step()`](#Worker.step)"),
        ("[one\nstep][ `Worker.step()` ]", "", "[one\nstep](#Worker.step)"),
        ("[Worker.step ][]", "", "[`Worker.step`](#Worker.step)"),
        # Between marks of emphasis, and with brackets that are none of the link's.
        ("_[step][Worker.step]_", "", "_[step](#Worker.step)_"),
        (
            "__[Worker][]__, _see [Worker][]_",
            "",
            "__[`Worker`](#Worker)__, _see [`Worker`](#Worker)_",
        ),
        ("[the `x[0]` of it][Worker]", "", "[the `x[0]` of it](#Worker)"),
        (r"[\[a\]][Worker]", "", r"[\[a\]](#Worker)"),
        ("[![x](y.png)][Worker]", "", "[![x](y.png)](#Worker)"),
        ("[[Worker][]]", "", "[[`Worker`](#Worker)]"),
        # What was written for Sphinx is a link if it can be.
        (":class:`book.game.Game` 1", "", "[`book.game.Game`](game.md#Game) 1"),
        (":py:meth:`~G.stub()`", "", "[`stub`](game.md#Game.stub)"),
        (":func:`~a.b` :ref:`here <a-b>`", "", "`b` here"),
        # And what was written for Hugging Face.
        (
            "[`~G.stub`], [`Worker`]",
            "",
            "[`stub`](game.md#Game.stub), [`Worker`](#Worker)",
        ),
        ("`~G.stub`, [`~a.b`]", "", "[`stub`](game.md#Game.stub), `b`"),
        ("[`x`], `~mask.bool`, a[`Worker`], [`Worker`](x), [`Worker`]: y", "", None),
        (":x:`a`, ``:func:`b` ``, `c`:class:`d`", "", None),
    ],
)
def test_links_to_definitions(text, scope, expected):
    found = set_links(prose(text), scope, WORKER_SOURCE, PLACES).text
    assert found == (expected or text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[the\ngame](game.py)", "[the\ngame](game.md)"),
        ("[the game](../book/game.py#Game.step)", "[the game](game.md#Game.step)"),
        (
            "[the book](__init__.py), [this](worker.py)",
            "[the book](index.md), [this](worker.md)",
        ),
        # As modules that were annotated for pylit have them.
        ("[it](game.html#x), [it](<game.html>)", "[it](game.md#x), [it](<game.md>)"),
        (
            "[the book](../book/index.html), [it](../book)",
            "[the book](index.md), [it](index.md)",
        ),
        ('[the game](game.py "A title")', '[the game](game.md "A title")'),
        ("[the game][g]\n\n[g]: game.py#Game", "[the game][g]\n\n[g]: game.md#Game"),
        ("[it][g]\n\n[g]:\n  game.py", "[it][g]\n\n[g]:\n  game.md"),
        ("[it][g]\n\n[g]: <game.py> 'A title'", "[it][g]\n\n[g]: <game.md> 'A title'"),
        ("A note[^1].\n\n[^1]: game over\n[g]: game over", None),
        ("[a definition](game/Game) is no module", None),
        ("`[the game](game.py)`", "`[the game](game.py)`"),
        ("[a program](program.py), [another](../game.py)", None),
        ("[elsewhere](https://example.org/game.py), game.py, (game.py)", None),
    ],
)
def test_links_to_modules_lead_to_their_pages(text, expected):
    found = set_links(prose(text), "", WORKER_SOURCE, PLACES).text
    assert found == (expected or text)


LABELS = """[docs][d], [D][], [d], ![d], [![x][d]][d], [d](y), [d][x], word[d], [^n]

$a[d]$ `[d]` [x]: [d]: \\[d]

[d]: <https://a.org> "T"
[^n]: A note.
[x]: no address
[0]: first

    a[d]
"""
SET_LABELS = """[docs][d-10], [D][d-10], [d][d-10], ![d][d-10], [![x][d-10]][d-10], \
[d](y), [d][x], word[d][d-10], [^C.f-n]

$a[d]$ `[d]` [x]: [d][d-10]: \\[d]

[d-10]: <https://a.org> "T"
[^C.f-n]: A note.
[x]: no address
[0]: first

    a[d]
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LABELS, SET_LABELS),
        (
            "[docs]\n\n[Docs]:\n  https://a.org",
            "[docs][docs-10]\n\n[docs-10]:\n  https://a.org",
        ),
        ("[1] and [^1], [a]: b c\n\n[1]: first\n```\n[1]: https://a.org\n```", None),
    ],
)
def test_labels_have_the_name_of_their_section(text, expected):
    local = {"d", "^n", "x", "docs", "1", "a"}
    assert set_labels(prose(text), "C.f", local).text == (expected or text)
    assert set_labels(prose(text), "C.f", ()).text == text


def test_a_label_may_be_broken_between_two_lines():
    text = "[x][the\ndocs] [the\ndocs][] y\n\n[the docs]: https://a.org"
    assert set_labels(prose(text), "f", {"the docs"}).text == (
        "[x][the docs-10]\n [the\ndocs][the docs-10] y\n\n[the docs-10]: https://a.org"
    )


@pytest.mark.parametrize(
    "text",
    [
        *("[d]: a.png", "[d]:a.png", "[d]: <a.png>", "[d]:\n  a.png", "[d]: a.png#x"),
        *('[d]: a.png "T"', "[d]: a.png (T)", "[d]: a.png\n  'T'", "[D]: a.png"),
        *("[d]:\n\n  a.png", "[d]: a b.png", "[d]: a.png 'T' x", "[d]: words."),
        *("    [d]: a.png", "[d] : a.png", r"\[d]: a.png", "`[d]: a.png`", "[d]:"),
    ],
)
def test_what_defines_a_label_does_so_everywhere(text):
    """In Markdown, in links to definitions, and for pictures."""
    md = Markdown()
    md.convert(text)
    labels = dict(labels_in(text))
    assert labels == {label: address for label, (address, _) in md.references.items()}
    pictures = [picture.address for picture in pictures_in(f"![x][d]\n\n{text}")]
    assert pictures == [*labels.values()]
    errors: list[PressError] = []
    set_links(prose(f"[d][]\n\n{text}"), "", WORKER_SOURCE, PLACES, errors.append)
    assert len(errors) == (not labels)


def test_labels_of_two_sections_are_not_mixed_up():
    text = "".join(
        f'def {name}():\n    """First[^1] and [docs][d].\n\n'
        f'    [^1]: {name}\n    [d]: https://{name}.org\n    """\n'
        for name in ("cell", "Cell")
    )
    html = as_page(text + 'def f():\n    "A bare [d]."\n')
    assert re.findall('href="(https://.*?)"', html) == [
        "https://cell.org",
        "https://Cell.org",
    ]
    assert re.findall("<li id=.*?>\\s*<p>(.*?)&#", html) == ["cell", "Cell"]
    assert "A bare [d]." in html


def test_a_label_of_one_section_is_known_in_all():
    text = (
        'def f():\n    """First[^1], [docs][d], and [1]."""\n\n\n'
        "# Text [1].\n#\n# [^1]: Note\n# [D]: https://d.org\n# [1]: https://one.org\n"
    )
    html = as_page(text)
    assert 'First<sup id="fnref:1">' in html
    assert re.findall('href="(https://.*?)">(.*?)<', html) == [
        ("https://d.org", "docs"),
        ("https://one.org", "1"),
    ]
    assert "and [1]." in html


@pytest.mark.parametrize(
    "code",
    [
        "if TYPE_CHECKING:\n    from book.game import Game as Played",
        "try:\n    from .game import Game as Played\nexcept ImportError:\n    pass",
        "with hope:\n    import book.game\n    from book.game import Game as Played",
    ],
)
def test_names_are_imported_wherever_that_stands(code):
    source = read(code.encode(), "book/user.py", "book.user")
    found = set_links(prose("[Played.step][]"), "", source, PLACES).text
    assert found == "[`Played.step`](game.md#Game.step)"


@pytest.mark.parametrize(
    "text",
    [
        "`[Nothing][]` in a code span",
        "```\n[Nothing][]\n```",
        "rewards[t][n] is an index, and so is rewards_[t][n], of [[1, 2]][n]",
        r"[not a link\][Nothing]",
        "![an image][picture]\n\n[picture]: x.png",
        "[words][reference]\n\n[reference]: https://example.org",
        "[words][ two  words]\n\n[two words]: https://example.org",
        "[Two words][]\n\n[two words]: https://example.org",
        "[`Code()`][]\n\n[`Code()`]: https://example.org",
        "[words](page.md) and [^1] and [ ] and [x][not a name!]",
        "[ ][], [][], [x][ ] and notes[^1][^2]",
        r"\[escaped][Nothing]",
        r"A \` begins no code, and `[Nothing][]` is code: \`, ``:func:`f` ``",
    ],
)
def test_what_is_no_link_to_a_definition_is_left_alone(text):
    assert set_links(prose(text), "", WORKER_SOURCE, PLACES).text == text


@pytest.mark.parametrize(
    ("written", "shown", "address"),
    [
        ("[KeyError][]", "`KeyError`", "library/exceptions.html#KeyError"),
        ("[copies][copy.deepcopy]", "copies", "library/copy.html#copy.deepcopy"),
        (":func:`~copy.deepcopy`", "`deepcopy`", "library/copy.html#copy.deepcopy"),
        ("[Worker.step][]", "`Worker.step`", "worker.md#Worker.step"),
    ],
)
def test_names_of_others_lead_to_their_documentation(written, shown, address):
    places = WithOutside(PLACES, inventory())
    text = set_links(prose(written), "", WORKER_SOURCE, places).text
    if address.startswith("library"):
        address = f"https://docs.python.org/3/{address}"
    assert text == f"[{shown}]({address.removeprefix('worker.md')})"


def test_a_file_is_one_of_the_book():
    places = WithOutside(PLACES, {"book.os": inventory()["os"]})
    text = "[x](os.py)"
    assert set_links(prose(text), "", WORKER_SOURCE, places).text == text


@pytest.mark.parametrize("name", ["copy", "nowhere.at.all", "KeyErrer"])
def test_what_nobody_has_documented_leads_nowhere(name):
    places = WithOutside(PLACES, inventory())
    with pytest.raises(PressError, match="which is defined nowhere"):
        set_links(prose(f"[{name}][]"), "", WORKER_SOURCE, places)


def test_a_link_that_leads_nowhere_names_line_and_nearest():
    with pytest.raises(PressError) as caught:
        set_links(prose("One\n\nSee [Wroker.step][]."), "", WORKER_SOURCE, PLACES)
    assert str(caught.value) == (
        "book/worker.py:12: a link to `Wroker.step`, which is defined nowhere. "
        "Did you mean `Worker.step`?"
    )


@pytest.mark.parametrize("name", ["no name!", "`a`b", "Worker.step(x)", "1"])
def test_a_link_without_a_second_bracket_needs_a_definition(name):
    with pytest.raises(PressError, match="which is defined nowhere"):
        set_links(prose(f"[{name}][]"), "", WORKER_SOURCE, PLACES)
    # Code that was written for other tools has brackets that mean something else.
    left = set_links(prose(f"[{name}][]"), "", WORKER_SOURCE, PLACES, lambda _: None)
    assert left.text == f"[{name}][]"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Game", "book.game.Game"),
        ("reset", "book.game.Game.reset"),
        # The one of this module, though another name is as near.
        ("step", "Worker.step"),
    ],
)
def test_the_nearest_name_may_stand_in_another_module(name, meant):
    with pytest.raises(PressError, match=rf"Did you mean `{meant}`\?"):
        set_links(prose(f"[{name}][]"), "", WORKER_SOURCE, PLACES)


def test_a_stub_is_found_beside_the_prose_of_its_class():
    source = read(b"class C:\n    def one(self): ...\n", "m.py", "m")
    place = catalogue([source])["m.C.one"]
    assert place.anchor in [row.anchor for row in weave(source, {}).rows]


def test_a_class_above_stubs_has_its_own_name():
    source = read(
        b"class C:\n    'C.'\n    @overload\n    def f(self, a: int): ...\n"
        b"    def f(self, a):\n        'F.'\n",
        "m.py",
        "m",
    )
    places = catalogue([source])
    assert (places["m.C"].anchor, places["m.C.f"].anchor) == ("C", "C.f")


def test_what_another_decorator_is_on_declares_no_types():
    text = "if x:\n    @a.cache\n    def f(): ...\nelse:\n    def f(): ...\n"
    rows = weave(read(text.encode(), "m.py", "m"), {}).rows
    assert [row.anchor for row in rows if row.anchor.startswith("f")] == ["f", "f-2"]


def test_a_getter_and_its_setter_have_their_own_types():
    prose = '"""It.\n\n        Returns:\n            One.\n        """'
    source = read(
        f"class C:\n    @property\n    def x(self) -> int:\n        {prose}\n"
        f"    @x.setter\n    def x(self, v) -> None:\n        'Sets.'\n".encode(),
        "m.py",
        "m",
    )
    assert "int" in weave(source, {}).rows[1].prose


def test_the_page_of_a_module():
    assert page_of("book.game", is_package=False) == "book/game.md"
    assert page_of("book", is_package=True) == "book/index.md"


# ---- Lists


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Text:\n1. one\n2. two", 2),
        ("Text:\n- one\n- two\n  continued\n- three", 3),
        ("Text:\n\n* one\n* two", 2),
        ("Born in\n1986. Still text.", 0),
        ("A sum\n-1 is no item", 0),
        ("```\n- in a fence\n```", 0),
    ],
)
def test_lists_without_a_blank_line_are_lists(text, items):
    html = Markdown(extensions=["fenced_code"]).convert(open_lists(prose(text)).text)
    assert html.count("<li>") == items


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Text:\n1) one\n2) two\n   more", "p ol li li"),
        ("1) a\n    - b\n2) c", "ol li ul li li"),
        ("- a\n1. b\n2. c", "ul li ol li li"),
        ("1. a\n\n- b", "ol li ul li"),
        ("- a\n    1. x\n- b\n    - y", "ul li ol li li ul li"),
        ("It is\n2) no list", "p"),
        ("Text\n```\n1) a\n```", "p pre code"),
        ("- Made in\n  2006. Then, in\n  2010) or so.", "ul li"),
    ],
)
def test_lists_keep_their_kind(text, expected):
    md = Markdown(extensions=["fenced_code", "sidebyside"])
    html = md.convert(open_lists(prose(text)).text)
    assert " ".join(re.findall(r"<(\w+)", html)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. a\n2. b", "<ol>"),
        ("3. a\n4. b", '<ol start="3">'),
        ("1990. A year.", '<ol start="1990">'),
    ],
)
def test_lists_begin_with_their_number(text, expected):
    assert expected in html_of(text)


def test_steps_of_a_program_keep_their_numbers():
    html = as_page("# 1. Load it.\nx = 1\n# 2. Use it.\ny = 2\n# 10. Done.\nz = 3\n")
    assert re.findall("<ol.*?>", html) == ["<ol>", '<ol start="2">', '<ol start="10">']


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n  - b\n    - c\n  - d\n- e", "ul li ul li ul li li li"),
        ("- a\n\n  - b\n\n- c", "ul li p ul li li p"),
        ("1. a\n   - b\n   - c\n2. d", "ol li ul li li li"),
        ("Text:\n\n  - a\n    - b\n      - c\n  - d", "p ul li ul li ul li li"),
        ("- a\n  - b\n\n    more\n\n  - c", "ul li p ul li p p li p"),
        ("- a\n\n  more\n\n  - b", "ul li p p ul li"),
        (
            "- a\n  - b\n\n    ```\n    c\n    ```\n  - d",
            "ul li p ul li p div pre code li p",
        ),
        ("- a\n\n  b\n\n    ```\n    c\n    ```", "ul li p p div pre code"),
        ("- a\n\n  !!! note\n      b\n\n      c\n- d", "ul li p div p p p li p"),
        ("!!! note\n    - a\n      - b\n    - c", "div p ul li ul li li"),
        # A list is none the less one for being indented below a sentence.
        ("Text:\n    * **a**\n      more\n    * b\nMore", "p ul li strong li"),
        ("T\n:   U:\n        - a\n    b\n\n    c", "dl dt dd p ul li p"),
        ("Text:\n\n    * a\n\n      b\n    * c\n\nMore", "p ul li p p li p p"),
        ("Text:\n\n      1) a\n         - b\n      2) c", "p ol li ul li li"),
        ("Text:\n    - a\n        - b\n\n          c", "p ul li ul li p p"),
        (
            "- a\n\nText:\n    - b\n\n      ```\n      c\n      ```",
            "ul li p ul li p div pre code",
        ),
        ("!!! note\n    Text:\n        - a\n        - b", "div p p ul li li"),
        ("T\n:   Text:\n        - a\n\nText:\n    - b", "dl dt dd p ul li p ul li"),
        # And so is one that is indented below what an item goes on with.
        ("- a\n\n  b:\n        - c\n        - d\n- e", "ul li p p ul li li li p"),
        (
            "- a\n    - b\n\n        c:\n\n            - d\n    - e",
            "ul li p ul li p p ul li li p",
        ),
        # Behind a blank line, what follows a nested item belongs to the outer list.
        ("- a\n\n  - b\n\n    - c\n  - d\n- e", "ul li p ul li p ul li li p li p"),
        ("1. a\n\n   b\n2. c", "ol li p p li p"),
        # Code is, though.
        ("Text:\n\n    code\n    - a\n\n        - b", "p pre code"),
        ("- a\n\n        code\n        - b\n\n    - c", "ul li p pre code ul li"),
        ("!!! note\n    Text:\n\n        code\n        - a", "div p p pre code"),
        # What is nested by four stays.
        ("- a\n    - b\n        - c\n- d", "ul li ul li ul li li"),
        # And this is not nested, or in no list.
        ("- a\n - b", "ul li li"),
        ("1. a\n  - b", "ol li li"),
        ("- a\n\nb\n\n  - c", "ul li p ul li"),
        ("```\n- a\n  - b\n```", "div pre code"),
    ],
)
def test_lists_are_nested_as_elsewhere(text, expected):
    extensions = ["admonition", "def_list", "pymdownx.superfences", "sidebyside"]
    md = Markdown(extensions=extensions)
    html = md.convert(open_lists(prose(text)).text)
    assert " ".join(re.findall(r"<(?!span)(\w+)", html)) == expected


def test_a_box_in_an_item_keeps_its_text():
    html = html_of("- a\n\n  !!! note\n      b\n\n      c\n\n  d")
    assert re.search(r"<p>b</p>\s*<p>c</p>\s*</div>\s*<p>d</p>\s*</li>", html)


def test_a_number_in_an_item_leaves_the_numbers_behind_it_alone():
    assert "2006. Then <code>1.5</code>" in html_of("- Made in\n  2006. Then `1.5`")


@pytest.mark.parametrize(
    "text",
    [
        "- a\n    - b\n\n        c\n\n    d\n\n- e\n  f",
        "- a\n\n    ```\n    - b\n      - c\n    ```",
        "  - a\n    b\n\n  - c",
        "It is\n2) no list",
    ],
)
def test_lists_that_need_no_help_are_left_alone(text):
    assert open_lists(prose(text)).text == text


def table(indent):
    return "".join(
        f"\n{indent}{row}" for row in ("| a | b |", "|---|:-:|", "| 1 | 2 |")
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is:" + table(""), "p table"),
        ("- It is:" + table("  ") + "\n- Two", "ul li p table li p"),
        ("!!! note\n    It is:" + table("    "), "div p p table"),
        (
            "F.\n\nArgs:\n    x: one of" + table("        "),
            "p p dl dt code code dd p table",
        ),
        ("F." + table("") + "\n|---|---|\n| 3 | 4 |", "p table"),
        ("```\nF" + table("") + "\n```", "div pre code"),
    ],
)
def test_tables_without_a_blank_line_are_tables(text, expected):
    tags = re.findall(r"<(p|ul|li|div|pre|code|table|dl|dt|dd)\b", html_of(text))
    assert " ".join(tags) == expected


def examples_in(text):
    html = Markdown(extensions=[*EXTENSIONS]).convert(open_examples(prose(text)).text)
    code = re.findall(r"<code[^>]*>(.*?)</code>", html, re.DOTALL)
    return html, [unescape(re.sub("<[^>]*>", "", each)).strip() for each in code]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Words:\n>>> f(1)\n2\nWords?", [">>> f(1)\n2\nWords?"]),
        ("  >>> a\n  1\n\n  >>> b\n\nWords", [">>> a\n1\n\n>>> b"]),
        ("Words:\n    >>> if a:\n    ...     b\nWords", [">>> if a:\n...     b"]),
        (">>> print('```')\n```", [">>> print('```')\n```"]),
        ("```\n>>> a\n```\n\n>>> b", [">>> a", ">>> b"]),
        ("`>>> a` and >>> b", [">>> a"]),
    ],
)
def test_examples_without_a_fence_are_code(text, expected):
    html, code = examples_in(text)
    assert code == expected
    assert "blockquote" not in html


@pytest.mark.parametrize(
    "formula",
    [
        "$$L = x^2$$",
        "$L$",
        "$$\n    L\n    $$",
        "\\begin{align}\n    L\n    \\end{align}",
    ],
)
def test_a_formula_that_is_indented_is_no_code(formula):
    html = html_of(f"The loss is\n\n    {formula}\n\nand so on.")
    assert "<math" in html
    assert "<pre" not in html
    assert html.count("<p>") + html.count("<p ") >= 2


def test_a_formula_in_a_heading_is_its_tex_in_outline_and_anchor():
    md = Markdown(extensions=["toc", "sidebyside"])
    html = md.convert("# One\n\n## Inner $Q^*$ heading\n\n## Plain\n")
    assert '<h2 id="inner-q-heading">' in html
    (top,) = md.toc_tokens  # type: ignore[attr-defined]
    names = [each["name"] for each in top["children"]]
    assert names == ["Inner Q^* heading", "Plain"]


def test_the_anchor_of_a_formula_is_made_as_the_site_wants():
    def loud(text, separator):
        return text.upper().replace(" ", separator)

    toc = {"slugify": loud, "separator": "_"}
    md = Markdown(extensions=["toc", "sidebyside"], extension_configs={"toc": toc})
    assert '<h2 id="INNER_Q^*">' in md.convert("## Inner $Q^*$\n")


CODE = 'a = [b][c]\nprint($x_1$, "[one][]", :func:`f`)\n\nif a:\n    - **b**'


@pytest.mark.parametrize("above", ["F.", "# F", "- F\n\nG", "```\nF\n```"])
def test_code_that_is_only_indented_stays_as_written(above):
    code = CODE.replace("\n", "\n    ").replace("    \n", "\n")
    html = html_of(f"{above}\n\n    {code}\n\nMore.")
    assert f"<code>{CODE}\n</code>" in html
    assert "<p>More.</p>" in html


def test_a_call_that_is_only_indented_is_code():
    code = "f('a', [b][c],\n    $x$)"
    assert f"<code>{code}\n</code>" in html_of(
        "F.\n\n    " + code.replace("\n", "\n    ")
    )


@pytest.mark.parametrize(
    "text",
    [
        "- a\n\n    b $x$",
        "- a\n  b\n\n  c\n\n    d $x$",
        "!!! note\n    a\n\n    b $x$",
        "F.\n\nArgs:\n    x: one\n\n        $x$ and so on",
        "F.\n\nReturns:\n\n    $x$ and so on",
        "F.\n\nNote:\n\n    One $x$",
        "Parameters\n----------\nx : int\n\n    One $x$\n\ny : int\n\n    Two.",
        "F.\n\n:param x: one\n\n    two $x$",
        "F.\n\nx : int\n    one\n\n    two $x$\n",
        "F.\n\n.. note::\n\n    one $x$",
        "[^1]:\n    one\n\n    two $x$\n\nF[^1]",
        "F:\n\n    ``a``\n        one\n    ``b``\n        two $x$",
        "F:\n\n    a : int\n        one $x$",
    ],
)
def test_what_is_indented_in_something_is_no_code(text):
    html = html_of(text)
    assert "<math" in html
    assert "<pre" not in html


def test_an_example_stays_in_its_list_and_its_box():
    html, code = examples_in("- One\n  - Two\n\n    >>> a\n\n!!! note\n    >>> b")
    assert code == [">>> a", ">>> b"]
    assert re.search(r"<li>.*>>>.*</li>", unescape(html), re.DOTALL)
    assert re.search(
        r'<div class="admonition note">.*>>>.*\Z', unescape(html), re.DOTALL
    )


@pytest.mark.parametrize("mark", ["+", "-", "*", "1."])
@pytest.mark.parametrize("dollars", ["$$", "$"])
def test_a_line_of_a_formula_is_no_item_of_a_list(mark, dollars):
    """A long sum is broken in front of its signs."""
    formula = f"{dollars}a\n{mark} b\n  {mark} c{dollars}"
    text = f'"""\nText:\n{formula}\n- one\n- two\n"""\n'
    source = read(text.encode(), "m.py", "m")
    page = render(weave(source, {}), environment()).partition("\n---\n")[2]
    html = Markdown(extensions=[*EXTENSIONS]).convert(page)
    assert html.count("<li>") == 2
    assert html.count("<math") == 1
    assert "$" not in html


def test_a_comma_behind_a_formula_stays_with_it():
    html = Markdown(extensions=["sidebyside"]).convert("($a = b$), $c$-step, $d$ *e*")
    joins = re.findall(r'<span class="sbs-join">(.*?</sbs-math>)(.*?)</span>', html)
    assert [behind for _, behind in joins] == ["),", "-"]
    assert [formula.count("<wbr>") for formula, _ in joins] == [1, 0]
    assert "<em>e</em>" in html


def test_names_with_underscores_are_not_bold():
    source = read(
        b'"""# T\n\nAfter A.__init__(), __del__ **and** __two words__."""\n'
        b'class A:\n    def __call__(self):\n        """## A *call*"""\n\n'
        b"    # ## __Bold heading__\n    x = 1\n\n"
        b"def __getattr__(name): ...\ndef __search(): ...\n",
        "m.py",
        "m",
    )
    page = render(weave(source, {}), environment()).rpartition("---\n")[2]
    html = Markdown(extensions=[*EXTENSIONS]).convert(page)
    assert "After A.__init__(), __del__ <strong>and</strong> <strong>two words" in html
    assert '<h2 id="A.__call__">A <em>call</em></h2>' in html
    assert '<h2 id="__bold-heading__"><strong>Bold heading</strong></h2>' in html
    assert 'id="__getattr__"' in html
    assert 'id="-__search"' in html, "the theme has a switch of that name"


def test_stars_between_quotes_are_stars():
    html = as_page("""r'''Many '*' are one '*', or "**" and "**", *not* this.'''\n""")
    assert """Many '*' are one '*', or "**" and "**", <em>not</em> this.""" in html


def test_what_is_said_to_doctest_is_left_out():
    _, code = examples_in(
        ">>> f()  # doctest: +SKIP\n>>> for x in y: # doctest: +ELLIPSIS, +SKIP\n"
        "...     g(x)  #doctest:+SKIP\n<BLANKLINE>\n1 # doctest\n"
    )
    assert code == [">>> f()\n>>> for x in y:\n...     g(x)\n\n1 # doctest"]


def test_what_to_see_also_is_linked():
    html = html_of("Words.\n\nSee Also\n--------\nf, a.b : One.\nc\n")
    assert '<dt><a href="#f"><code>f</code></a>, <code>a.b</code></dt>' in html
    assert "<dt><code>c</code></dt>" in html


def test_types_in_brackets_as_hugging_face_has_them():
    html = html_of(
        "x ([`~a.B`], *optional*):\n    One.\n\ny ([`C`] or `int`):\n    Two."
    )
    assert re.findall(r'<code class="sbs-type">(.*?)</code>', html) == [
        "a.B, optional",
        "C or int",
    ]


def as_page(text):
    """A module as HTML."""
    source = read(text.encode(), "m.py", "m")
    page = render(weave(source, {}), environment()).partition("\n---\n")[2]
    return Markdown(extensions=[*EXTENSIONS]).convert(page)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://a.org/b_c_d?e=1&f. So", ["https://a.org/b_c_d?e=1&f"]),
        ("(http://a.org/b_(c)), x", ["http://a.org/b_(c)"]),
        ("*https://a.org*, **https://b.org**!", ["https://a.org", "https://b.org"]),
        ("<https://a.org> [b](https://b.org)", ["https://a.org", "https://b.org"]),
        ("[https://a.org](https://b.org)", ["https://b.org"]),
        ("<a href='https://a.org'>https://b.org</a>", ["https://a.org"]),
        ("[a][b]\n\n[b]: https://b.org", ["https://b.org"]),
        ("`https://a.org`\n\n    https://b.org", []),
        ("$x_{https://a.org}$ and https://", []),
    ],
)
def test_addresses_are_links(text, expected):
    html = as_page(f'"""\n{text}\n"""\n')
    assert [unescape(a) for a in re.findall(r'<a href="(h[^"]*)"', html)] == expected


def test_addresses_in_pages_written_by_hand_are_left_alone():
    assert "<a" not in Markdown(extensions=["sidebyside"]).convert("https://a.org")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x - one\ny - two", "1"),
        ("Author: A\nRelease date: B\n  and more\nLicense: C", "1 3"),
        ("Options:\n    --seed  3\n    --fast  or not", "1 2"),
        ("Layout:\n0: position\n1: speed\n\nWords: a\nwords", "1 2"),
        ("(1) one\n(2) two\n\na) one\nb) two", "1 4"),
        ("a => b\n`c` => d", "1"),
        ("Step 1: sample\nStep 2: learn", "1"),
        # What is none of that
        ("One: a\nword - b", ""),
        ("One: a\nand more\nTwo: b", ""),
        ("This is not a label: a\nTwo: b", ""),
        ("- one: a\n- two: b", ""),
        ("1. one: a\n2. two: b", ""),
        ("```\none: a\ntwo: b\n```", ""),
        ("$$\none: a\ntwo: b\n$$", ""),
        ("one:a\ntwo:b", ""),
    ],
)
def test_lines_that_begin_with_a_label(text, kept):
    texts = keep_lines(prose(text)).text.split("\n")
    assert [line.rstrip() for line in texts] == text.split("\n")
    assert " ".join(str(n) for n, t in enumerate(texts, 1) if t.endswith("  ")) == kept


# ---- Comments


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # Frames
        ("# -----\n# Two words.\n# And more.\n# -----", "\nTwo words.\nAnd more.\n"),
        ("# ====\n# Helpers\n# ====", "\n## Helpers\n"),
        ("#~~~~~~~~~~~\n# Helpers\n#~~~~~~~~~~~", "\n## Helpers\n"),
        ("########\n#  Box  #\n########", "\n## Box\n"),
        ("# Helpers\n# ~~~~~~~\n# Words", "## Helpers\n\nWords"),
        ("# -----\n# One. Two\n# -----", "\nOne. Two\n"),
        ("# ------\n# Helpers", "\n## Helpers"),
        ("#//////////\n# Helpers\n#//////////", "\n## Helpers\n"),
        ("# ------\n# Words\n#\n# More", "\nWords\n\nMore"),
        ("# One\n# two\n# -----\n# Three", "One\ntwo\n\nThree"),
        ("# One\n# - - -\n# -=-=-=-=-\n# ---#", "## One\n\n\n"),
        ("#-----\n# Two words.\n# And more.", "\nTwo words.\nAnd more."),
        ("# -----", ""),
        ("#\n# -----", "\n"),
        # Dashes at the sides
        ("# ===== Helpers =====", "## Helpers"),
        ("# ---- Helpers ----\n# Words", "## Helpers\nWords"),
        ("#----Helpers----", "## Helpers"),
        ("# --- Helpers", "## Helpers"),
        ("# Helpers ---------", "## Helpers"),
        ("######## Helpers ########", "## Helpers"),
        ("if x:\n    # ---- Helpers ----\n    # Words", "**Helpers**  \nWords"),
        ("if x:\n    # --- a * b ---\n    pass", "a * b"),
        # Signs that no keyboard has
        ("# ── Helpers ─────────", "## Helpers"),
        ("# ── Helpers ────\n# Words", "## Helpers\nWords"),
        ("# ═════════\n#  Helpers\n# ═════════", "\n## Helpers\n"),
        ("# –––– Helpers ––––", "## Helpers"),
        ("# Helpers ━━━━━━", "## Helpers"),
        ("# ─────────", ""),
        ("if x:\n    # ── 1. Helpers ──\n    pass", "**1. Helpers**"),
        ("# a ── b", None),
        ("# ── a │ b ──", None),
        ("# One — or two — words", None),
        # Two signs
        ("## One comment\n## in two lines", "One comment\nin two lines"),
        ("## Helpers\n# Words", "## Helpers\nWords"),
        ("##  Helpers", "##  Helpers"),
        ("if x:\n    ## Helpers\n    pass", "**Helpers**"),
        # What is none of that
        ("# ## Heading\n# Words", None),
        ("# ~~~\n# -----\n# ~~~", None),
        ("# ```\n# -----\n# ```", None),
        ("# Code:\n#\n#     a\n#     -----", None),
        ("# ***bold*** words --- and\n# x == y", None),
        ("# a | b\n# --- | ---", None),
        ("# name  size\n# ----  ----", None),
        ("# a = ---------", None),
        ("# --- they said, and\n# went.", None),
    ],
)
def test_lines_that_are_only_drawn(lines, expected):
    program = lines if "pass" in lines or "if" not in lines else f"{lines}\n    pass"
    source = read(f"{program}\n".encode(), "m.py", "m")
    text = "\n".join(comment_text(prose_blocks(source)[0]))
    if expected is None:
        expected = re.sub(r"^# ?", "", lines, flags=re.MULTILINE)
    assert text == expected


def test_a_drawn_title_is_no_part_of_what_follows():
    source = read(
        b"# ---- Helpers ----\ndef f(): pass\n# ## Heading\ndef g(): pass\n",
        "m.py",
        "m",
    )
    rows = weave(source, {}).rows
    assert [(row.anchor, row.heading) for row in rows] == [
        ("helpers", "Helpers"),
        ("f", ""),
        ("g", "Heading"),
    ]


def test_underlined_titles_of_docstrings():
    for text in ("Title\n~~~~~\n\nWords", "=====\nTitle\n=====\nWords"):
        html = as_page(f'"""\n{text}\n"""\n')
        assert html.count("<h1") == 1
        assert '<h1 id="title">Title</h1>' in html
        assert "<p>Words</p>" in html
    text = "***All*** of it\nTitle\n====="
    assert "of it\nTitle" in as_page(f'"""\n{text}\n"""\n')
    line, title = "=" * 75, "Series, " * 8 + "and their sums"
    html = as_page(f'"""\n{line}\n{title}\n{line}\n\nWords\n"""\n')
    assert f">{title}</h1>" in html
    assert "=====" not in html
    assert ">Title</h2>" in as_page('"""\nWords\n\nTitle\n-----\n"""\n')


# ---- Docstrings of variables


def test_a_cell_of_a_notebook_may_be_a_string():
    text = (
        "# %%\nx = 1\n\n# %% [markdown]\n'''\n## Title\n\nOf y.\n'''\ny = 2\n"
        "# %%\nprint(x)\n# %% A [md]\n'''B.'''\n\n# %%\n'code'\n"
    )
    source = read(text.encode(), "m.py", "m")
    rows = [
        (row.heading, row.prose, [number for number, _ in row.code])
        for row in weave(source, catalogue([source])).rows
    ]
    assert rows == [
        *(("", "", [2]), ("Title", "Of y.", [10]), ("", "", [12])),
        *(("A", "B.", []), ("", "", [17])),
    ]
    assert source.attributes == ()


def test_marks_of_nbdev_are_no_prose():
    for mark in ("auto #0", "../nbs/a.ipynb #c28669c", "../nbs/a.ipynb #dd6-f7a"):
        source = read(f"# %% {mark}\nx = 1\n".encode(), "m.py", "m")
        assert split(source)[-1].prose.text == ""


def test_a_comment_above_a_docstring_is_a_paragraph():
    text = '# One.\ndef f():\n    # Two.\n    """Three."""\n'
    assert (
        split(read(text.encode(), "m.py", "m"))[-1].prose.text
        == "One.\n\nTwo.\n\nThree."
    )


def test_a_variable_with_a_docstring_is_a_section():
    source = read(
        b"x = 1\n# Above.\nN = [\n    # In.\n]\n# Between.\n'''Of N.'''\ny = 2\n"
        b"class C:\n    '''Of C.'''\n    z: int\n    a: int = 1\n    '''Of a.'''\n"
        b"    def a(self):\n        b = 1\n        '''No docstring.'''\n",
        "m.py",
        "m",
    )
    rows = weave(source, catalogue([source])).rows
    assert [(row.anchor, row.prose) for row in rows] == [
        ("x-1", ""),
        ("N", "Above.\n\nBetween.\nOf N."),
        ("y-2", ""),
        ("C", "Of C."),
        ("C.a-2", "Of a."),
        ("C.a", ""),
    ]
    assert [number for number, _ in rows[1].code] == [3, 4, 5]
    assert catalogue([source])["m.N"].anchor == "N"


# ---- Fields

SIGNATURE = "def f(x: Tensor, *rest: int, k='a', **more: 'A | B') -> list[int]: pass"


FUNCTION = read(SIGNATURE.encode(), "m.py", "m").definitions[0].node


def test_types_come_from_the_signature():
    assert types_of(FUNCTION) == {
        "x": "Tensor",
        "rest": "int",
        "more": "A | B",
        "return": "list[int]",
    }


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("'Schedule'", "Schedule"),
        ("'list[\"A\"]'", 'list["A"]'),
        ("list['A'] | None", "list[A] | None"),
        ("Literal['a', 'b']", "Literal['a', 'b']"),
        ("Float[Tensor, 'b h w']", "Float[Tensor, 'b h w']"),
        ("None", None),
        ("'None'", None),
    ],
)
def test_types_have_no_quotes(written, shown):
    node = read(f"def f() -> {written}: pass".encode(), "m.py", "m").definitions[0].node
    assert types_of(node).get("return") == shown


def test_fields_become_definition_lists():
    text = (
        "Prose.\n\nArgs:\n    x: the tensor,\n        on two lines.\n"
        "    *rest: more.\n\nReturns:\n    Numbers.\n\nRaises:\n"
        "    ValueError: if `x` is odd.\n\nMore prose."
    )
    types = types_of(FUNCTION)
    html = Markdown(extensions=["def_list", "attr_list"]).convert(
        set_fields(prose(text), types).text
    )
    assert html.count("<dl>") == 3
    terms = ["x", "*rest", "list[int]", "ValueError"]
    assert all(f">{term}</code>" in html for term in terms)
    assert "the tensor,\non two lines." in html
    assert "<p>More prose.</p>" in html
    assert "Args:" not in html


def listed(text):
    """The captions, and each term with its definition, as a reader sees them."""
    html = Markdown(extensions=[*EXTENSIONS]).convert(
        set_fields(prose(text), types_of(FUNCTION)).text
    )
    found = re.findall(r"<(p class=|dt|dd|p)([^>]*)>(.*?)</(?:p|dt|dd)>", html, re.S)
    return [re.sub(r"<[^>]*>", "", words).strip() for *_, words in found]


def test_names_in_two_backticks_and_colons_in_a_column():
    text = (
        "A sum.\n\nParams:\n    stats (DataFrame)  : One.\n    x          : Two.\n"
        "    ``y`` (int): Three.\n    ``z``: Four.\n\n"
        "Exceptions:\n    ValueError : If so."
    )
    assert listed(text) == [
        *("A sum.", "Arguments", "stats DataFrame", "One.", "x Tensor", "Two."),
        *("y int", "Three.", "z", "Four.", "Raises", "ValueError", "If so."),
    ]


def test_lists_in_numpys_style():
    text = (
        "A sum.\n\nParameters\n----------\nx : ndarray, optional\n    The tensor.\n\n"
        "    On two lines.\nk, rest\n    More.\n\nReturns\n-------\nout : list\n"
        "    The sum.\nNone\n    If there is none.\nThat is a sentence.\n\n"
        "Raises\n------\nValueError\n\nSee Also\n--------\nmean : The mean.\n"
        "max, min\n\nNotes\n-----\nIt is *fast*."
    )
    assert listed(text) == [
        *("A sum.", "Arguments", "x ndarray, optional", "The tensor."),
        *("On two lines.", "k, rest", "More.", "Returns", "out list", "The sum."),
        *("None", "If there is none.", "list[int]", "That is a sentence.", "Raises"),
        *("ValueError", "", "See also", ":obj:mean", "The mean."),
        *(":obj:max, :obj:min", ""),
        *("Notes", "It is fast."),
    ]


@pytest.mark.parametrize("blank", ["", "\n"])
@pytest.mark.parametrize(
    ("title", "caption", "items", "expected"),
    [
        (
            *("Parameters", "Arguments", "x : int\n    One.\n\ny : str\n    Two."),
            ["x int", "One.", "y str", "Two."],
        ),
        ("Receives", "Receives", "x : str\n    One.", ["x str", "One."]),
        ("Returns", "Returns", "out : int\n    One.", ["out int", "One."]),
        ("Yields", "Yields", "int\n    One.", ["int", "One."]),
        ("Returns", "Returns", "The sum.", ["list[int]", "The sum."]),
        (
            *("Raises", "Raises", "ValueError\n    If not.\nOSError\n    If so."),
            ["ValueError", "If not.", "OSError", "If so."],
        ),
        ("Warns", "Warns", "UserWarning\n    If so.", ["UserWarning", "If so."]),
    ],
)
def test_numpys_lists_may_be_indented(blank, title, caption, items, expected):
    items = re.sub("^(?=.)", "    ", items, flags=re.MULTILINE)
    text = f"F.\n\n{title}\n-------\n{blank}{items}"
    assert listed(text) == ["F.", caption, *expected]
    assert listed(f"{text}\n\nThe end.")[-1] == "The end."


@pytest.mark.parametrize("title", ["Parameters", "Returns", "See Also"])
def test_nothing_is_lost_behind_a_block_in_numpys_lists(title):
    text = f"{title}\n-------\n```\nx\n```\n\n    Words."
    assert listed(text)[-1].endswith("Words.")


def test_blocks_between_the_items_of_numpys_lists_are_whole():
    html = html_of(
        "F.\n\nReturns\n-------\na : int\n    One.\n$$\nx = 1\n$$\nb : str\n    Two.\n"
        "!!! note\n    In a box.\nc : int\n    Three."
    )
    assert re.findall("<dt><code>(.)</code>", html) == ["a", "b", "c"]
    assert html.count("<math") == 1
    assert "$$" not in html
    assert re.search(r"Note</p>\s*<p>In a box.</p>\s*</div>", html)


def test_an_example_below_a_name_without_a_type_stays_in_its_item():
    html = html_of("F.\n\nParameters\n----------\nx\n    One.\n\n    >>> a\n\n    Two.")
    assert html.count("<dl>") == 1
    assert re.search(
        r"<dd>\s*<p>One.</p>.*>>> a\n.*<p>Two.</p>\s*</dd>", html, re.DOTALL
    )


def test_a_list_in_numpys_list_is_one():
    text = "See Also\n--------\n    - One: https://a.b\n    - Two: https://c.d"
    html = html_of(f"F.\n\n{text}")
    assert html.count("<li>") == 2
    assert "<code>" not in html
    html = html_of("F.\n\nReturns\n-------\n- One\n  and so on\n- Two\n\nThree.")
    assert html.count("<dt>") == 2
    assert html.count("<li>") == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a : int\n    One.\nb : str\n    Two,\n    more.",
            ["a int", "One.", "b str", "Two,\nmore."],
        ),
        (
            "'a'\n  One.\n\n``b``, \"c\" (d)\n  Two.\n\n  Three.",
            ["'a'", "One.", 'b, "c" (d)', "Two.", "Three."],
        ),
        ("a, b\n    One more.", ["a, b", "One more."]),
        (":mod:`x`\n    One more.", [":mod:x", "One more."]),
        ("*a, **b\n    One more.", ["*a, **b", "One more."]),
        (
            "a : int\n    One.\nb : what is used as a\n    number.",
            ["a int", "One.", "b", "what is used as a\nnumber."],
        ),
        (
            "a : int\n    One.\nb: str\n    Two.\nNote: this\n    hangs.",
            ["a int", "One.", "b str", "Two.", "Note: this\n    hangs."],
        ),
        (
            "a : object\n    'b'\n        One.\n    'c'\n        Two.\nd : int\n    3.",
            ["a object", "'b'", "One.", "'c'", "Two.", "d int", "3."],
        ),
        (
            "a : int\n    One.\nb : int\n\n    !!! note\n        Two.",
            ["a int", "One.", "b int", "Note", "Two."],
        ),
    ],
)
def test_definition_lists(text, expected):
    assert listed(f"F.\n\n{text}") == ["F.", *expected]
    deeper = re.sub("^(?=.)", "    ", text, flags=re.MULTILINE)
    lists = listed(f"Returns\n-------\nout : list\n    Some.\n\n{deeper}")
    assert lists == ["Returns", "out list", "Some.", *expected]
    if "One more" not in text:
        assert listed(f"F.\n\n{deeper}") == ["F.", *expected], "and where code would be"
    assert set_fields(prose(text)).text == text, "a comment is Markdown"


@pytest.mark.parametrize(
    "text",
    [
        "F.\n\nA sentence that\n    hangs.",
        "F.\n\na: a sentence\n    that hangs.",
        "F.\nand so on : it\n    goes on.",
        "F.\n\na : int\n\n    x = 1",
        "F.\n\n    Basic\n        Some expression\n",
        "F.\n\nBasic\n    Expression",
        "F.\n\n```\n\na : int\n    One.\n```",
        "Word\n    that hangs.",
        "F.\n\n- a : int\n    One.",
    ],
)
def test_what_is_no_definition_list_is_left_alone(text):
    assert set_fields(prose(text), {}).text == text


def test_definition_lists_may_be_deep():
    """Deeper than functions may call each other."""
    text = "\n".join(f"{' ' * n}a{n} : int" for n in range(1200))
    made = set_fields(prose(f"F.\n\n{text}"), {}).text
    assert all(f"a{n}" in made for n in range(1200))


def test_a_sentence_is_no_type():
    text = (
        "F.\n\nParameters\n----------\nkwargs : {} is passed to the function\n    {}."
    )
    assert listed(text.format("Any other keyword", "that computes"))[2:] == [
        *("kwargs", "Any other keyword is passed to the function\nthat computes.")
    ]
    assert listed(text.format("It", "That"))[2:] == [
        *("kwargs It is passed to the function", "That.")
    ]


def test_lists_in_sphinxs_style():
    text = (
        "A sum.\n\n:param x: the tensor,\n    on two lines\n:param str k: why\n"
        ":type lost: int\n:raises ValueError: if not\n:return: numbers\n\nMore: prose."
    )
    assert listed(text) == [
        *("A sum.", "Arguments", "x Tensor", "the tensor,\non two lines", "k str"),
        *("why", "lost int", "", "Raises", "ValueError", "if not"),
        *("Returns", "list[int]", "numbers", "More: prose."),
    ]
    assert listed(":rtype: int") == ["Returns", "int", ""]
    html = html_of(":kwarg x: one\n:kwparam int y: two\n\n    More.")
    assert html.count("<dt>") == 2
    assert "<p>two</p>\n<p>More.</p>" in html
    assert "</dl>\n<p>As :param" in html_of(":param k: one\n\nAs :param k: says.")
    unnamed = listed(":raises: if not\n:return: it\n:rtype: int")
    assert unnamed == ["Raises", "if not", "Returns", "int", "it"]


def test_an_item_in_sphinxs_style_ends_at_one_of_another_kind():
    text = (
        ":param k: one,\n:class:`two`\n:seealso: three\n    four\n:meta private:\n"
        ":type k: str\n:return: five\n:rtype: float"
    )
    assert listed(text) == [
        *("Arguments", "k str", "one,\n:class:two", "Returns", "float", "five"),
        *(":seealso: three\n    four", ":meta private:"),
    ]


def test_an_item_in_sphinxs_style_may_name_several():
    text = "F.\n\n:param a, b: both\n:raises ValueError, KeyError: if"
    names = re.findall("<dt>(.*?)</dt>", html_of(text, "def f(a, b)"))
    assert names == ["<code>a, b</code>", "<code>ValueError, KeyError</code>"]


def html_of(text, signature="def f(x: Tensor) -> 'list[int]'", report=stop):
    """A docstring as it is on its page, without colours."""
    body = text.replace("\n", "\n    ")
    source = read(f"{signature}:\n    r'''\n    {body}\n    '''".encode(), "m.py", "m")
    prose = weave(source, catalogue([source]), report).rows[-1].prose
    html = Markdown(extensions=[*EXTENSIONS]).convert(prose)
    return unescape(re.sub("</?span[^>]*>", "", html))


def test_an_item_keeps_its_layout():
    html = html_of(
        "F.\n\nArgs:\n    x: one\n        ```\n        if x:\n            y\n"
        "        ```\n"
        "    y: a list\n\n        - one\n            - two\n\n        !!! note\n"
        "            In a box.\n    z: code::\n\n            if z:\n"
        "                z\n\n"
        "        And more.\n    a:\n        >>> b\n"
    )
    assert "if x:\n    y\n</code>" in html
    assert re.search(r"<li>one<ul>\s*<li>two</li>", html)
    assert re.search(r"Note</p>\s*<p>In a box.</p>\s*</div>\s*</dd>", html)
    assert re.search(r"code:</p>.*if z:\n    z\n</code>.*<p>And more", html, re.DOTALL)
    assert re.search(r"<code>a</code></dt>\s*<dd>.*>>> b\n.*</dd>", html, re.DOTALL)
    assert html.count("<dl>") == 1


def test_a_fence_in_a_list_below_an_item_stays_in_that_list():
    html = html_of(
        "F.\n\nArgs:\n    x: one\n\n        - two\n\n            ```\n            y\n"
        "            ```\n\n            three\n"
    )
    assert re.search(r"<li>\s*<p>two</p>.*<code>y\n.*<p>three</p>\s*</li>", html, re.S)


@pytest.mark.parametrize("head", ["Returns:\n    int", "Args:\n    x"])
@pytest.mark.parametrize("hangs", ["", "\n        words"])
@pytest.mark.parametrize("mark", ["```", "~~~python", "More of it::\n"])
def test_code_below_an_item_keeps_its_indentation(head, hangs, mark):
    deep = "    " * mark.startswith("More")
    body = "".join(f"    {deep}{line}\n" for line in ("if x:", "    y()", "", "z()"))
    end = "" if deep else f"    {mark[:3]}\n"
    html = html_of(f"F.\n\n{head}: one{hangs}\n\n    {mark}\n{body}{end}")
    assert "<code>if x:\n    y()\n\nz()\n</code>" in html
    assert html.count("<dd>") == 1


PLAIN = 'a = [b][c]\nprint("$x_{$", "[one][]")\n\nif a:\n    b()'


@pytest.mark.parametrize("deep", [8, 12])
@pytest.mark.parametrize(
    "text",
    [
        "Args:\n    x: one:\n\n{}\n\n        Two.\n    y: three",
        "Args:\n    x:\n        one\n\n{}\n\n        Two.\n    y: three",
        "Returns:\n    One:\n\n{}\n\n    Two.\n\nThree.",
        "Returns:\n    int: one:\n\n{}\n\n    Two.\n\nThree.",
        "Parameters\n----------\nx : int\n    One:\n\n{}\n\n    Two.\ny : int\n    T",
        ":param x: one:\n\n{}\n\n    Two.\n:param y: three",
        "x : int\n    One:\n\n{}\n\n    Two.\ny : int\n    Three.",
        "Note:\n    One:\n\n{}\n\n    Two.\n\nThree.",
        "Example:\n    One:\n\n{}\n\n    Two.\n\nThree.",
        "- x\n    - One:\n\n{}\n\n      Two.\n- y",
    ],
)
def test_code_below_an_item_needs_no_fence(text, deep):
    for code in (PLAIN, ">>> f(a)"):
        margin = " " * deep
        lines = code.replace("\n", f"\n{margin}").replace(f"{margin}\n", "\n")
        html = html_of(f"F.\n\n{text.format(margin + lines)}")
        assert f"<code>{code}\n</code>" in html
        assert "<p>Two.</p>" in html
        assert "```" not in html
        around = re.sub(
            r"<(dl|ul)>.*</\1>|<div class=.adm.*</div>", "", html, flags=re.S
        )
        assert ("Two." in around) is text.startswith("Example")


def test_code_among_what_is_returned_needs_no_more_indentation():
    html = html_of("F.\n\nReturns:\n    One:\n\n    y = f(1)\n\n    Two.")
    assert "<code>y = f(1)\n</code>" in html


def test_a_definition_list_in_an_item_stays_there():
    html = html_of("F.\n\n- a\n\n    x : int\n        One.\n\n- b")
    assert re.search(r"<p>a</p>\s*<dl>.*One.*</dl>\s*</li>", html, re.DOTALL)


def test_words_below_an_item_are_no_code():
    text = (
        "F.\n\nArgs:\n    x: one\n\n        See f(x), or y = 1.\n\n"
        "        * a = b\n\n        * c = d\n\n    y: int = 3\n    z: one(two)\n"
    )
    html = html_of(text)
    assert "<pre>" not in html
    assert html.count("<li>") == 2
    assert html.count("<dt>") == 3


def test_what_stands_below_an_item_without_hanging_keeps_its_layout():
    text = "F.\n\nReturns:\n    int: one\n        two\n\n    !!! note\n        Boxed.\n"
    html = html_of(f"{text}\n    - a\n        - b\n")
    assert re.search(r"<p>one\s+two</p>", html)
    assert "<p>Boxed.</p>" in html
    assert re.search(r"<li>a\s*<ul>\s*<li>b</li>", html)


@pytest.mark.parametrize(
    "text",
    [
        "Args:\n    x: one\n        >>> a",
        "Args:\n    x: one\n        - two\n\n            >>> a",
        "Example:\n    Words.\n\n    >>> a\n\n    Words.",
        "Note:\n  >>> a",
        "Parameters\n----------\nx : int\n    One.\n\n    >>> a\n\n    Two.",
        "F.\n\n:param x: one\n\n    >>> a",
    ],
)
def test_an_example_stays_in_its_field(text):
    html = html_of(text)
    assert html.count("<code>>>> a\n</code>") == 1
    assert "```" not in html
    assert html.count("<pre>") == 1
    outside = re.sub(r"<(dl|ul)>.*</\1>|<div.*</div>", "", html, flags=re.DOTALL)
    assert "Args" not in html
    assert "a\n" not in outside


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("shape (tuple(int, int)): the shape", ["shape tuple(int, int)", "the shape"]),
        ("f (Callable[[int], (str)]): f", ["f Callable[[int], (str)]", "f"]),
        ("a, b (int): both", ["a, b int", "both"]),
        (r"\*rest: more", ["*rest int", "more"]),
        ("t (:class:`~a.T`, optional): t", ["t a.T, optional", "t"]),
        ("size(int): s", ["size int", "s"]),
        ("x : s", ["x Tensor", "s"]),
        ("Just words, no item", ["Just words, no item"]),
    ],
)
def test_items_in_googles_style(item, expected):
    assert listed(f"Args:\n    {item}") == ["Arguments", *expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bool: True if so", ["bool", "True if so"]),
        ("Callable[P, T]: it", ["Callable[P, T]", "it"]),
        ("np.ndarray or None: it", ["np.ndarray or None", "it"]),
        ("list of str: it", ["list of str", "it"]),
        ("(Tensor, int): both", ["(Tensor, int)", "both"]),
        (":class:`Foo`: it", ["Foo", "it"]),
        ("x (int): one\n    y (int): two", ["x int", "one", "y int", "two"]),
        ("x: one\n    y: two", ["x", "one", "y", "two"]),
        ("Note: it", ["list[int]", "Note: it"]),
        ("True: it", ["list[int]", "True: it"]),
        ("The sum: it", ["list[int]", "The sum: it"]),
        ("result: it", ["list[int]", "result: it"]),
        ("int: a,\n    or: b", ["int", "a,\nor: b"]),
        ("list of numbers: it", ["list[int]", "list of numbers: it"]),
    ],
)
def test_a_type_in_front_of_what_is_returned(text, expected):
    assert listed(f"Returns:\n    {text}") == ["Returns", *expected]
    if expected[0] != "list[int]" and ":" not in expected[-1]:
        assert "list[int]" not in listed(f"Yields:\n    {text}")


@pytest.mark.parametrize(
    ("title", "caption"),
    [
        ("Keyword Args", "Keyword arguments"),
        ("Keyword Arguments", "Keyword arguments"),
        ("Other Parameters", "Other arguments"),
        ("Receives", "Receives"),
        ("Return", "Returns"),
        ("Yield", "Yields"),
        ("Warns", "Warns"),
        ("See Also", "See also"),
    ],
)
def test_more_titles_in_googles_style(title, caption):
    assert listed(f"{title}:\n    a (int): one\n    b (int): two") == [
        *(caption, "a int", "one", "b int", "two")
    ]


def test_of_an_error_there_may_be_nothing_to_say():
    text = "Raises:\n    ValueError\n    a.B, `OSError`\n    TypeError: if\n    not"
    assert listed(text) == [
        *("Raises", "ValueError", "", "a.B, OSError", "", "TypeError", "if\nnot")
    ]


@pytest.mark.parametrize(
    ("title", "kind", "shown"),
    [
        ("Note", "note", "Note"),
        ("Notes", "note", "Notes"),
        ("Warning", "warning", "Warning"),
        ("Tip", "tip", "Tip"),
        ("Todo", "note", "To do"),
    ],
)
def test_notes_and_warnings_are_boxes(title, kind, shown):
    html = html_of(f"F.\n\n{title}:\n    One\n\n    - two\n\nThree.")
    assert f'<div class="admonition {kind}">' in html
    assert f'title">{shown}</p>' in html
    assert re.search(r"<li>two</li>\s*</ul>\s*</div>\s*<p>Three", html)


def test_examples_are_words_and_code():
    html = html_of(
        "Example:\n    Words: see f(x).\n\n    y = f(1)\n    if y:\n        g()\n\n"
        "        h()\n\n    More words.\n\nUsage:\n\n    $ make\n    $ run"
    )
    assert "<p>Words: see f(x).</p>" in html
    assert "<code>y = f(1)\nif y:\n    g()\n\n    h()\n</code>" in html
    assert "<p>More words.</p>" in html
    assert "$ make\n$ run\n</code>" in html
    assert html.count("<pre>") == 2
    assert html.count("sbs-fields") == 2


def test_numpys_methods_are_a_list():
    html = html_of("F.\n\nMethods\n-------\nmix(other)\n    Two.\nstir\n    Stir.")
    assert re.search(r"<dt><code>mix\(other\)</code></dt>\s*<dd>Two.</dd>", html)
    assert re.search(r"<dt><code>stir</code></dt>\s*<dd>Stir.</dd>", html)


def test_numpys_lists_in_the_docstring_of_a_module():
    text = "M.\n\nAttributes\n----------\nRATE : float\n    One.\n\nNotes\n-----\nTwo."
    lists = set_fields(prose(text), is_module=True).text
    assert "\n`RATE` `float`{ .sbs-type }\n:   One.\n" in lists
    assert lists.endswith("Notes\n-----\nTwo."), "any other title is a heading"
    assert set_fields(prose(text)).text == text, "and so are all in a comment"


def test_a_definition_list_may_stand_right_below_a_heading():
    text = "M.\n\nParts\n-----\nlib\n    All the rest.\nmain\n    The program."
    lists = set_fields(prose(text), is_module=True).text
    assert lists.startswith("M.\n\nParts\n-----\n\nlib\n:   All the rest.\n\nmain\n:")


def test_numpys_dashes_make_no_heading_of_a_list():
    html = html_of("F.\n\nArguments\n---------\nx : int\n    One.\nNot a name. Words.")
    assert "<h2" not in html
    assert "<dt><code>x</code>" in html
    assert "<p>Not a name. Words.</p>" in html


@pytest.mark.parametrize(
    "text",
    [
        "As follows:\n    Note that this goes on",
        "See the note:\n    one",
        "Note: the next line\n    is indented.",
        "```\nArgs:\n    x: one\n```",
    ],
)
def test_prose_with_a_colon_is_no_field(text):
    assert set_fields(prose(text), {}).text == text


@pytest.mark.parametrize(
    "text",
    [
        "Notes",
        "Parameters",
        "Results\n-------\n\nSome.",
        "Returns\nnothing",
        ":note: x",
    ],
)
def test_what_is_no_list_is_left_alone(text):
    assert set_fields(prose(text), {}).text == text


def test_a_word_with_a_colon_is_no_field():
    text = "Note that\nArgs:\nis only a word here."
    assert set_fields(prose(text), {}).text == text
    assert set_fields(prose("Returns:\n\nA word."), {}).text == "Returns:\n\nA word."


# ---- Mathematics


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        (r"$x_1$ and $$y$$", [("x_1", False), ("y", True)]),
        ("costs $5 or $6", []),
        (r"\$x$ and `$y$` and ``$`z`$``", []),
        ("```sh\necho $HOME$PATH\n```\n$x$", [("x", False)]),
        ("$a\nb$", [("a\nb", False)]),
        ("$a\n\nb$", []),
        ("$ a$ and $a $", []),
        (r"$\text{\$5}$", [(r"\text{\$5}", False)]),
        ("$$\na\n= b\n$$", [("a\n= b", True)]),
        ("$HOME/$USER", []),
        # Rows need no dollars, and get no numbers.
        (
            "A\n\\begin{align}\na &= b \\\\\n- c\n\\end{align}\nB",
            [("\\begin{align*}\na &= b \\\\\n- c\n\\end{align*}", True)],
        ),
        ("`\\begin{align}x\\end{align}`, \\begin{center}x\\end{center}", []),
        (r"the $\hat{A}_t$-th", [(r"\hat{A}_t", False)]),
        ("the $n$th, $1$st of $k$this", [("n", False), ("1", False)]),
        ("costs $5 and $6a", []),
        # Words may have formulas in them.
        (r"$a_{\text{if $b$}}$ $c$", [(r"a_{\text{if $b$}}", False), ("c", False)]),
        ("$$a \\mbox{\nif $b$}$$", [("a \\mbox{\nif $b$}", True)]),
        (
            "\\begin{align}\na & \\text{$b$}\n\\end{align}",
            [("\\begin{align*}\na & \\text{$b$}\n\\end{align*}", True)],
        ),
        ("$" + r"\text{a}" * 40 + " $", []),
        # The marks of a quotation are none of the formula's, and others are.
        ("> $$\n> V\n> = r\n> $$", [("V\n = r", True)]),
        (
            "> > $$a\n>> > b$$ and $c\n> > = d$",
            [("a\n > b", True), ("c\n = d", False)],
        ),
        ("> $$> a\n> b$$", [("> a\n b", True)]),
        (
            "> \\begin{align}\n> a\n> \\end{align}",
            [("\\begin{align*}\n a\n \\end{align*}", True)],
        ),
        ("$$\na\n> b\n$$", [("a\n> b", True)]),
        # Words
        ("see $BAR).\nMatch lines with ^foo$", []),
        ("$PATH are expanded; costs 5$", []),
        ("a $learning rate$x$", [("x", False)]),
        ("$Id$, $Revision: 1.2$", []),
        # Code
        ("costs $5 in `${X}`; $`a`$", []),
        ("US$6. `$` and `$$`. $x$", [("x", False)]),
        (r"$\text{``a''}$", [(r"\text{``a''}", False)]),
        (r"$x \in X where it is$", [(r"x \in X where it is", False)]),
        ("$a_{two words} = dt$", [("a_{two words} = dt", False)]),
        ("$sin x$, $max$", [("sin x", False), ("max", False)]),
    ],
)
def test_formulas_are_found(text, formulas):
    assert [(f.tex, f.display) for f in find(text)] == formulas


def test_a_formula_is_set_for_eye_and_ear():
    html = typeset(r"\gamma^{t}", False)
    assert 'aria-hidden="true"' in html
    assert "<mi>γ</mi>" in html


def test_a_broken_formula_is_refused():
    with pytest.raises(FormulaError, match="expected '}'"):
        typeset(r"\frac{a", False)


LAUGHS = "&a0 [x, x]" + "".join(
    f"\nb{n}: &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]" for n in range(9)
)


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ('"""\n---\ntitle: A: B\n---\n"""', 3, "not YAML"),
        ('"""\n---\ntitle: A\n\nText\n"""', 2, "no end"),
        ('"""\n---\n- a\n---\n"""', 2, "a list, not a mapping"),
        ('"""\n---\na: &x [*x]\n---\n"""', 2, "nested too deeply, or in itself"),
        ('"""\n---\na: &x\n  b: *x\n---\n"""', 2, "nested too deeply"),
        (f'"""\n---\na: {LAUGHS}\n---\n"""', 2, "nested too deeply"),
        *(
            (f'"""\n---\na: {"[" * n}{"]" * n}\n---\n"""', 2, "nested too deeply")
            for n in (40, 900, 50_000)
        ),
        ('"""\n---\na: 1\ndate: 2024-02-30\n---\n"""', 4, "not YAML: day is out of"),
        ('"""\n---\na: !!bool x\n---\n"""', 3, "not YAML: a wrong value"),
        ('"""\n---\na: !!timestamp x\n---\n"""', 3, "not YAML: a wrong value"),
        ('"""\n---\na: 1\n"symbols": 3\n---\n"""', 4, "`symbols` is not a mapping"),
        ('"""\n---\n{a: 1, symbols: 3}\n---\n"""', 3, "`symbols` is not a mapping"),
        ('"""\n---\n symbols: 3\n---\n"""', 3, "`symbols` is not a mapping"),
        ('"""\n---\n? symbols\n: 3\n---\n"""', 2, "`symbols` is not a mapping"),
        ("x = 1\n\n# One.\n#\n# Then $\\frac{a$.\n", 5, r"`\frac{a` can't be set"),
        ("x = 1\n# [Nope][]\n", 2, "link to `Nope`"),
    ],
)
def test_mistakes_are_named_with_file_and_line(body, line, words):
    source = read(body.encode(), "book/m.py", "book.m")
    with pytest.raises(PressError) as caught:
        weave(source, catalogue([source]))
    assert str(caught.value).startswith(f"book/m.py:{line}: ")
    assert words in str(caught.value)


def test_formulas_pass_through_markdown():
    text = "$a_1 b_1 * c * d$ in | `$x$`, \\$5\n\n| a |\n|---|\n| $P(a \\mid b) | c$ |"
    html = Markdown(extensions=["sidebyside", "tables"]).convert(text)
    assert html.count("<sbs-math") == 2
    # Who has a page translated keeps its formulas.
    assert html.count('<sbs-math translate="no"') == 2
    assert "<em>" not in html
    assert "<code>$x$</code>, $5" in html
    assert html.count("<td>") == 1


def test_finished_code_passes_through_markdown():
    cell = '<div class="x">\n\n*a* $b$ ```\n\n</div>'
    code = f"<!-- code:1 -->\n{cell}\n<!-- /code:1 -->"
    text = f"<!-- sidebyside:1 -->\n<section markdown>\n\n{code}\n\n</section>"
    html = Markdown(extensions=["md_in_html", "fenced_code", "sidebyside"]).convert(
        text
    )
    assert html == f"<section>\n{cell}\n</section>"


# ---- Anchors

BEFORE = b"def f():\n    # First words of a comment.\n    x = 1\n\ny = 2\n"
AFTER = b"# New.\nz = 3\n\ndef g(): pass\n\n" + BEFORE + b"\n# More.\n"


def test_anchors_survive_edits_elsewhere():
    anchors = [
        {row.anchor for row in weave(read(data, "m.py", "m"), {}).rows}
        for data in (BEFORE, AFTER)
    ]
    assert {"f", "f--first-words-of-a-comment", "y-2"} <= anchors[0]
    assert anchors[0] <= anchors[1]


def test_a_heading_does_not_take_the_name_of_a_definition():
    source = read(b'"""# Weave"""\n\ndef weave():\n    pass\n', "m.py", "m")
    assert [row.anchor for row in weave(source, {}).rows] == ["weave-2", "weave"]


@pytest.mark.parametrize(
    ("heading", "shown", "title"),
    [
        (
            "How [two][] and :func:`two` work",
            "How [`two`](#two) and [`two`](#two) work",
            "How two and two work",
        ),
        ("Of :mod:`book.m` (x)", "Of `book.m` (x)", "Of book.m (x)"),
        ("As [one's][d] x[i][j]", "As [one's][d] x[i][j]", "As one's x[i][j]"),
        ("The [game](game.py)", "The [game](game.md)", "The game"),
    ],
)
def test_links_in_headings(heading, shown, title):
    text = f'"""# {heading}\n\n[d]: https://a.org\n"""\ndef two():\n    "Two."\n'
    source = read(text.encode(), "book/m.py", "book.m")
    page = weave(source, catalogue([source, GAME_SOURCE]))
    assert (page.rows[0].heading, page.title, page.rows[0].title) == (
        shown,
        title,
        title,
    )


def test_a_link_in_a_heading_leads_somewhere():
    source = read(b"x = 1\n\n\n# ## Of [nope][]\ny = 2\n", "book/m.py", "book.m")
    with pytest.raises(PressError, match=r"^book/m\.py:4: a link to `nope`"):
        weave(source, {})


def test_anchors_are_unique():
    data = b"# Same words.\nx = 1\n# Same words.\ny = 2\ndef f(): pass\ndef f(): pass\n"
    anchors = [row.anchor for row in weave(read(data, "m.py", "m"), {}).rows]
    assert anchors == ["same-words", "same-words-2", "f", "f-2"]


# ---- Essays

PARAGRAPHS = "A line.\n\n" * 15


def rows_of(code: str):
    return weave(read(code.encode(), "m.py", "m"), {}).rows


@pytest.mark.parametrize(
    ("text", "imports", "is_essay"),
    [
        (f"# T\n\n{PARAGRAPHS}## More\n\nAnd more.\n", 4, True),
        (f"# T\n\n{PARAGRAPHS}## More\n\nAnd more.\n", 30, False),
        # The heading that it begins with stands above both columns anyway.
        (f"# T\n\n{PARAGRAPHS}And more.\n", 4, False),
        (f"# T\n\n{PARAGRAPHS}```sh\n## More\n```\n", 4, False),
        ("# T\n\nA line.\n\n## More\n\nAnd more.\n", 0, False),
    ],
)
def test_what_begins_a_module_may_be_an_essay(text, imports, is_essay):
    code = f'"""\n{text}"""\n\n' + "import os\n" * imports
    (row,) = rows_of(code)
    assert row.essay is is_essay
    page = render(weave(read(code.encode(), "m.py", "m"), {}), environment())
    assert ('<section class="sbs-row sbs-essay" markdown>' in page) is is_essay


def test_a_definition_stands_beside_its_prose():
    text = f"## T\n\n{PARAGRAPHS}### More\n\nAnd more.\n"
    docstring = '    """\n' + indent(text, "    ") + '    """\n'
    assert not any(row.essay for row in rows_of(f"def f():\n{docstring}"))
    comment = "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())
    (row,) = rows_of(f"{comment}x = 1\n")
    assert row.essay


def test_a_long_text_without_code_has_the_page_to_itself():
    lines = f"## T\n\n{PARAGRAPHS}".splitlines()
    comment = "".join(f"# {line}".rstrip() + "\n" for line in lines)
    *_, row = rows_of(f"x = 1\n\n{comment}")
    assert row.essay
    assert not row.code
    *_, row = rows_of("x = 1\n\n# ## T\n#\n# A line.\n")
    assert not row.essay


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        ("Iterator[int]", ["int"]),
        ("AsyncGenerator[list[str], None]", ["list[str]"]),
        ("abc.Iterator[int]", ["int"]),
        ("Generator", []),
        ("list[int]", []),
    ],
)
def test_what_is_yielded_is_of_the_first_type(returns, expected):
    html = html_of("F.\n\nYields:\n    each number.", f"def f() -> {returns}")
    assert re.findall(r'class="sbs-type">([^<]+)<', html) == expected


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("def f(x: int, /, *, y: str): pass\n", {"x": "int", "y": "str"}),
        (
            "class C:\n    x: int\n    def __init__(self, x: str): ...\n",
            {"x": "str"},
        ),
        (
            "def f() -> Annotated[int, 'seconds']: pass\n",
            {"return": "Annotated[int, 'seconds']"},
        ),
    ],
)
def test_types_of_any_signature(text, types):
    node = read(text.encode(), "m.py", "m").definitions[0].node
    assert types_of(node) == types


def test_a_short_fence_in_a_long_one_is_code():
    code = "So:\n- x\n```\nSo:\n- y\n```\n"
    assert code in html_of(f"````\n{code}````\n\nMore.")


def test_a_table_in_a_fence_is_code():
    assert "x\n| a |\n|---|\n" in html_of("```\nx\n| a |\n|---|\n```")


def test_an_example_below_a_title_of_numpy_is_code():
    assert "```" not in html_of("F.\n\nNotes\n-----\nSo:\n\n    >>> 1\n    1\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (":param z: it.\n:type z: list of\n    str or int\n", "list of str or int"),
        (":param int z: it.\n:type z: int\n", "int"),
    ],
)
def test_a_type_in_sphinxs_style_is_whole_and_said_once(text, shown):
    html = html_of(text)
    assert f">{shown}</code>" in html
    assert f"{shown}, {shown}" not in html


def test_a_box_in_numpys_list_keeps_its_text():
    html = html_of("F.\n\nReturns\n-------\n!!! note\n    In a box.\n")
    assert re.search(r"Note</p>\s*<p>In a box.</p>\s*</div>", html)


def test_of_a_warning_there_may_be_nothing_to_say():
    html = html_of("F.\n\nWarns:\n    UserWarning\n    FutureWarning: soon.\n")
    assert "<code>UserWarning</code>" in html


def test_a_formula_behind_words_between_dollars_is_one():
    assert [f.tex for f in find(r"Set $HOME and then ($\pi$).")] == [r"\pi"]
    assert [f.display for f in find("\\begin{alignat}{2}\na &= b\n\\end{alignat}")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "def f():\n    x = 1\n    # Of f.\ndef g():\n    pass\n",
            [("f", ""), ("f", "Of f."), ("g", "")],
        ),
        (
            "def f():\n    x = 1\n    # Of f.\n# Of none.\ny = 2\n",
            [("f", ""), ("f", "Of f."), ("", "Of none.")],
        ),
        ('"""M."""\nfrom a import b\n\n# Copyright A.\nx = 1\n', [("", "M.")]),
        ("#: How many.\n#: Not less.\nx = 1\n", [("", "How many.\nNot less.")]),
    ],
)
def test_whose_a_comment_is(text, expected):
    found = split(read(text.encode(), "m.py", "m"))
    assert [(s.scope, s.prose.text) for s in found] == expected


def test_the_first_of_several_names_has_the_docstring():
    source = read(b"x = y = 1\n'''Of x.'''\n", "m.py", "m")
    assert [attribute.name for attribute in source.attributes] == ["x"]


def test_a_decorator_may_begin_above_its_expression():
    source = read(b"x = 1\n@(\n    a\n)\ndef f():\n    pass\n", "m.py", "m")
    assert [(d.first, d.header) for d in source.definitions] == [(2, 5)]


def test_a_title_in_a_comment_may_stand_below_the_first_line():
    source = read(b"#!/usr/bin/env python\n# # Title\nx = 1\n", "m.py", "m")
    page = weave(source, {})
    assert page.title == "Title"
    assert [(row.heading, row.anchor) for row in page.rows] == [("Title", "title")]


def test_a_sign_at_the_end_is_no_frame():
    (block,) = prose_blocks(read(b"# ## About C#\n", "m.py", "m"))
    assert comment_text(block) == ["## About C#"]


def test_a_role_with_words_may_begin_with_a_dot():
    text = set_links(prose(":meth:`a <.Worker.step>`"), "", WORKER_SOURCE, PLACES).text
    assert text == "[a](#Worker.step)"


def test_a_picture_is_found_by_its_label():
    found = pictures_in("![Two\nWords][]\n\n[two words]: a.png")
    assert [picture.address for picture in found] == ["a.png"]


def test_pictures_make_an_essay_longer():
    pictures = "\n\n".join(f"![A](a{n}.png)" for n in range(3))
    assert is_essay(prose(f"## A\n\n{pictures}\n\nText."), 1)


def test_a_broken_formula_may_have_backticks():
    wrong: list[Any] = []
    html = html_of("A $\\text{`a`} \\frac$ here.", report=wrong.append)
    assert wrong
    assert "<code>$\\text{`a`} \\frac$</code>" in html


def test_what_is_public():
    assert public_names(read(b"def f(): ...", "a/_b.py", "a._b")) == {}
    inner = read(b"class _A:\n    class B: ...\n", "m.py", "m")
    assert public_names(inner) == {"": "m"}
    source = read(b'def f():\n    """F."""\n    # Text.\n    x = 1\n', "m.py", "m")
    assert [row.public for row in weave(source, {}).rows] == ["m.f", ""]


def test_a_heading_in_a_body_leaves_the_outline_alone():
    text = (
        b"# # T\n\ndef f():\n    x = 1\n    # ### In f\n    y = 1\n"
        b"\ndef g():\n    pass\n"
    )
    assert outlined(read(text, "m.py", "m")) == {"f": 2, "g": 2}


def test_the_title_of_a_section_has_no_marks():
    (row,) = rows_of('def f():\n    """## A *long* `x`, $y$"""\n')
    assert row.title == "A long x, y"


def test_a_formula_by_itself_is_joined_to_nothing():
    assert "sbs-join" not in Markdown(extensions=["sidebyside"]).convert("$$x$$.")


def test_a_series_keeps_its_class():
    md = Markdown(extensions=["sidebyside", "attr_list"])
    html = md.convert('![a](a.svg "A")\n![b](b.svg "B")\n{ .wide }')
    assert 'class="wide sbs-series"' in html
