"""
---
title: Inventories
summary: Where other people's names are documented, without asking the network.
---

# Inventories

`np.maximum(a, b)` leads out of the book. All documentation made by Sphinx comes with a
list of what it describes and where, `objects.inv`. This page distils such a list into a
small text file, which is stored with the press.

```text
https://docs.python.org/3/
library/functools.html functools
m functools
f .cache .reduce
c .partial
```

The first line says where the documentation is. Then each page has a line with its path
and the prefix of the names on it, if they share one, and a line for each sort of name:
modules, functions and data, classes. A name that begins with a dot continues the
prefix. Its anchor on the page is the name itself, as Sphinx sets it.

A site can give its own lists, as they are, for names that are not in the press's: see
the options of [the plugin][sidebyside.options].

Other lists are short enough to be written by hand. In these, a `*` in a path stands for
the name, where each name has its own page; and a path with a `#` is the whole address.

To make Python's list again:

```sh
python -m sidebyside.inventory \\
    https://docs.python.org/3/ objects.inv \\
    > sidebyside/inventories/python.txt
```
"""

import re
import sys
import textwrap
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

INVENTORIES = Path(str(files("sidebyside") / "inventories"))
# Most of these were taken out of Python by PEP 594 and PEP 632.
REMOVED = {
    *("aifc", "asynchat", "asyncore", "audioop", "cgi", "cgitb", "chunk", "crypt"),
    *("distutils", "imghdr", "imp", "lib2to3", "mailcap", "msilib", "nis", "nntplib"),
    *("ossaudiodev", "pipes", "smtpd", "sndhdr", "spwd", "sunau", "telnetlib", "uu"),
    "xdrlib",
}
SORTS = {"module": "m", "class": "c", "exception": "c"}
HEADER = b"# Sphinx inventory version 2\n"
# A name, what it is, how highly a search ranks it, where it is, and what to call it.
LINE = re.compile(r"(\S+)\s+py:(\w+)\s+-?\d+\s+(\S+)\s+\S")


@dataclass(frozen=True)
class Entry:
    """
    ## What is known of a name

    Args:
        url: where it is documented.
        is_class: whether calling it makes an instance.
    """

    url: str
    is_class: bool


@cache
def inventory() -> dict[str, Entry]:
    """
    ## All that is stored

    Returns:
        Every name in the press's own files, in full.
    """
    entries: dict[str, Entry] = {}
    for path in sorted(INVENTORIES.glob("*.txt")):
        entries |= read_inventory(path.read_text(encoding="utf-8"))
    return entries


def read_inventory(text: str) -> Iterator[tuple[str, Entry]]:
    """
    ## Reading one

    Args:
        text: the content of a file.
    """
    base, *lines = filter(None, text.split("\n"))
    page = prefix = ""
    for line in lines:
        head, *names = line.split(" ")
        if head not in ("m", "f", "c"):
            page, prefix = base + head, names[0] if names else ""
            continue
        for name in names:
            full = prefix + name if name.startswith(".") else name
            anchor = f"#module-{full}" if head == "m" else f"#{full}"
            own = page.replace("*", full) + anchor
            url = page.removesuffix("#") if "#" in page else own
            yield full, Entry(url, head == "c")


@cache
def own_inventory(base: str, data: bytes) -> dict[str, Entry]:
    """
    ## A list as it is

    Sphinx writes such a list, and so do mkdocstrings and others.

    Args:
        base: the address of the documentation.
        data: its `objects.inv`.

    Returns:
        All Python names in it.

    Raises:
        ValueError: if this is not such a list, or not an address.
    """
    if not re.match(r"https?://|/", base):
        raise ValueError(f"`{base}` is no address, such as `https://docs.example.org/`")
    # Its own address, or that of the first page, will do as well.
    base = re.sub(r"(?:/(?:objects\.inv|index\.html))?/*$", "", base) + "/"
    entries: dict[str, Entry] = {}
    for name, sort, location in sphinx_entries(data):
        own = location[:-1] + name if location.endswith("$") else location
        entries[name] = Entry(base + own, sort == "c")
    return entries


def sphinx_entries(data: bytes) -> Iterator[tuple[str, str, str]]:
    """The Python names in an `objects.inv`, each with its sort and where it is."""
    if not data.startswith(HEADER):
        raise ValueError("this is no `objects.inv`")
    try:
        # The largest there are unpack to a few megabytes. A small file can be made to
        # unpack to any amount, so there is a limit.
        unpack = zlib.decompressobj()
        lines = unpack.decompress(data.split(b"\n", 4)[-1], 64 << 20)
        if not unpack.eof:
            raise zlib.error("it is cut short, or far too long")
        text = lines.decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"this `objects.inv` is damaged: {error}") from None
    for match in filter(None, map(LINE.match, text.splitlines())):
        name, role, location = match.groups()
        yield name, SORTS.get(role, "f"), location


def distill(base: str, data: bytes) -> Iterator[str]:
    """
    ## Making one

    Only the names of the library are of use here, without those that newer versions
    have removed. The few names whose anchor is not the name itself are also left out.

    Args:
        base: the address of the documentation.
        data: its `objects.inv`.

    Returns:
        The lines of the file.
    """
    pages: defaultdict[str, dict[str, list[str]]] = defaultdict(
        lambda: {"m": [], "f": [], "c": []}
    )
    for name, sort, location in sphinx_entries(data):
        page, _, anchor = location.partition("#")
        expected = anchor == ("module-$" if sort == "m" else "$")
        gone = name.partition(".")[0] in REMOVED
        if expected and page.startswith("library/") and not gone:
            pages[page][sort].append(name)
    yield base
    for page, sorts in sorted(pages.items()):
        prefix = shared_prefix([*sorts["m"], *sorts["f"], *sorts["c"]])
        yield f"{page} {prefix}".rstrip()
        for sort, names in sorts.items():
            short = (name.removeprefix(prefix) or name for name in sorted(set(names)))
            for line in textwrap.wrap(
                " ".join(short), 84, break_long_words=False, break_on_hyphens=False
            ):
                yield f"{sort} {line}"


def shared_prefix(names: Iterable[str]) -> str:
    """The dotted prefix that saves the most: long, and in many of these names."""
    counts: defaultdict[str, int] = defaultdict(int)
    for name in names:
        parts = name.split(".")
        for length in range(1, len(parts)):
            counts[".".join(parts[:length])] += 1
    return max(counts, key=lambda p: (counts[p] * (len(p) - 1), p), default="")


if __name__ == "__main__":
    address, path = sys.argv[1:]
    print("\n".join(distill(address, Path(path).read_bytes())))
