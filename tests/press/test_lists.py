"""Lists, tables and examples, as people write them in comments."""

import re
from html import unescape

import pytest
from markdown import Markdown

from sidebyside.lists import keep_lines, open_lists
from sidebyside.press import EXTENSIONS
from sidebyside.read import read
from sidebyside.render import environment, render
from sidebyside.rst.examples import open_examples
from sidebyside.weave import weave
from tests.press.texts import as_page, html_of, prose


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
