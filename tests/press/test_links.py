"""Links in prose: to names, to files and to addresses."""

import re

import pytest
from markdown import Markdown

from sidebyside.catalogue import catalogue
from sidebyside.errors import PressError
from sidebyside.inventory import inventory
from sidebyside.links import labels_in, pictures_in, set_labels, set_links
from sidebyside.press import WithOutside
from sidebyside.read import page_of, read
from sidebyside.weave import weave
from tests.press.texts import PLACES, WORKER_SOURCE, as_page, prose


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
