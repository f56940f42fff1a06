"""Whatever a module holds, its page holds: no script, no broken rows, no exception."""

import os
import random
import re
import sys
import sysconfig
import time
from datetime import date
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown import Markdown

from sidebyside.catalogue import catalogue
from sidebyside.errors import PressError
from sidebyside.guard import disarmed, guarded, lookalike, unguarded
from sidebyside.press import EXTENSIONS, make
from sidebyside.read import read
from sidebyside.render import description_of, environment, render, render_error
from sidebyside.standalone import standalone
from tests.press.programs import NEW_PROGRAMS, PROGRAMS
from tests.press.sites import build

TEMPLATES = environment()
NOWHERE = Path("/nonexistent")
EMPTY = {"area", "br", "col", "hr", "img", "input", "link", "meta", "wbr"}
# All the elements that a page is made of. There is no other, and above all no script.
ELEMENTS = EMPTY | set(
    """
    a abbr annotation b blockquote body cite code dd del details dfn div dl dt em
    figcaption figure h1 h2 h3 h4 h5 h6 head html i ins kbd li main mark ol p pre q s
    samp sbs-math section small span strong style sub summary sup table tbody td th
    thead title tr u ul var math mfrac mi mn mo mover mrow msqrt mstyle msub msubsup
    msup mtable mtd mtext mtr munder munderover mspace semantics svg path menclose
    mmultiscripts mpadded mphantom mprescripts mroot
    """.split()  # noqa: SIM905
)


