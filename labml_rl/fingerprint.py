"""
---
title: Is it the same code?
summary: A fingerprint of a module that changes with its code, and not with its prose.
---

# Is it the same code?

A curve was drawn in spring, and the code beside it is today's. Is it the code that made
the curve? Each [run](runs/record.py) writes down a fingerprint of every module that it
uses, and the pages with results compare these with the code from which the site is
built.

In this book, most of a module is prose. A fingerprint of the file would change with
each comma. So this one is taken from what Python makes of the file: its syntax tree,
which has no comments in it, no blank lines, and no line numbers. It does have
docstrings, so these are taken out.
"""

import ast
import hashlib
import sys


def fingerprint(source: str) -> str:
    """
    ## The fingerprint

    !!! warning "Another Python, another tree"
        New versions of Python write the tree differently. Python 3.12 has a list of
        type parameters in each function, and empty strings in formats, and 3.13 leaves
        out empty lists. That is undone here, so that the site says the same whichever
        version builds it.

    Args:
        source: a module.

    Returns:
        16 digits. Two modules with the same digits do the same.

    Raises:
        SyntaxError: if it is not one.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if (
            isinstance(
                node,
                ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
            )
            and ast.get_docstring(node, clean=False) is not None
        ):
            del node.body[0]
        if isinstance(node, ast.JoinedStr):
            node.values = [part for part in node.values if not _is_empty(part)]
        if vars(node).get("type_params") == []:
            del vars(node)["type_params"]
    options = {"show_empty": True} if sys.version_info >= (3, 13) else {}
    written = ast.dump(tree, **options)
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def _is_empty(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value == ""
