"""Formulas in prose: where they are, and how they are set."""

import pytest
from markdown import Markdown

from sidebyside.catalogue import catalogue
from sidebyside.errors import PressError
from sidebyside.mathematics import FormulaError, find, typeset
from sidebyside.read import read
from sidebyside.weave import weave


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