class Rows(HTMLParser):
    """The rows of a page, each with its text; and whether all is in order."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.rows: list[str] = []
        self.wrong: list[str] = []
        self.feed(html)
        self.close()
        if self.stack:
            self.wrong.append(f"left open: {self.stack}")

    def handle_starttag(self, tag, attrs):
        if tag not in ELEMENTS:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            address = re.sub(r"[\0-\x20]", "", unescape(value or "")).lower()
            if name.startswith("on") or name in ("srcdoc", "formaction", "action"):
                self.wrong.append(f"{name}={value}")
            if re.match(r"(java|vb)script:|data:(?!font|image)", address):
                self.wrong.append(f"{name}={value}")
        if tag == "section":
            if "section" in self.stack:
                self.wrong.append("a section in a section")
            self.rows.append("")
        if tag not in EMPTY:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        if tag in EMPTY:
            return
        if not self.stack or self.stack.pop() != tag:
            self.wrong.append(f"</{tag}> closes something else")

    def handle_comment(self, data):
        self.wrong.append(f"<!--{data}-->")

    def handle_data(self, data):
        if self.rows and "section" in self.stack:
            self.rows[-1] += data


def convert(program):
    data = program if isinstance(program, bytes) else program.encode()
    source = read(data, "module.py", "module")
    page = make(source, catalogue([source]), lambda error: None)
    return page, standalone(page, TEMPLATES, NOWHERE, NOWHERE)


def check(program):
    page, html = convert(program)
    rows = Rows(html)
    assert rows.wrong == []
    assert len(rows.rows) == len(page.rows)
    assert "\x02" not in html
    assert "\x03" not in html
    return rows


NASTY = [
    "<script>alert(1)</script>",
    "<SCRIPT\n>alert(1)</SCRIPT\n>",
    "<div>",
    "</div>",
    "</div></section></div><section><div>",
    "<div markdown>\n\n*text*",
    "<section markdown>\n\ntext",
    "</p></code></pre>",
    "<img src=x onerror=alert(1)>",
    '<img src="x" onerror="alert(1)">',
    "<foo>",
    "Returns <class 'x'> and <function f at 0x7f>",
    "<!-- code -->\n<script>alert(1)</script>\n<!-- /code -->",
    "<!-- code:1 -->\n<script>alert(1)</script>\n<!-- /code:1 -->",
    "<!-- /prose:1 -->\n\n</div></section><b>\n\n<!-- prose:1 -->",
    "<!-- /prose:\x021 -->\n<script>\n<!-- prose:\x021 -->",
    "<!-- /prose:\x031\t-->\n<script>\n<!-- prose:1\t-->",
    "<!-- sidebyside:7 -->\n<!-- code:7 -->\n<script></script>\n<!-- /code:7 -->",
    "<!-- a comment",
    "<!--",
    "-->",
    "<![CDATA[ x ]]>",
    "<?php echo 1 ?>",
    "<!DOCTYPE html>",
    "\x02wzxhzdk:0\x03 \x02klzzwxh:0\x03 \x02lt\x03script>",
    "\x02sbs-prose:0\x03",
    "x\n\n\x02sbs-prose:1\x03\n\ny",
    "{% raw %} {{ page }} {% include 'x' %} {# x #}",
    "{{ '<script>' }}",
    "text\n{: onclick=alert(1) }",
    "text\n{ onclick=alert(1) onmouseover='x' style='position:fixed' }",
    "text\n{ .wide onclick }",
    "*em*{ onclick=alert(1) }",
    "[x](y){ onclick=alert(1) href=javascript:alert(1) }",
    "![x](y){ onerror=alert(1) src=javascript:x }",
    "### Heading { onclick=alert(1) }",
    "### Heading { .wide open style='pos }",
    "- item\n{ onclick=x }",
    "| a |\n|---|\n| b { onclick=x } |",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x]( javascript:alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x](<java\nscript:alert(1)>)",
    "[x](&#106;avascript:alert(1))",
    "[x](javascript&#58;alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](java&Tab;script:alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](\u00a0javascript:alert(1))",
    "[x](javascript\\:alert(1))",
    "[x](vbscript:msgbox)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](data:text/html,x)",
    "[x][y]\n\n[y]: javascript:alert(1)",
    "[x] [y]\n\n[y]: <javascript:alert(1)> 'title'",
    "<javascript:alert(1)>",
    '<https://example.org/"onclick=alert(1)>',
    "<https://example.org/?a=1&b=2>",
    "[^1]\n\n[^1]: [x](javascript:alert(1)) <b onclick=x>",
    '[x](y "title\\" onclick=alert(1)")',
    "[x](y '\"><script>')",
    '![" onerror="alert(1)](x)',
    "`<script>`\n<script>\n`</script>`",
    "`code\n<div>\n</div>`",
    "`` ` <b> ``",
    "    <script>indented</script>",
    "- item\n\n    <script>in a list</script>\n\n        <b>code in a list",
    "1. <div>\n2. </section>",
    "```\nnever closed\n</div>",
    "~~~\nnever closed",
    "> ```\n> in a quotation",
    "````\n```\nwrong end\n```",
    "``` { .python onclick=alert(1) }\nx\n```",
    '``` { .python title="<b>" data-x="y" }\nx\n```',
    '```python title="\\"><script>"\nx\n```',
    '```{ .x #__search onmouseover="x" }\n<script>\n```',
    "```mermaid\n<script>\n```",
    "!!! note\n    never closed\n\n    ```\n    x",
    '!!! note "<script>"\n\n    </div>',
    '??? note "<b onclick=x>"\n    text',
    "> quotation\n> <div>",
    "# A second title\n\n## <b>\n\nSetext <i>\n=====",
    "Term <b>\n:   Definition <i>",
    "| <b> | </table> |\n|---|---|\n| <script> | `</td>` |",
    "Args:\n    x: <b>\n    y (<class 'x'>): </div>\n\nReturns:\n    <script>",
    "$<script>$ and $a<b$ and $\\text{<img src=x>}$ and $$</section>$$",
    "$\\href{javascript:alert(1)}{x}$ $\\url{javascript:x}$",
    "$\\htmlData{x=y}{z}$ $\\htmlId{a}{b}$ $\\includegraphics{x}$",
    "$\\frac{$ `$`",
    "<kbd>Ctrl</kbd> <sub>x</sub><br> <b>bold *and <i>* italic</i></b>",
    "<a href='javascript:alert(1)' onclick=x>x</a>",
    "<a href='javascript:alert(1)'>x</a> <a href='java&#10;script:x'>x</a>",
    '<b onclick="alert(1)">x</b> <span style="position: fixed">x</span>',
    '<p align="center">\n<img src="x.png" width="10">\n</p>',
    "<div><div></div>",
    "<kbd>never closed\n\nin this paragraph</kbd>",
    "<b" + " a" * 200 + ">x</b>",
    "[TOC]",
    '--8<-- "/etc/passwd"',
    "::: os.path",
    "&lt;script&gt; &#60;script&#62; &amp;lt;",
    "\\<script> \\\\<b>",
    "*" * 50 + "[" * 50 + "`" * 51,
    "> " * 60 + "deep",
    ">>> f('<script>')\n</div>\n```\n~~~\n>>> `````",
    "Parameters\n----------\n<b> : `</dd>`\n    </dl>\n\nReturns\n---\n<script>",
    ":param <b>: </dl>\n:type x: `<script>`\n:return:\n:rtype: {x}",
    ":class:`<script>` :ref:`<b> <javascript:x>` :meth:`~`",
    ".. note:: <script>\n   </div>\n\n   ```\n\n.. warning::\n   never closed ```",
    '.. admonition:: "<b onclick=x>"\n\n   .. image:: javascript:x\n      :alt: "<i>',
    "`x <javascript:alert(1)>`_ `<javascript:x>`_ `y`_\n\n.. _y: javascript:alert(1)",
    ".. math::\n\n   <script>$$</section>$$\n\n   \\href{javascript:x}{y}",
    ".. code-block:: python onclick=x\n\n   ```\n   </pre><script>\n\n::\n\n  <b>",
    "===  ===\n<b>  </td>\n===  ===\n|    \\|\n===  ===\n\n+--+--+\n|<b|>x|\n+--+--+",
    "".join(f"{' ' * n}.. note::\n\n" for n in range(60)) + " " * 60 + "<b>",
    ":sub:`<script>` :math:`$` :math:`</span><b>` :pep:`<b>` :file:`<x>` [<b>]_",
    "Note:\n    </div>\n    ```\n\nExample:\n    <script>\n    f('</pre>')\n\n    ~~~",
    "\\begin{align}<script> & </div>\n\\end{align}",
    '[x](game.py"onclick=x) [y]: <a.py \'x>\n\n[y]: ../../x.py "<b>"',
    "x\f<script>\v</script>\x85<b>\u2028<i>",
    "\N{RIGHT-TO-LEFT OVERRIDE}<script>",
]


def docstring(text):
    return '"""' + text.replace("\\", "\\\\").replace('"""', "'''") + '\n"""'


