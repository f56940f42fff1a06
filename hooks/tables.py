"""
A long name in a table breaks between its words and not within one, and a number stays
with its error.
"""

import re
from typing import Any

TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
CODE = re.compile(r"(?<=<code>)[^<]+(?=</code>)")
# Behind a sign within a name or a path, and at times in the long number of a commit.
BREAK = re.compile(r"(?<=\w)[_./](?=[A-Za-z])|[0-9a-f]{10}(?=[0-9a-f]{10})")


def on_page_content(html: str, **_: Any) -> str:
    """
    Mark where the names in tables may break, and where numbers may not. A browser
    breaks a word anywhere if it is told to, and nowhere if it is not.
    """

    def marked(table: re.Match[str]) -> str:
        cells = table[0].replace(" ± ", "&nbsp;±&nbsp;")
        return CODE.sub(lambda code: BREAK.sub(r"\g<0><wbr>", code[0]), cells)

    return TABLE.sub(marked, html)
