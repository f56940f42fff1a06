"""
A long name in a table breaks between its words and not within one. A number stays with
its error, and a range in one piece. Columns of numbers are aligned where their digits
are. And in the text, a short piece of code that is one word or one shape stays whole.
"""

import re
from typing import Any

TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
CODE = re.compile(r"(?<=<code>)[^<]{17,}(?=</code>)")
# Behind a sign within a name or a path, and at times in the long number of a commit.
BREAK = re.compile(r"(?<=\w)[_./](?=[A-Za-z])|[0-9a-f]{10}(?=[0-9a-f]{10})")
# From one number to another.
RANGE = re.compile(r"[−+]?\d[\d,.]*%?–[−+]?\d[\d,.]*%?")
ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
CELL = re.compile(
    r"<(?P<kind>t[dh])(?P<how>[^>]*)>(?P<words>.*?)</(?P=kind)>", re.DOTALL
)
# Perhaps with an error or a range behind it.
NUMBER = re.compile(r"[−+]?\d[\d,.]*%?(?:(?:&nbsp;±| ?\().*)?|–?")
TAIL = re.compile(r"(?:&nbsp;±| ?\().*")
# Blanks as wide as a digit and as a point.
WIDE, NARROW = "\N{FIGURE SPACE}", "\N{PUNCTUATION SPACE}"
# Code in a line, and what is none.
INLINE = re.compile(r"<pre.*?</pre>|<table>.*?</table>|<code>([^<]+)</code>", re.DOTALL)
SHAPE = re.compile(r"\(\S+(?: \S+)+")
# `--num-envs` and `labml-rl` would break behind each hyphen.
HYPHENED = re.compile(r"(?<!\S)(?=\S*-\w)\S{3,24}(?!\S)")


def on_page_content(html: str, **_: Any) -> str:
    """
    Mark where the names in tables may break, and where numbers may not. A browser
    breaks a word anywhere if it is told to, and nowhere if it is not.
    """

    def whole(found: re.Match[str]) -> str:
        code = found[1]
        if not code:
            return found[0]
        if len(code) <= 12 and SHAPE.fullmatch(code):
            return f'<code class="book-word">{code}</code>'
        words = HYPHENED.sub(r'<span class="book-word">\g<0></span>', code)
        return f"<code>{words}</code>"

    def marked(table: re.Match[str]) -> str:
        cells = table[0].replace(" ± ", "&nbsp;±&nbsp;")
        cells = RANGE.sub(r'<span class="book-range">\g<0></span>', cells)
        cells = CODE.sub(lambda code: BREAK.sub(r"\g<0><wbr>", code[0]), cells)
        return aligned(cells)

    return INLINE.sub(whole, TABLE.sub(marked, html))


def aligned(table: str) -> str:
    """
    Move numbers to the right, so that their digits stand below each other.

    Args:
        table: its HTML.
    """
    rows = [CELL.findall(row) for row in ROW.findall(table)]
    columns = [
        [words for _, _, words in column] for column in zip(*rows[1:], strict=False)
    ]
    numbers = {
        number
        for number, column in enumerate(columns)
        if all(NUMBER.fullmatch(words.strip()) for words in column)
    }

    def moved(row: re.Match[str]) -> str:
        cells = iter(range(len(rows[0])))

        def cell(match: re.Match[str]) -> str:
            number = next(cells, -1)
            if number not in numbers:
                return match[0]
            kind, how, words = match.groups()
            if kind == "td" and TAIL.search(words):
                words += missing(words, columns[number])
            return f'<{kind}{how} style="text-align: right">{words}</{kind}>'

        return CELL.sub(cell, row[0])

    return ROW.sub(moved, table) if numbers else table


def missing(words: str, column: list[str]) -> str:
    """
    What a number with an error or a range lacks behind it to stand below the others.

    Args:
        words: what is in its cell.
        column: what is in all cells of its column.
    """

    def size(cell: str) -> tuple[int, int]:
        tail = TAIL.search(re.sub(r"<[^>]*>", "", cell))
        text = tail[0] if tail else ""
        return len(re.findall(r"\d", text)), len(re.findall(r"[,.](?=\d)", text))

    digits, points = size(words)
    digits = max(size(cell)[0] for cell in column) - digits
    points = max(size(cell)[1] for cell in column) - points
    return WIDE * digits + NARROW * points