CODE = ["x = 0", "y = 1", "z = 2", "return 3", "w = 4", "v = 5"]


def placed(text):
    """The same text in each place where there can be prose."""
    lines = text.split("\n")
    return "\n".join(
        [
            docstring(f"sentinel0\n\n{text}"),
            "x = 0",
            "# sentinel1",
            "#",
            *(f"# {line}" for line in lines),
            "y = 1",
            "",
            "# sentinel2",
            "z = 2",
            "",
            "def f(x, y):",
            "    " + docstring(text).replace("\n", "\n    "),
            "    return 3",
            "",
            "class C:",
            "    " + docstring(f"## {lines[0]}"),
            "    w = 4",
            "",
            "# sentinel5",
            "v = 5",
            "",
        ]
    )


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_prose_stays_prose_and_in_its_place(text):
    if any(c in text for c in "\f\v\x85\u2028"):
        text = text.replace("\n", " ")
    rows = check(placed(text.replace("\0", "")))
    assert len(rows.rows) == 6
    for n in (0, 1, 2, 5):
        assert f"sentinel{n}" in rows.rows[n]
    for n, code in enumerate(CODE):
        assert code in rows.rows[n]


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_front_matter_is_text(text):
    meta = yaml.safe_dump({"title": text, "summary": text}, allow_unicode=False)
    check(docstring(f"---\n{meta}---\n\nText."))


def test_no_module_has_its_braces_run():
    """The plugin Macros would run them in every page that says so."""
    source = read(b'"""\n---\nrender_macros: true\n---\n"""\n', "m.py", "m")
    page = render(make(source, catalogue([source])), environment())
    assert "\nrender_macros: false\n" in page


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Of `a` and [b](c.py).\n\nMore.", "Of a and b."),
        ("# T\n\n**Of** all.", "Of all."),
        ("---\nsummary: Short.\n---\nOf all.", "Short."),
        ("---\ndescription: Its own.\n---\nOf all.", "Its own."),
        ("Words " * 60, "Words " * 49 + "Words…"),
        ("- a\n- b", ""),
        ("1. a\n2. b", ""),
        ("Of $x$.", ""),
        ("Args:\n    x: the x.", ""),
    ],
)
def test_what_others_are_told_about_a_page(text, said):
    source = read(f'"""\n{text}\n"""'.encode(), "m.py", "m")
    page = make(source, catalogue([source]), lambda error: None)
    assert description_of(page) == said
    assert ("\ndescription: " in render(page, TEMPLATES)) == bool(said)


