r"""
---
title: Mathematics
summary: Finding formulas in prose, and setting them at build time.
---

# Mathematics

Formulas are set when the site is built, by KaTeX running inside an embedded JavaScript
engine. The reader's browser runs no script for them and asks no other host for one, a
screen reader gets MathML, and a formula with a mistake stops the build instead of
turning red on the page.

Two dollar signs make a formula by Pandoc's rules, which tell $x$ from "costs $5 or $6":
no space just inside them, no digit after them, no blank line between them. No letter
may follow them either, as in `$HOME/$USER`, except for an ending such as that of the
$n$th. And ordinary comments mention `$PATH` and `^foo$`. So these are not formulas
either:

- two words next to each other, unless they are in braces or come with a command such as
  `\in`: nobody means "`$BAR, or lines with ^foo$`" as mathematics;
- what a version control system writes, such as `$Id$`;
- what begins outside code and ends inside it, as in "costs $5 in `${CURRENCY}`".

`sidebyside check` has a rule, [SBS205][sidebyside.check.rules.dollars], that reports
the first of these, in case it was meant as a formula: words in a formula need
`\text{…}`. Inside that, dollars make formulas again, as in $a_{\text{if $b$}}$.

Each formula is set by itself. A command that it defines, with `\def` or `\newcommand`,
is unknown in all others. `\tag{1}` gives it a number, but `\label` and `\eqref` are
unknown: to be linked to, it needs a heading above it.
"""

import re
import threading
from collections.abc import Callable, Iterator
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import NamedTuple

import quickjs

from sidebyside.prose import CODE

# What comes after the second dollar must match this.
BEHIND = r"(?!\$|(?!(?:st|nd|rd|th)\b)\w)"
KATEX = files("sidebyside") / "assets" / "katex" / "katex.min.js"

# Words in a formula, which may have formulas in them. `(?>…)` takes each as a whole:
# trying it in two ways would take for ever if there were many.
TEXT = r"\\(?:text(?:rm|bf|it)?|mbox)\{(?:[^{}\n]|\{[^{}\n]*\}|\n(?!\s*\n))*\}"

