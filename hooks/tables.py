"""
A long name in a table breaks between its words and not within one. A number stays with
its error, and a range in one piece. Columns of numbers are aligned where their digits
are.
"""

import re
from typing import Any

TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
CODE = re.compile(r"(?<=<code>)[^<]+(?=</code>)")
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


def on_page_content(html: str, **_: Any) -> str:
    """
    Mark where the names in tables may break, and where numbers may not. A browser
    breaks a word anywhere if it is told to, and nowhere if it is not.
    """

    def marked(table: re.Match[str]) -> str:
        cells = table[0].replace(" ± ", "&nbsp;±&nbsp;")
        cells = RANGE.sub(r'<span class="book-range">\g<0></span>', cells)
        cells = CODE.sub(lambda code: BREAK.sub(r"\g<0><wbr>", code[0]), cells)
        return aligned(cells)

    return TABLE.sub(marked, html)


def aligned(table: str) -> str:
    """
    Move numbers to the right, so that their digits stand below each other.

    Args:
        table: its HTML.
    """
    rows = [CELL.findall(row) for row in ROW.findall(table)]
    numbers = {
        number
        for number, column in enumerate(zip(*rows[1:], strict=False))
        if all(NUMBER.fullmatch(words.strip()) for _, _, words in column)
    }

    def moved(row: re.Match[str]) -> str:
        cells = iter(range(len(rows[0])))

        def cell(match: re.Match[str]) -> str:
            if next(cells, None) not in numbers:
                return match[0]
            kind, how, words = match.groups()
            return f'<{kind}{how} style="text-align: right">{words}</{kind}>'

        return CELL.sub(cell, row[0])

    return ROW.sub(moved, table) if numbers else table