def test_a_page_without_a_docstring_says_nothing_of_itself():
    source = read(b'def f():\n    """Of f."""\n', "m.py", "m")
    assert description_of(make(source, catalogue([source]))) == ""


def test_half_a_letter_in_the_front_matter_is_left_out():
    check(docstring('---\ntitle: "\\ud800 A"\nsummary: "B\\udfff"\n---\n\nText.'))


def shown(prose):
    """What a reader sees of some prose."""
    rows = check(f"r'''\n{prose}\n'''\n")
    return rows.rows[0]


@pytest.mark.parametrize(
    "text",
    [
        "Returns <class 'dict'>.",
        "a < b > c << d",
        "<foo> and </foo>",
        "<!-- a comment -->",
    ],
)
def test_html_is_shown_as_it_was_written(text):
    assert text in shown(text)
    assert text in shown(f"`{text}`")
    assert text in shown(f"```\n{text}\n```")
    assert text in shown(f"Example:\n\n    {text}")
    assert text in shown(f"- {text}")
    assert text in shown(f"## {text}")
    assert text in shown(f"| a |\n|---|\n| {text} |")


@pytest.mark.parametrize(
    "text",
    [
        '"{saved.name}_hook_{idx}"',
        "Produces\n{'a': 1}",
        "`a`{b} and {c}",
        "T_c = A^{a d0}*A{b}_{d0}",
        "n = a*b**c and d*e**f",
        "2*x**2 + 3*x**2 = 5*x**2",
        "a*(b + c)*d",
        "yc*10**ye",
        "2*x*y",
        "Order:\n[0]: first\n[1]: second",
        "call handlers[0](event)",
        "call handlers[0](event, value)",
        "and table[f](*args, **kwargs) with a[0][1](event)",
        "Calls f(*args, **kw) and g(*args, **kw).",
        "f(*args) and g(*args)",
        "tuple[*Ts], then list[*Ts]",
        "2*(a+b)*c and x*(y)",
        "Fixed in\n#123, #124 and\n  ##125",
        "#!/bin/sh",
        "??? why is this needed",
        "??? why\n\nThis is why.",
        "!!! careful",
        "[TOC]",
        "::: os.path",
    ],
)
def test_what_only_looks_like_markdown_is_shown_as_it_was_written(text):
    plain = " ".join(text.replace("`", "").split())
    assert plain in " ".join(shown(text).split())
    assert plain in shown(f"`{plain}`")


