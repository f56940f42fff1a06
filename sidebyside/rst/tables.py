"""
---
title: Tables
summary: Tables that were drawn with signs, or written as lists or values.
---

# Tables

reStructuredText has four ways to write a table, and Markdown one, in which a cell is a
few words. A table whose cells are that simple becomes one in Markdown.
"""

import csv
import re
from itertools import chain, pairwise, takewhile

from sidebyside.prose import Lines, fenced, indentation, trimmed

RULE = re.compile(r" *=+(?: +=+)+")
DRAWN = re.compile(r" *\+--[+-]*-\+")
EDGE = re.compile(r" *\+(?:-+\+|=+\+)+")
# A line of a sketch: it has corners or the like, or is a branch of a tree.
SKETCHED = re.compile(r"[^─-╿\n]*[│┃║┌├└┏┣┗╔╠╚╭╰]|[ |]*[|`]-- +\S")
# A row of a table that is written as a list, one of its cells, and what is not plain
# text in a cell.
ROW = re.compile(r"[-*+] +(?=[-*+](?: |$))")
CELL = re.compile(r" *(?P<mark>[-*+])(?: +(?P<words>.*))?")
MORE = re.compile(r"[-*+] |\d+[.)] |\.\. |>>> |`{3}|~{3}|\$\$")
BARS = re.compile(r"(?P<whole>(?P<tick>`+)[^`]+(?P=tick)(?!`)|\$[^$ ][^$]*\$)|\|")


def drawn(lines: Lines, begins: bool) -> tuple[Lines, Lines]:
    """
    ## What is drawn

    Args:
        lines: all lines from one on.
        begins: whether a paragraph begins there.

    Returns:
        The lines of a table or the like that begins there, and what they become.
    """
    text = lines[0][1]
    if RULE.fullmatch(text) or (begins and DRAWN.fullmatch(text)):
        return table(lines)
    if text.lstrip().startswith(("+-", "+=")):
        return drawing(lines)
    return sketch(lines)


def table(lines: Lines) -> tuple[Lines, Lines]:
    """
    ## Tables that are drawn

    One whose cells are not simple is shown as it was drawn.

    Returns:
        Its lines, and what they become.
    """
    margin = indentation(lines[0][1])
    if RULE.fullmatch(lines[0][1]):
        own, rows_of = lines[: end_of_table(lines)], columns
    else:
        own = tuple(takewhile(lambda line: line[1].lstrip()[:1] in ("+", "|"), lines))
        rows_of = grid
    if len(own) < 3:
        return (), ()
    rows, has_head = rows_of([text[margin:] for _, text in own])
    first, last = own[0][0], own[-1][0]
    if not rows:
        return own, fenced(trimmed(own), "text")
    return own, in_markdown([(first, row) for row in rows], last, has_head=has_head)


def drawing(lines: Lines) -> tuple[Lines, Lines]:
    """
    Anything drawn with the signs of a table, but not in a way that can be read as one,
    such as a table with words around it. It is shown as it was drawn, too.

    Returns:
        Its lines, and what they become.
    """
    own = tuple(
        takewhile(lambda line: line[1].lstrip()[:1] == "+" or "|" in line[1], lines)
    )
    if sum(EDGE.match(text) is not None for _, text in own) < 2:
        return (), ()
    return own, fenced(trimmed(own), "text")


def sketch(lines: Lines) -> tuple[Lines, Lines]:
    """
    ## Sketches

    A tree of folders, or boxes with arrows between them, would be run together into one
    paragraph. It is shown as it was drawn, with the line above a tree, which is its
    root.

    Returns:
        Its lines, and what they become.
    """
    is_drawn = [SKETCHED.match(text) is not None for _, text in lines[:2]]
    if not any(is_drawn) or (not is_drawn[0] and lines[0][1].endswith(":")):
        return (), ()
    margin = indentation(lines[0][1])
    own = [
        *takewhile(
            lambda line: (
                line[1] and (indentation(line[1]) >= margin or SKETCHED.match(line[1]))
            ),
            lines,
        )
    ]
    # Words right below it are a paragraph again.
    while own and not SKETCHED.match(own[-1][1]) and indentation(own[-1][1]) <= margin:
        own.pop()
    if sum(SKETCHED.match(text) is not None for _, text in own) < 2:
        return (), ()
    return tuple(own), fenced(trimmed(tuple(own)), "text")


def in_markdown(
    rows: list[tuple[int, list[str]]], last: int, *, has_head: bool
) -> Lines:
    """
    Rows of cells with the numbers of their lines, as a table in Markdown. There the
    first row is always the head.
    """
    first, width = rows[0][0], len(rows[0][1])
    rows = rows if has_head else [(first, [""] * width), *rows]
    made = [(n, f"| {' | '.join(map(without_bars, row))} |") for n, row in rows]
    made.insert(1, (first, "|" + "---|" * width))
    return (first, ""), *made, (last, "")


def without_bars(cell: str) -> str:
    """A cell whose bars do not end it. In code and formulas they would not anyway."""
    return BARS.sub(lambda found: found["whole"] or r"\|", cell)


