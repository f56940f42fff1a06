"""
Words in italics right below a figure are its caption. Markdown has no other sign for
one, and a style can't tell it from a sentence with a single word in italics.
"""

import re
from typing import Any

# After a paragraph that ends in a picture. A few words, such as the name of a paper,
# may stand upright at its end.
CAPTION = re.compile(
    r"(?<=/></p>\n)<p>(?=<em>(?:(?!</em>).)*</em>[^<]{0,20}</p>)", re.S
)


def on_page_content(html: str, **_: Any) -> str:
    """Mark the captions of a page."""
    return CAPTION.sub('<p class="book-caption">', html)