def test_a_box_far_above_its_text_takes_no_time():
    """Milliseconds, and not years."""
    html = html_of("!!! note" + 200 * "\n" + "    Body.")
    assert '<div class="admonition note">' in html
    for sign in ("{", "[", "*", "!", "?", " ", "#", "- ", "- #"):
        assert unguarded(guarded(20_000 * sign)) == 20_000 * sign
    check("# %% " + 50 * "{a} " + "x\ny = 1")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("*em*{ .wide }", '<em class="wide">em</em>'),
        ("_em_{ .wide }", '<em class="wide">em</em>'),
        ("the *n*th **P**art", "the <em>n</em>th <strong>P</strong>art"),
        ("中文**粗体**中文", "中文<strong>粗体</strong>中文"),
        ("See [it][dqn].\n\n[dqn]: target", 'See <a href="target">it</a>.'),
        ("Text.\n{: #here .wide }", '<p class="wide" id="here">Text.</p>'),
        ("Text.\n{ title=T }", '<p title="T">Text.</p>'),
        ("[a]\n\n[a]: x.md", '<a href="x.md">a</a>'),
        ("[a]\n\n[a]: #b", '<a href="#b">a</a>'),
        ("a[^1]\n\n[^1]: word", '<li id="fn:1">'),
        ("see[0](#a)", 'see<a href="#a">0</a>'),
        ("see [0](a)", 'see <a href="a">0</a>'),
        ("see [x](http://a/{id})", '<a href="http://a/{id}">x</a>'),
        ("see <http://[x>", "see <span>http://[x</span>"),
        ("??? note\n    Body.", '<details class="note">'),
        ("???+ note\n\n    Body.", '<details class="note" open="open">'),
        ('!!! note "Title"', '<p class="admonition-title">Title</p>'),
        ("#1\n\n# One\n\n#2", "<p>#1</p>\n<h1"),
        ("- #1\n- One", "<li>#1</li>"),
        ("1.  #1", "<li>#1</li>"),
        ("> #1", "<blockquote>\n<p>#1</p>"),
        ("!!! note\n    #1", "<p>#1</p>"),
        ("One\n:   #1", "<dd>#1</dd>"),
        ("- a\n\n    !!! note\n        Body.", '<div class="admonition note">'),
        ('see[0](a.md "Title")', '<a href="a.md" title="Title">0</a>'),
        ("(*First, then this*)", "(<em>First, then this</em>)"),
        ("*One, and [a](b.md), too.*", '<em>One, and <a href="b.md">a</a>, too.</em>'),
        ("(**bold**) and *a*(x)", "(<strong>bold</strong>) and <em>a</em>(x)"),
        ("**a**, *b* and (*c*)", "<strong>a</strong>, <em>b</em> and (<em>c</em>)"),
    ],
)
def test_what_is_markdown_stays_so(text, html):
    assert html in html_of(text)


def page_of(prose):
    source = read(f"r'''\n{prose}\n'''\n".encode(), "book/m.py", "book.m")
    text = render(make(source, catalogue([source])), environment())
    return text.rpartition("\n---\n")[2]


def html_of(prose):
    return Markdown(extensions=[*EXTENSIONS]).convert(page_of(prose))


def test_a_few_tags_are_honoured():
    html = html_of("<kbd>Ctrl</kbd>+<kbd>C</kbd> and x<sub>*i*</sub><br>\nnext")
    assert "<kbd>Ctrl</kbd>+<kbd>C</kbd> and x<sub><em>i</em></sub><br" in html


def test_html_that_is_finished_keeps_all_but_what_does_harm():
    text = "it&#39;s &lt; 3"
    found = disarmed(
        f'<pre onclick="x()" class="a &amp; b">{text}<br/>'
        '<a href="javascript:x">y</a></pre>'
    )
    assert found == f'<pre class="a &amp; b">{text}<br><a>y</a></pre>'


def test_harmless_attributes_are_kept():
    html = html_of("![x](y.png){ width=10 .wide } [a](b.md){ title=T }\n{ #here }")
    assert '<a href="b.md" title="T">a</a>' in html
    assert '<p id="here">' in html


def test_a_picture_that_has_lost_its_address_is_its_words():
    html = html_of("See ![a picture](javascript:x).")
    assert "See <span>a picture</span>." in html


def test_a_style_says_how_columns_are_aligned_and_no_more():
    assert "style=" in html_of("| a |\n|:-:|\n| b |")
    style = "text-align: left; position: fixed;"
    assert "style=" not in html_of(f"Text.\n{{ style='{style}' }}")
    assert disarmed(f'<p style="{style}">') == "<p>"


def test_ordinary_links_are_kept():
    html = html_of(
        "[a](https://x.org/?a=1&b=2#c) [b](x.md) [c](#d) [m](mailto:a@b.c) "
        "<https://y.org/?a=1&b=2> [p](a/b:c) [q](?x=a:b)"
    )
    for address in (
        "https://x.org/?a=1&amp;b=2#c",
        "x.md",
        "#d",
        "mailto:a@b.c",
        "https://y.org/?a=1&amp;b=2",
        "a/b:c",
        "?x=a:b",
    ):
        assert f'href="{address}"' in html


