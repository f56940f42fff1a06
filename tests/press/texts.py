"""Texts on their way to a page: prose, a page of its own, a book of three modules."""

import re
from html import unescape

from markdown import Markdown

from sidebyside.catalogue import catalogue
from sidebyside.errors import stop
from sidebyside.press import EXTENSIONS
from sidebyside.prose import Prose
from sidebyside.read import read
from sidebyside.render import environment, render
from sidebyside.weave import weave

GAME = b"""
import numpy as np
class Game:
    def step(self):
        pass
    def reset(self):
        pass
    def stub(self): ...
def make_game(): pass
"""
WORKER = b"""
from .game import make_game
from book.game import Game as G
class Worker:
    def step(self):
        pass
"""
GAME_SOURCE = read(GAME, "book/game.py", "book.game")
WORKER_SOURCE = read(WORKER, "book/worker.py", "book.worker")
PACKAGE_SOURCE = read(b"", "book/__init__.py", "book")
PLACES = catalogue([PACKAGE_SOURCE, GAME_SOURCE, WORKER_SOURCE])


def prose(text: str) -> Prose:
    return Prose(tuple(enumerate(text.split("\n"), start=10)))


def as_page(text):
    """A module as HTML."""
    source = read(text.encode(), "m.py", "m")
    page = render(weave(source, {}), environment()).partition("\n---\n")[2]
    return Markdown(extensions=[*EXTENSIONS]).convert(page)


def html_of(text, signature="def f(x: Tensor) -> 'list[int]'", report=stop):
    """A docstring as it is on its page, without colours."""
    body = text.replace("\n", "\n    ")
    source = read(f"{signature}:\n    r'''\n    {body}\n    '''".encode(), "m.py", "m")
    prose = weave(source, catalogue([source]), report).rows[-1].prose
    html = Markdown(extensions=[*EXTENSIONS]).convert(prose)
    return unescape(re.sub("</?span[^>]*>", "", html))
