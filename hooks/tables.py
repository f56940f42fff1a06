"""
A long name in a table breaks between its words and not within one. A number stays with
its error, and a range stays in one piece. Columns of numbers are aligned by their
digits. And in the text, a short piece of code that is one word or one shape stays
whole.
"""

import re
from typing import Any

CODE = re.compile(r"(?<=<code>)[^<]{17,}(?=</code>)")
# After a sign within a name or a path, and here and there in the hash of a commit.
BREAK = re.compile(r"(?<=\w)[_./](?=[A-Za-z])|[0-9a-f]{10}(?=[0-9a-f]{10})")
# From one number to another.
RANGE = re.compile(r"[−+]?\d[\d,.]*%?–[−+]?\d[\d,.]*%?")
ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
CELL = re.compile(
    r"<(?P<kind>t[dh])(?P<how>[^>]*)>(?P<words>.*?)</(?P=kind)>", re.DOTALL
)
# It may have an error or a range after it, or be one of several, each of another seed.
NUMBER = re.compile(
    r"[−+]?\d[\d,.]*%?(?:(?: / [−+]?\d[\d,.]*)+|(?:&nbsp;±| ?\().*)?|–?"
)
TAIL = re.compile(r"(?:&nbsp;±| ?\().*")
# Blanks as wide as a digit and as a point.
WIDE, NARROW = "\N{FIGURE SPACE}", "\N{PUNCTUATION SPACE}"
# Tables, and code in a line of text. Code in a block is left alone.
PIECE = re.compile(
    r"<pre.*?</pre>|(?P<table><table>.*?</table>)|<code>(?P<code>[^<]+)</code>",
    re.DOTALL,
)
SHAPE = re.compile(r"\(\S+(?: \S+)+")
# `--num-envs` and `labml-rl` would break after each hyphen.
HYPHENED = re.compile(r"(?<!\S)(?=\S*-\w)\S{3,24}(?!\S)")


# What became of each page, in this build and in the one before. A server makes the site
# again and again, and only one of its pages has changed.
NOW: dict[str, str] = {}
BEFORE: dict[str, str] = {}


def on_pre_build(**_: Any) -> None:
    """Forget what pages were two builds ago."""
    BEFORE.clear()
    BEFORE.update(NOW)
    NOW.clear()


def on_page_content(html: str, **_: Any) -> str:
    """Mark where the words of a page may break."""
    if html not in NOW:
        NOW[html] = BEFORE[html] if html in BEFORE else broken(html)
    return NOW[html]


def broken(html: str) -> str:
    """
    Mark where the names in tables may break, and where numbers may not. A browser
    breaks a word anywhere if it is told to, and nowhere if it is not.
    """

    def marked(piece: re.Match[str]) -> str:
        if table := piece["table"]:
            cells = table.replace(" ± ", "&nbsp;±&nbsp;")
            cells = RANGE.sub(r'<span class="book-range">\g<0></span>', cells)
            cells = CODE.sub(lambda code: BREAK.sub(r"\g<0><wbr>", code[0]), cells)
            return aligned(cells)
        code = piece["code"]
        if not code:
            return piece[0]
        if len(code) <= 12 and SHAPE.fullmatch(code):
            return f'<code class="book-word">{code}</code>'
        words = HYPHENED.sub(r'<span class="book-word">\g<0></span>', code)
        return f"<code>{words}</code>"

    return PIECE.sub(marked, html)


def aligned(table: str) -> str:
    """
    Move numbers to the right, so that their digits line up.

    Args:
        table: its HTML.
    """
    rows = [CELL.findall(row) for row in ROW.findall(table)]
    # How many digits and points follow a number at most, in each column of numbers.
    most: dict[int, tuple[int, int]] = {}
    for number, cells in enumerate(zip(*rows[1:], strict=False)):
        column = [words.strip() for _, _, words in cells]
        if all(NUMBER.fullmatch(words) for words in column):
            digits, points = zip(*map(size_of_tail, column), strict=True)
            most[number] = max(digits), max(points)

    def moved(row: re.Match[str]) -> str:
        cells = iter(range(len(rows[0])))

        def cell(match: re.Match[str]) -> str:
            number = next(cells, -1)
            if number not in most:
                return match[0]
            kind, how, words = match.groups()
            if kind == "td" and TAIL.search(words):
                digits, points = size_of_tail(words)
                words += WIDE * (most[number][0] - digits)
                words += NARROW * (most[number][1] - points)
            return f'<{kind}{how} style="text-align: right">{words}</{kind}>'

        return CELL.sub(cell, row[0])

    return ROW.sub(moved, table) if most else table


def size_of_tail(words: str) -> tuple[int, int]:
    """
    How many digits there are in the error or the range after a number, and how many
    points or commas.

    Args:
        words: what is in its cell.
    """
    tail = TAIL.search(re.sub(r"<[^>]*>", "", words))
    text = tail[0] if tail else ""
    return len(re.findall(r"\d", text)), len(re.findall(r"[,.](?=\d)", text))