def test_an_address_in_angle_brackets_is_one():
    html = html_of(
        "[a](<https://x.org/b c>) [d](<e(f>) [g] `[h](<i>)` ![p](<q r.png>)\n\n"
        "[j](<javascript:x>)\n\n[g]: <https://y.org>\n"
    )
    for address in ("https://x.org/b%20c", "e%28f", "https://y.org"):
        assert f'href="{address}"' in html
    assert 'src="q%20r.png"' in html
    assert "<code>[h](&lt;i&gt;)</code>" in html
    assert "<span>j</span>" in html


@pytest.mark.parametrize(
    "info",
    [
        "{code-cell} python",
        "{code-block} python",
        "rust,no_run",
        "python, ignore",
        'python linenums="1" foo',
        "console $ x",
        "{.python .x y=z}",
        "python",
        "",
    ],
)
def test_a_fence_of_another_engine_is_a_fence(info):
    html = html_of(f"```{info}\n# one\n```\n\n## Two\n\n```\nthree\n```\n\nFour.")
    assert ">Two</h2>" in html
    assert html.count("<pre") == html.count("</pre>") == 2
    assert "<p>Four.</p>" in html


def test_three_backticks_on_both_sides_are_code_in_a_line():
    html = html_of("```None``` is cold, $x$.\n\n## Two\n\n```\nthree\n```\n\nFour.")
    assert "<code>None</code> is cold" in html
    assert html.count("<sbs-math") == html.count("<pre") == 1
    assert "<p>Four.</p>" in html


def test_by_hand_a_fence_stays_what_it_was():
    markdown = Markdown(extensions=[*EXTENSIONS])
    before = markdown.convert("```rust,no_run\nx\n```")
    text = page_of("```rust,no_run\nx\n```")
    assert "<pre>" in markdown.convert(text)
    markdown.reset()
    assert markdown.convert("```rust,no_run\nx\n```") == before


def test_tags_may_stand_in_each_other():
    html = html_of('<a href="x.md"><b>bold</b> *link*</a> <q>a <i>b</i> c</q>')
    assert '<a href="x.md"><b>bold</b> <em>link</em></a>' in html
    assert "<q>a <i>b</i> c</q>" in html


def test_a_paragraph_that_is_a_tag_is_one():
    html = html_of('<p align="center"><kbd>K</kbd></p>\n\n<div>d</div>\n\n<p>a</p> b')
    assert '<p align="center"><kbd>K</kbd></p>' in html
    assert "<p><p align" not in html
    assert "<p><div" not in html


def test_headings_in_any_alphabet_have_their_anchors():
    html = html_of("# \u00dcbung\n\nText.")
    assert '<h1 id="\u00fcbung">\u00dcbung</h1>' in html


def test_tabs_in_code_are_tabs():
    code = 'def f(x):\n\tif x:\n\t\ty = "a\tb"\n\t\treturn y\t# c\n'
    rows = check(f'"""# Tabs"""\n{code}')
    assert code in "".join(rows.rows)


def test_braces_in_a_heading_leave_its_anchor_alone():
    assert '<h2 id="the-set-a-b">The set {a, b}' in html_of("## The set {a, b}")


CONFIG = """
site_name: Small
use_directory_urls: false
theme: {name: material, font: false}
plugins: [search, sidebyside: {packages: [book]}]
markdown_extensions:
  - footnotes
  - toc: {permalink: true}
  - pymdownx.details
  - pymdownx.highlight
  - pymdownx.snippets
  - pymdownx.superfences
"""


def test_prose_stays_prose_in_a_site(tmp_path):
    (tmp_path / "mkdocs.yml").write_text(CONFIG)
    (tmp_path / "docs").mkdir()
    by_hand = '# Home\n\n<div onclick="x()">\n<custom-tag></custom-tag>\n</div>\n'
    (tmp_path / "docs" / "index.md").write_text(by_hand)
    (tmp_path / "book").mkdir()
    nowhere = re.compile(r"\]\s?\[|\\frac\{\$|href|htmlId|\\text")
    texts = [text for text in NASTY if not nowhere.search(text)]
    for n, text in enumerate(texts):
        meta = yaml.safe_dump({"title": text, "summary": text}, allow_unicode=False)
        program = docstring(f"---\n{meta}---\n\nText.") + "\n" + placed(text)
        (tmp_path / "book" / f"n{n}.py").write_bytes(program.encode())
    done = build(tmp_path, "--quiet", strict=False)
    assert done.returncode == 0, done.stderr
    home = (tmp_path / "site" / "index.html").read_text()
    for n, text in enumerate(texts):
        html = (tmp_path / "site" / "book" / f"n{n}.html").read_text()
        article = re.search(r'<div class="sbs">.*(?=</article>)', html, re.DOTALL)
        assert article, text
        body = article[0].partition('<aside class="md-source-file"')[0]
        body, _, footnotes = body.partition('<div class="footnote">')
        rows = Rows(body.rstrip())
        assert rows.wrong == [], text
        assert all(code in "".join(rows.rows) for code in CODE), text
        assert "javascript:" not in footnotes
        whole = [w for w in Rows(html).wrong if re.match("on|.*script:", w)]
        assert whole == [], text
        scripts = html.count("<script") - html.count("Main-Letters")
        assert scripts == home.count("<script"), text
    assert '<div onclick="x()">' in home, "pages written by hand are left alone"
    assert "<custom-tag>" in home


