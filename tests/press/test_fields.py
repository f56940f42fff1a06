"""Lists of arguments and the like, in the styles of docstrings."""

import re

import pytest
from markdown import Markdown

from sidebyside.fields import set_fields, types_of
from sidebyside.press import EXTENSIONS
from sidebyside.read import read
from tests.press.texts import html_of, prose

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