def table_of_lists(options: dict[str, str], body: Lines) -> Lines | None:
    """
    ## Tables written as lists

    Each item of the list is a row, and is itself a list of cells.

    Returns:
        The table; nothing, if a cell is more than a few words.
    """
    rows: list[tuple[int, list[str]]] = []
    margin = inner = -1
    for number, line in body:
        text = line
        if row := ROW.match(text):
            margin = row.end()
            rows.append((number, []))
            text = " " * margin + text[margin:]
        cell = CELL.fullmatch(text)
        if not text:
            # After a blank line a cell does not go on.
            inner = -1
        elif rows and cell and cell.start("mark") == margin:
            rows[-1][1].append(cell["words"] or "")
            inner = cell.start("words")
        elif rows and indentation(text) == inner:
            rows[-1][1][-1] += f" {text.strip()}"
        else:
            return None
    cells = [cell for _, row in rows for cell in row]
    widths = {len(row) for _, row in rows}
    heads = options.get("header-rows", "0").strip()
    if len(widths) != 1 or heads not in ("0", "1") or any(map(is_more, cells)):
        return None
    return in_markdown(rows, rows[-1][0], has_head=heads == "1")


def as_lists(body: Lines) -> Lines | None:
    """The lists that a table was written as, if its cells hold too much for a table."""
    first = next((text for _, text in body if text), "")
    if not ROW.match(first):
        return None
    return (body[0][0], ""), *body, (body[-1][0], "")


def table_of_values(number: int, options: dict[str, str], body: Lines) -> Lines | None:
    """
    ## Tables written as values with commas

    Args:
        number: the line of the directive.
        options: its options.
        body: the lines of its values.

    Returns:
        The table; nothing, if a cell is more than a few words.
    """
    lines = [(number, text) for number, text in body if text]
    # An option that is not known may say that the values are elsewhere.
    if lines and lines[0][1].startswith(":"):
        return None
    # The row of titles is written as an option.
    if header := options.get("header"):
        lines.insert(0, (number, header))
    if not lines or any(text.count('"') % 2 for _, text in lines):
        return None
    values = csv.reader((text for _, text in lines), skipinitialspace=True)
    try:
        cells = [[cell.strip() for cell in row] for row in values]
    except csv.Error:
        return None
    # A quote after a word closes nothing, and the next one may open a cell that never
    # ends.
    is_even = len(cells) == len(lines) and len({len(row) for row in cells}) == 1
    if not is_even or any(map(is_more, chain(*cells))):
        return None
    rows = [(number, row) for (number, _), row in zip(lines, cells, strict=True)]
    heads = options.get("header-rows", "0").strip()
    return in_markdown(rows, rows[-1][0], has_head=bool(header) or heads == "1")


def is_more(cell: str) -> bool:
    """Whether a cell is more than words, or would reach into the next one."""
    plain = re.sub(r"(`+)[^`]+\1(?!`)", "", cell)
    return bool(MORE.match(cell)) or cell.endswith("::") or "`" in plain


def end_of_table(lines: Lines) -> int:
    """
    ## Reading what is drawn

    Returns:
        How many lines a table has, up to a rule with nothing below it; 0 without one.
    """
    margin = indentation(lines[0][1])
    for at, (_, text) in enumerate(lines):
        if text and indentation(text) < margin:
            break
        behind = lines[at + 1][1] if at + 1 < len(lines) else ""
        is_last = not behind or indentation(behind) < margin
        if at > 1 and is_last and RULE.fullmatch(text):
            return at + 1
    return 0


def columns(lines: list[str]) -> tuple[list[list[str]], bool]:
    """
    The rows of a table between lines of `=`, and whether it has a head; no rows, if it
    is not simple.
    """
    spans = [match.span() for match in re.finditer("=+", lines[0])]
    rows: list[list[str]] = []
    has_head = False
    for text in lines[1:-1]:
        if RULE.fullmatch(text) and not has_head and rows:
            rows = [joined(rows)]
            has_head = True
            continue
        gaps = [text[end:start] for (_, end), (start, _) in pairwise(spans)]
        if "".join(gaps).strip() or re.fullmatch(r"[-=]+( +[-=]+)*", text):
            return [], False
        stops = [end for _, end in spans[:-1]] + [len(text)]
        row = [text[a:b].strip() for (a, _), b in zip(spans, stops, strict=True)]
        if row[0] or not rows:
            rows.append(row)
        else:
            rows[-1] = joined([rows[-1], row])
    return rows, has_head


def joined(rows: list[list[str]]) -> list[str]:
    """Several lines of cells as one row."""
    return [" ".join(filter(None, cells)) for cells in zip(*rows, strict=True)]


def grid(lines: list[str]) -> tuple[list[list[str]], bool]:
    """The same for a table that is drawn with `+`, `-` and `|`."""
    places = [at for at, sign in enumerate(lines[0]) if sign == "+"]
    # A single column is a drawing.
    if len(places) < 3:
        return [], False
    rows: list[list[str]] = []
    has_head = False
    is_new = True
    for text in lines:
        corners = [at for at, sign in enumerate(text) if sign == "+"]
        if corners == places and re.fullmatch(r"[+=-]+", text):
            has_head = has_head or ("=" in text and len(rows) == 1)
            is_new = True
            continue
        if len(text) != places[-1] + 1 or any(text[at] != "|" for at in places):
            return [], False
        cells = [text[a + 1 : b].strip() for a, b in pairwise(places)]
        rows = [*rows, cells] if is_new else [*rows[:-1], joined([rows[-1], cells])]
        is_new = False
    return rows, has_head