# ---- Any program


@pytest.mark.parametrize("name", PROGRAMS)
def test_any_program(name):
    check(PROGRAMS[name])


@pytest.mark.parametrize("version", NEW_PROGRAMS)
def test_newer_programs(version):
    if sys.version_info < version:
        pytest.skip("this Python can't read it")
    check(NEW_PROGRAMS[version])


@pytest.mark.parametrize(
    "program",
    [
        "x = " + "(" * 10_000 + ")" * 10_000,
        "x = " + "-" * 100_000 + "1",
        "x = " + "a." * 100_000 + "b",
        "x = " + "+".join("a" * 100_000),
        "def f(x: " + "a." * 100_000 + "b): pass",
        "if a: pass\n" + "elif b: pass\n" * 20_000,
        "x = f" + "()" * 100_000,
    ],
    ids=range(7),
)
def test_what_is_nested_too_deeply_is_refused_in_words(program):
    try:
        convert(program)
    except PressError as error:
        message = str(error)
        assert message.startswith("module.py:1: ")
        assert "nested" in message or "not Python" in message


def work(program):
    """The number of lines of Python that run on the way to a page."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    source_code = program.encode()
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        source = read(source_code, "m.py", "m")
        page = make(source, catalogue([source]))
        render(page, TEMPLATES)
    finally:
        sys.settrace(before)
    return count


def module_of(size):
    """A module of about as many lines."""
    part = (
        "class C{n}:\n    '''Text {n} with $x$ and [C{n}.f][].\n    '''\n\n"
        "    def f(self, a):\n        '''Same.\n\n        Args:\n            a: it.\n"
        "        '''\n        # Add one to it.\n        return a + 1\n\n\n"
    )
    return "import os\n" + "".join(part.format(n=n) for n in range(size // 14))


def test_work_grows_with_the_length_of_a_file():
    work(module_of(140))  # fills the caches
    small, large = work(module_of(1400)), work(module_of(5600))
    assert large < 4.4 * small


def test_twenty_thousand_lines():
    source = read(module_of(20_000).encode(), "m.py", "m")
    text = render(make(source, catalogue([source])), TEMPLATES)
    assert text.count('<section class="sbs-row"') > 4_000


# ---- Other people's programs

SECONDS = int(os.environ.get("SBS_SECONDS", "5"))
LIBRARY = [
    path
    for path in Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")
    if not {"lib2to3", "site-packages"} & set(path.parts)
]
INSTALLED = [*Path(sysconfig.get_paths()["purelib"]).rglob("*.py")]


@pytest.mark.parametrize("files", [LIBRARY, INSTALLED], ids=["library", "installed"])
def test_other_peoples_modules(files):
    """As many as there is time for, others on each day; the message names the file."""
    seed = os.environ.get("SBS_SEED") or str(date.today())
    print(f"to see the same again: SBS_SEED={seed}")
    chosen = random.Random(seed).sample(sorted(files), min(len(files), 300))
    end = time.monotonic() + SECONDS
    done = 0
    for path in chosen:
        if time.monotonic() > end and done > 3:
            break
        data = path.read_bytes()
        if len(data) > 100_000:
            continue
        try:
            source = read(data, str(path), path.stem)
        except PressError:
            with pytest.raises((SyntaxError, ValueError)):
                compile(data, path.name, "exec")
            continue
        page = make(source, catalogue([source]), lambda error: None)
        rows = Rows(standalone(page, TEMPLATES, path.parent, path.parent))
        assert rows.wrong == [], path
        assert len(rows.rows) == len(page.rows), path
        done += 1
    assert done > 3


CANARY = "<canary onclick=x>"
PIECES = st.sampled_from(
    [
        *(f"{before}{CANARY}{after}" for before, after in [
            ("", ""), ("`", "`"), ("`", ""), ("```", ""), ("$", "$"), ("**", "**"),
            ("[", "](x)"), ("[x](", ")"), ('[x](y "', '")'), ("![", "](x)"),
            ("<!-- ", " -->"), ("<div>", "</div>"), ("<a href='", "'>"), ("# ", ""),
            ("- ", ""), ("> ", ""), ("| ", " |"), ("    ", ""), ("!!! note \"", '"'),
            ("[^1]: ", ""), ("[x]: ", ""), ("{ title='", "' }"), ("&lt;", "&gt;"),
            ("\\", "\\"), ("<b title=\"", '">x</b>'), ("\x02", "\x03"), ("<", ">"),
        ]),
        "```", "~~~", "", "    ", "text", "</div>", "<div markdown>", "$$", "`", "- a",
        "[^1] [x]", "{ onclick=x }", "<!--", "-->", "<!-- code:1 -->", "=====", "---",
        "<!-- /prose:1 -->", "|---|", "Args:", "    x: y", "<b>", "</b>",
        "<kbd title='",
    ]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(PIECES, max_size=6), min_size=1, max_size=4))
@example([["    x: y", "~~~", CANARY, "~~~"]])
def test_no_piece_of_source_becomes_an_element(blocks):
    parts = []
    for n, lines in enumerate(blocks):
        text = "\n".join(lines)
        indented = docstring(f"{text}\n").replace("\n", "\n    ")
        parts += [f"def f{n}(x):\n    {indented}\n    return {CANARY!r}  # {CANARY}\n"]
        parts += [f"# {line}" for line in lines] + [f"v{n} = f{n}  # {CANARY}\n"]
    rows = check("\n".join(parts))
    assert all(f"v{n} = f{n}" in "".join(rows.rows) for n in range(len(blocks)))


def test_no_heading_and_no_mistake_forges_a_mark():
    text = b'"""\n---\ntitle: A :1 -->\n---\n\n# T :2 -->\n"""\n'
    source = read(text, "m.py", "m")
    assert "sidebyside:3 " in render(make(source, catalogue([source])), TEMPLATES)
    error = PressError("m.py", 1, "a link to `<!-- /prose:1 -->`", "Did you?")
    assert "<!-- sidebyside:2 -->" in render_error(error, TEMPLATES)