# Every match begins with one of a few characters, so most letters need not be looked at
# twice.
PATTERN = re.compile(
    rf"(?=[\\`~>$]|^[ ])(?:{CODE}"
    rf"""
    | \\\$
    | ^[ >]*(?P<rows>\\begin\{{(?P<name>(?:align|alignat|equation|gather)\*?)\}}
      (?>{TEXT}|[^$\n]|\n(?!\s*\n))*?\\end\{{(?P=name)\}})[ ]*$
    | \$\$(?P<display>(?>{TEXT}|[^$\\\n]|\\.|\n(?!\s*\n))+?)\$\$
    | \$(?![\s$])(?P<inline>(?>{TEXT}|[^$\\\n`]|\\[^\n]|\n(?!\s*\n))+?)(?<!\s)\$
    {BEHIND})
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
QUOTE = re.compile(r"[ >]*")
DOLLARS = re.compile(r"\$\$")
BRACES = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")
WORDS = re.compile(r"(?<![A-Za-z])[A-Za-z]{2,}[,.;:)]*\s+\(?[A-Za-z]{2}")
ANNOTATION = re.compile(r"<annotation .*?</annotation>", re.DOTALL)
NAMED = re.compile(
    r"\{\\htmlData\{sbs=[^}]*\}(\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})\}"
)
COMMAND = re.compile(r"\\[A-Za-z]{2}")
KEYWORD = re.compile("(?:Author|Date|Header|HeadURL|Id|RCSfile|Revision)(?::.*)?")


class Formula(NamedTuple):
    """
    ## A formula in a text

    Args:
        start: where it begins, in characters, its dollars included.
        stop: where it ends.
        tex: the text between the dollars.
        display: whether it has a line to itself.
    """

    start: int
    stop: int
    tex: str
    display: bool


class FormulaError(ValueError):
    """A formula that KaTeX can't set, with KaTeX's own explanation."""


@lru_cache(maxsize=8)
def find(text: str) -> tuple[Formula, ...]:
    r"""
    ## Finding them

    Returns the formulas of a Markdown text, in order. Those in code do not count.
    Anything between `\begin{align}` and `\end{align}` needs no dollars. Its rows get no
    numbers, since nothing refers to them.

    Several stages ask for those of the same text one after another, so the last few
    texts are remembered.
    """
    if "$" not in text and "\\begin{" not in text:
        return ()
    found: list[Formula] = []
    for match, words in scanned(text):
        if words:
            continue
        if match["rows"]:
            name = match["name"]
            tex = match["rows"].replace(f"{{{name}}}", f"{{{name.rstrip('*')}*}}")
            found.append(Formula(*match.span("rows"), unquoted(match, tex), True))
        elif tex := match["display"] or match["inline"]:
            start, stop = match.span()
            tex = unquoted(match, tex).strip()
            found.append(Formula(start, stop, tex, match["display"] is not None))
    return tuple(found)


def in_formulas(text: str) -> Callable[[int], bool]:
    """
    In a formula, what looks like a link, such as `[x]_` or `[t][n]`, is not one.

    Args:
        text: some Markdown.

    Returns:
        A function that says whether a place in the text, in characters, is within a
        formula.
    """

    # Most texts have nothing that looks like a link. Nobody asks about these, so they
    # are not searched for formulas.
    @cache
    def formulas() -> list[range]:
        return [range(each.start, each.stop) for each in find(text)]

    return lambda at: any(at in each for each in formulas())


def unquoted(match: re.Match[str], tex: str) -> str:
    """A formula without the marks of the quotation that it is in."""
    if "\n" not in tex or ">" not in tex:
        return tex
    first = match.string.rfind("\n", 0, match.start()) + 1
    quote = QUOTE.match(match.string, first)
    # After as many marks as the first line has, a `>` belongs to the formula.
    deep = quote[0].count(">") if quote else 0
    return re.sub(rf"\n(?: *>){{1,{deep}}}", "\n", tex) if deep else tex


def scanned(text: str) -> Iterator[tuple[re.Match[str], bool]]:
    """
    ### And leaving words alone

    Yields what the pattern finds, formulas and code, and whether each is only words
    between dollars. If it is, the second dollar may yet begin a formula.
    """
    at = 0
    while match := PATTERN.search(text, at):
        words = is_words(match["inline"] or "")
        yield match, words
        at = match.start() + 1 if words else match.end()


def is_words(tex: str) -> bool:
    """Whether the text between two dollars is not a formula."""
    if " " in tex or "\n" in tex:
        if WORDS.search(tex) and not COMMAND.search(tex):
            return bool(WORDS.search(BRACES.sub("{}", tex)))
        return ": " in tex and bool(KEYWORD.fullmatch(tex))
    return tex[:1].isupper() and bool(KEYWORD.fullmatch(tex))


def continued(text: str) -> set[int]:
    """
    ## Formulas of several lines

    In a formula, a line that begins with a minus is not a list item, and must not be
    taken for one.

    Args:
        text: a Markdown text.

    Returns:
        The lines on which a formula continues, counted from 0.
    """
    lines: set[int] = set()
    for formula in find(text):
        first = text.count("\n", 0, formula.start)
        more = text.count("\n", formula.start, formula.stop)
        lines.update(range(first + 1, first + more + 1))
    return lines


def unpaired(text: str) -> Iterator[int]:
    """
    ## Dollars without a formula

    Yields the place of each `$$` that is neither in a formula nor in code. A blank line
    or a single dollar between two of them keeps them apart. A single dollar is yielded
    only if it is one of two with words between them.
    """
    end = 0
    for match, words in scanned(text):
        if words and WORDS.search(match["inline"]):
            yield match.start()
        if not words:
            upto = match.start() + 1
            yield from (m.start() for m in DOLLARS.finditer(text, end, upto))
            end = match.end()
    yield from (m.start() for m in DOLLARS.finditer(text, end))


LONGEST, LARGEST = 10, 512 << 20  # seconds for a formula, and bytes


class Engine(threading.local):
    """
    ## The engine

    KaTeX takes 20 milliseconds to load and a few to set a formula, so it is loaded
    once, and only if there is a formula at all. QuickJS wants a context to stay in the
    thread that made it, which `threading.local` sees to.
    """

    @cached_property
    def render(self) -> Callable[[str, bool], str]:
        """KaTeX, as a function of the formula and whether it is displayed."""
        context = quickjs.Context()
        # With a single line, TeX can ask for more than a computer has.
        context.set_time_limit(LONGEST)
        context.set_memory_limit(LARGEST)
        context.eval(KATEX.read_text(encoding="utf-8"))
        context.eval(
            "const trust = ({command, attributes}) => command === '\\\\htmlData'"
            "  && Object.keys(attributes).every(name => name === 'data-sbs');"
            "function render(tex, displayMode) {"
            "  const options = {displayMode, trust, strict: 'ignore', maxSize: 50};"
            # KaTeX builds its HTML piece by piece. The engine hands out only what has
            # been joined into one string.
            "  return [katex.renderToString(tex, options)].join('');"
            "}"
        )
        render: Callable[[str, bool], str] = context.get("render")
        return render


engine = Engine()


@cache
def typeset(tex: str, display: bool) -> str:
    """
    ## Setting one

    Args:
        tex: the formula, without dollars.
        display: whether it has a line to itself.

    Returns:
        HTML for the eye and MathML for the ear, in one element that search leaves out.

    Raises:
        FormulaError: if KaTeX does not understand it.
    """
    try:
        html = engine.render(tex, display)
    except quickjs.JSException as error:
        raise FormulaError(str(error).splitlines()[0]) from None
    html = ANNOTATION.sub(lambda match: without_names(match[0]), html)
    kind = ' class="display"' if display else ""
    # Material's search drops the element that carries this attribute, but takes the
    # first closing tag *of the same name* for its end. KaTeX writes nested spans by the
    # dozen; an element of our own can't be mistaken for one of them. And a browser that
    # translates a page would take letters in formulas for words.
    return f'<sbs-math{kind} translate="no" data-search-exclude>{html}</sbs-math>'


def without_names(tex: str) -> str:
    r"""
    ### To be copied

    Readers can copy the TeX of each formula. The names of its symbols are for the page
    alone: `{\htmlData{sbs=rewards}{r_t}}` becomes `{r_t}` again.
    """
    while tex != (bare := NAMED.sub(r"\1", tex)):
        tex = bare
    return tex
