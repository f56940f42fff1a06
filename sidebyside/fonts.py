"""
---
title: Fonts of formulas
summary: Pages with formulas ask for the fonts of KaTeX before they are drawn.
---

# Fonts of formulas

A browser asks for a font when it comes upon a letter that needs it. By then it has
drawn the text, and draws it again, with formulas of a different width, as soon as the
font arrives. So pages with formulas say at the start which fonts nearly all formulas
need. Two of them hold the letters of KaTeX's fonts that are in common use, at two
thirds of the weight. The styles of a page send for the whole fonts when a formula has
another letter.

A script asks for them. On a page that was opened from disk, browsers would refuse such
a request, and complain, so there the script asks for nothing.
"""

import json

from mkdocs.utils import get_relative_url

STYLE = '<link rel="stylesheet"'
FONTS = "assets/sidebyside/katex/fonts"
# What is on a page that needs a font.
FONT_OF = {
    "<sbs-math": "Main-Letters",
    'class="mord mathnormal': "Math-Letters",
    'class="mop op-symbol large-op': "KaTeX_Size2-Regular",
}
PRELOAD = """<script>
if (location.protocol != "file:") for (const href of %s) {
  const link = {rel: "preload", as: "font", crossOrigin: "", href};
  document.head.append(Object.assign(document.createElement("link"), link));
}
</script>
"""


def with_fonts(html: str, url: str) -> str | None:
    """
    ## At the start of a page

    Args:
        html: a finished page.
        url: where it is in the site.

    Returns:
        The page, asking for fonts; nothing, if it needs none.
    """
    fonts = [
        get_relative_url(f"{FONTS}/{font}.woff2", url)
        for part, font in FONT_OF.items()
        if part in html
    ]
    return (
        html.replace(STYLE, PRELOAD % json.dumps(fonts) + STYLE, 1) if fonts else None
    )