def test_no_element_that_an_extension_makes_runs_anything():
    markdown = Markdown(extensions=[*EXTENSIONS, "pymdownx.blocks.html"])
    html = markdown.convert(page_of("/// html | script\nx()\n///"))
    assert "<span>x()</span>" in html


@pytest.mark.parametrize("sign", ["m", "&#109;"])
def test_no_class_of_the_theme_covers_the_page(sign):
    html = html_of(f'<a class="a {sign}d-consent__overlay" href="b.md">b</a>')
    assert '<a href="b.md">b</a>' in html
    assert 'class="md-button"' in html_of("[b](c.md){ .md-button }")


def test_no_id_is_one_of_the_themes_switches():
    assert "<b>x</b>" in html_of('<b id="&#95;_search">x</b>')


def test_no_mistake_gives_orders_to_a_terminal():
    error = PressError("m.py", 1, "a\x1bc", "Mend it.")
    assert str(error) == "m.py:1: a\\x1bc. Mend it."


def test_what_does_no_harm_is_kept():
    assert "text-align: center;" in html_of("| a |\n|:-:|\n| b |")
    assert disarmed('<td colspan="2">a</td>') == '<td colspan="2">a</td>'
    assert 'href="tel:+1"' in html_of("[call](tel:+1)")
    assert "<wbr" in html_of("A<wbr>b")
    assert lookalike('"a" <b> &amp;') == "”a” ‹b› ＆amp;"
