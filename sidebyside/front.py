r"""
---
title: Front matter
summary: YAML at the top of a module's docstring, and what can be wrong with it.
---

# Front matter

A module's docstring may open with YAML between two lines `---`, for what a page has and
a module does not: a title, a summary, the symbols of its formulas. It is written by
hand, so much can be wrong with it, and each mistake has a line and a remedy.
"""

import re
from typing import Any

import yaml
from yaml.constructor import ConstructorError

from sidebyside.errors import PressError
from sidebyside.prose import Prose, stripped
from sidebyside.read import Source

SYMBOLS = re.compile(r"""(?:^|[{,])\s*["']?symbols["']?\s*:""")
# In double quotes, YAML turns the `\t` of the TeX `\theta` into a tab, and so on.
LOST = "\a\b\t\n\v\f\r\x1b\x85\u2028\u2029"
ESCAPES = dict(zip(LOST, map("\\{}".format, "abtnvfreNLP"), strict=True))
ESCAPED = re.compile("[\0-\x1f\x85\u2028\u2029]")
# Nobody would write more letters, more levels, or more values on one level, into front
# matter.
LONG, DEEP, WIDE = 10_000, 20, 10_000
# A merge has the key `<<`, or any key with a tag that says so.
MERGES = re.compile("<<|!")


def front_matter(prose: Prose, source: Source) -> tuple[dict[str, Any], Prose]:
    """
    ## Out of the docstring

    Args:
        prose: the module's docstring.
        source: the module.

    Returns:
        What the front matter says, and the prose after it.
    """
    texts = [text for _, text in prose.lines]
    if not texts or texts[0] != "---":
        return {}, prose
    number = prose.lines[0][0]
    if "---" not in texts[1:]:
        raise PressError(
            source.path,
            number,
            "the front matter has no end",
            "Close it with a second line `---`.",
        )
    end = texts.index("---", 1)
    text = "\n".join(texts[1:end])
    try:
        # Names that merge others, each several times, can stand for values without end.
        few = text.count("*") < 20 or "&" not in text or not MERGES.search(text)
        meta = (parsed(text) or {}) if few else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        remedy = (
            "Write `key: value` lines, and put quotes around a value that has a colon."
        )
        if "escape" in problem:
            remedy = "Put a value that has a backslash into single quotes."
        raise PressError(
            source.path,
            number + 1 + (mark.line if mark else 0),
            f"the front matter is not YAML: {problem}",
            remedy,
        ) from None
    except RecursionError:
        meta = None
    if not ends(meta):
        raise PressError(
            source.path,
            number,
            "the front matter is nested too deeply, or in itself",
            "Write `key: value` lines, such as `title: The game`.",
        )
    if not isinstance(meta, dict):
        raise PressError(
            source.path,
            number,
            f"the front matter is a {type(meta).__name__}, not a mapping",
            "Write `key: value` lines, such as `title: The game`.",
        )
    symbols = meta.get("symbols", {})
    if mistake := mistake_in_symbols(symbols):
        name, words, remedy = mistake
        begin = next((n for n, t in enumerate(texts) if SYMBOLS.search(t)), 0)
        lines = range(begin + 1, end) if name else ()
        key = pattern_of_key(name)
        line = next((n for n in lines if key.match(texts[n])), begin)
        raise PressError(source.path, number + line, words, remedy)
    return meta, stripped(prose.lines[end + 1 :])


def pattern_of_key(key: str) -> re.Pattern[str]:
    """A pattern for the beginning of the line of front matter that sets a key."""
    return re.compile(rf"\s*['\"]?{re.escape(key)}['\"]?\s*:")


def mistake_in_symbols(symbols: Any) -> tuple[str, str, str] | None:
    r"""
    ## Symbols that YAML reads otherwise

    YAML takes the name `on` for true, and the `\t` of a `\theta` in double quotes for a
    tab. Such a symbol would be tied to nothing, and nobody would know why.

    Returns:
        The first entry that is wrong: its name, what is wrong, and a remedy.
    """
    each = r"Write a line `name: '\tex'` for each, indented below `symbols:`."
    if not isinstance(symbols, dict):
        return "", "`symbols` is not a mapping of names to TeX", each
    for name, tex in symbols.items():
        if name is None or isinstance(name, bool):
            words = f"`symbols` has a name that YAML takes for `{name}`"
            return str(name), words, "Put the name into quotes, such as `'on'`."
        if not isinstance(name, str) or not name.isidentifier():
            last = str(name).rpartition(".")[2]
            remedy = f"Write `{last}`." if last.isidentifier() else each
            return str(name), f"`symbols` has `{name}`, which is no name", remedy
        if not isinstance(tex, str) or not tex:
            words = f"the symbol of `{name}` is empty, or no text to YAML"
            return name, words, f"Put it into quotes: `{name}: '…'`."
        if ESCAPED.search(tex):
            meant = ESCAPED.sub(lambda sign: ESCAPES.get(sign[0], "…"), tex)
            words = f"the symbol of `{name}` has lost a backslash to YAML"
            return name, words, f"Put it into single quotes: `{name}: '{meant}'`."
    return None


class Checked(yaml.SafeLoader):
    """
    ## What YAML lets through

    To YAML, 2024-02-30 is a date. To Python it is a mistake, and the error has no line.
    So this loader adds the line of the value.
    """

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """
        Make what a node says.

        Raises:
            ConstructorError: if it makes no sense; the error has its line.
        """
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError) as error:
            # YAML's own readers fail on an unknown word in ways that say nothing.
            said = str(error) if isinstance(error, ValueError) else "a wrong value"
            raise ConstructorError(None, None, said, node.start_mark) from None


def parsed(text: str) -> Any:
    """
    What YAML says. The fast loader may be missing, and is vague about mistakes. So what
    it refuses is read once more, by [Checked][].
    """
    # Nor does it stop at thousands of nested brackets, too many for Python.
    fast = getattr(yaml, "CSafeLoader", Checked) if len(text) < LONG else Checked
    try:
        return yaml.load(text, fast)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError):
        return yaml.load(text, Checked)


def ends(value: Any) -> bool:
    """
    ## What has no end

    With `a: &x [*x]` a list contains itself, and a few lines of such names can stand
    for more values than a computer holds.

    Args:
        value: what YAML made of the front matter; `None` if that had no end.

    Returns:
        Whether it ends after a reasonable number of levels.
    """
    if value is None:
        return False
    level = [value]
    for _ in range(DEEP):
        level = [
            item
            for each in level
            if isinstance(each, dict | list | tuple)
            for item in (each.values() if isinstance(each, dict) else each)
        ]
        if not level or len(level) > WIDE:
            break
    return not level
