"""Names in code: what they stand for, the links made of them, and who uses what."""

import ast
import cProfile
import importlib
import inspect
import pstats
import re
import sys
import zlib
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sidebyside.bindings import STEPS
from sidebyside.catalogue import catalogue
from sidebyside.crossings import cross
from sidebyside.errors import PressError
from sidebyside.highlight import highlight, opening
from sidebyside.inventory import (
    INVENTORIES,
    distill,
    inventory,
    own_inventory,
    read_inventory,
)
from sidebyside.lex import lex
from sidebyside.links import Place
from sidebyside.names import Book
from sidebyside.read import read
from sidebyside.references import needs, reach, references
from sidebyside.render import environment, render
from sidebyside.weave import weave
from tests.press.sites import build
from tests.press.test_lossless import PAGES, STANDARD_LIBRARY

STEP = "book.game.Game.step"
ASYNC = """
from book.game import Game
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
async def f() -> Game: ...
async def many() -> AsyncIterator[Game]: yield Game()
async def several() -> list[Game]: ...
@asynccontextmanager
async def opened() -> AsyncIterator[Game]: yield Game()
class C:
    async def __aenter__(self) -> Game: ...
"""

# ---- A small book

GAME = """
from dataclasses import dataclass
from typing import Self
import numpy as np

SIZE = 84
_hidden = 0

@dataclass
class Options:
    stack: int = 4

class Base:
    def reset(self): ...
    def close(self): ...

class Game(Base):
    count = 0

    def __init__(self, options: Options, other=None):
        self.options = options
        self.maybe: Options | None = None
        self.made = Options()
        self.__private = 0

    def step(self): ...
    def itself(self) -> Self: ...
    def __enter__(self) -> "Game": ...

    @property
    def best(self) -> Options: ...
    @best.setter
    def best(self, value): ...

    @classmethod
    def load(cls) -> "Game": ...

def make_game() -> Game: ...
def games() -> list[Game]: ...
"""
SOURCES = {
    "book": "from .game import make_game\nfrom . import game\n",
    "book.game": GAME,
    "book.stars": "from .game import *\nfrom math import *\n",
    "book.again": "from .game import *\n",
    "book.listed": "__all__ = x.__all__ + ['open']\ndef open(): ...\ndef f(): ...\n",
    "book.passed": "from .listed import *\n",
}
PATHS = {"book": "book/__init__.py"}


def sources(**more: str):
    texts = SOURCES | {f"book.{name}": text for name, text in more.items()}
    return [
        read(
            text.encode(),
            PATHS.get(module, module.replace(".", "/") + ".py"),
            module,
        )
        for module, text in texts.items()
    ]


def resolve(code: str) -> list[str | None]:
    """What the names in ‹…› stand for, in a module of the book."""
    marks: list[tuple[int, int, int]] = []
    lines = []
    for number, text in enumerate(code.split("\n"), start=1):
        plain = text
        while match := re.search("‹(.*?)›", plain):
            marks.append((number, match.start(), match.end() - 2))
            plain = plain[: match.start()] + match[1] + plain[match.end() :]
        lines.append(plain)
    assert marks
    book_sources = sources(here="\n".join(lines))
    book = Book(book_sources, inventory())
    found = {
        (*place,): name
        for *place, name, _ in references(book, book_sources[-1])
        if name.startswith("book") or name in inventory()
    }
    return [found.get(mark) for mark in marks]


def one(code: str) -> str | None:
    (name,) = resolve(code)
    return name


HERE = "book.here."
SECRET = "class A:\n    def __secret(self): ...\n"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        # Modules and what they define.
        ("def f(): ...\n‹f›()", HERE + "f"),
        ("def g(): ‹f›()\ndef f(): ...", HERE + "f"),
        ("X = 1\ndef f(a=‹X›): ...", HERE + "X"),
        ("class C: ...\nclass D(‹C›): ...", HERE + "C"),
        ("def d(f): ...\n@‹d›\ndef f(): ...", HERE + "d"),
        ("def f():\n    def g(): ...\n    return ‹g›", HERE + "f.g"),
        # Locals, parameters and comprehensions hide what is outside.
        ("def f(): ...\ndef g(f): ‹f›()", None),
        ("def f(): ...\ndef g(*f): ‹f›()", None),
        ("def f(): ...\ndef g(**f): ‹f›()", None),
        ("def f(): ...\ndef g(*, f): ‹f›()", None),
        ("def f(): ...\ng = lambda f: ‹f›()", None),
        ("def f(): ...\ng = lambda x: ‹f›()", HERE + "f"),
        ("class C:\n    y = 1\ndef g(): (C := 2)\nC.‹y›", HERE + "C.y"),
        ("def f(): ...\ndef g():\n    ‹f›()\n    f = 1", None),
        ("def f(): ...\ndef g():\n    for f in (): ‹f›", None),
        ("def f(): ...\ndef g():\n    with x as f: ‹f›", None),
        ("def f(): ...\ndef g():\n    try: ...\n    except E as f: ‹f›", None),
        ("def f(): ...\ndef g():\n    import f\n    ‹f›", None),
        ("def f(): ...\ndef g():\n    del f\n    ‹f›", None),
        ("def f(): ...\ndef g(x):\n    match x:\n        case f: ‹f›", None),
        ("def f(): ...\ndef g(x):\n    match x:\n        case [*f]: ‹f›", None),
        ("def f(): ...\ndef g(x):\n    match x:\n        case {**f}: ‹f›", None),
        ("def f(): ...\ndef g(x):\n    (f := x)\n    ‹f›", None),
        ("def f(): ...\ndef g(x):\n    [f := y for y in x]\n    ‹f›", None),
        ("def f(): ...\ndef g(x): [‹f› for f in x]", None),
        ("def f(): ...\ndef g(x): [f for f in ‹f›]", HERE + "f"),
        ("def f(): ...\ndef g(x): [x for x in x for f in ‹f›]", None),
        ("def f(): ...\ndef g(x):\n    [f for f in x]\n    ‹f›", HERE + "f"),
        ("def f(): ...\nasync def g(x):\n    async for f in x: ‹f›", None),
        ("def f(): ...\nasync def g(x):\n    await ‹f›()", HERE + "f"),
        # What is waited for.
        (ASYNC + "async def g():\n  x = await f()\n  x.‹step›", STEP),
        (ASYNC + "async def g():\n  x = f()\n  x.‹step›", None),
        (ASYNC + "async def g():\n  for x in await several(): x.‹step›", STEP),
        (ASYNC + "async def g():\n  for x in several(): x.‹step›", None),
        (ASYNC + "async def g():\n  x = await nothing()\n  x.‹step›", None),
        (ASYNC + "async def g():\n  async for x in many(): x.‹step›", STEP),
        (ASYNC + "async def g():\n  async with opened() as x: x.‹step›", STEP),
        (ASYNC + "async def g():\n  async with C() as x: x.‹step›", STEP),
        (ASYNC + "async def g():\n  x = [y async for y in many()]\n  x.‹append›", None),
        # `global` and `nonlocal`.
        ("X = 1\ndef g():\n    global X\n    X = ‹X›", HERE + "X"),
        (
            "X = 1\ndef g():\n    X = 2\n    def h():\n        global X\n        ‹X›",
            HERE + "X",
        ),
        ("X = 1\ndef g():\n  X = 2\n  def h():\n    nonlocal X\n    ‹X›", None),
        (
            "class C:\n  y = 1\ndef f():\n  x = C()\n  def g():\n    def h():\n"
            "      nonlocal x\n      x = 2\n  x.‹y›",
            None,
        ),
        (
            "class C:\n  y = 1\ndef f():\n  x = C()\n  class D:\n    x = 3\n"
            "    def g(self):\n      nonlocal x\n      x = 2\n  x.‹y›",
            None,
        ),
        (
            "def f():\n  def x(): ...\n  class C:\n    global x\n    def g(s): ‹x›",
            HERE + "f.x",
        ),
        # The body of a class is seen from the body alone.
        ("class C:\n    x = 1\n    y = ‹x›", HERE + "C.x"),
        ("class C:\n    x = 1\n    def f(self): ‹x›", None),
        ("x = 1\nclass C:\n    x = 2\n    def f(self): ‹x›", HERE + "x"),
        ("class C:\n    x = [1]\n    y = [a for a in ‹x›]", HERE + "C.x"),
        ("class C:\n    x = [1]\n    y = [‹x› for a in x]", None),
        ("class C:\n    def f(self): ...\n    g = ‹f›", HERE + "C.f"),
        ("class C:\n    def f(self, x=‹g›): ...\ndef g(): ...", HERE + "g"),
        # Before a name is bound, it has its outer meaning.
        ("input = ‹input›()", "input"),
        ("class C:\n    id = ‹id›(3)", "id"),
        ("‹input›()\ndef input(): ...", "input"),
        ("def f(): ‹input›()\ndef input(): ...", HERE + "input"),
        ("x: '‹Later›'\nclass Later: ...", HERE + "Later"),
        ("id = 1; ‹id›", HERE + "id"),
        ("for id in ‹id›(x): ...", "id"),
        ("for id in x: ‹id›", HERE + "id"),
        ("with x as input: ‹input›", HERE + "input"),
        ("try: ...\nexcept E as id: ‹id›", HERE + "id"),
        # A type alone gives a name no meaning.
        (
            "from datetime import date\nclass C:\n    date: date\n    end: ‹date›",
            "datetime.date",
        ),
        (
            "from datetime import date\nclass C:\n    date: date\n"
            "    def f(self): self.date = 1\n    def g(self, end: ‹date›): ...",
            "datetime.date",
        ),
        ("id: int\nx = ‹id›(x)", "id"),
        ("id: int\ndef f(): ‹id›", HERE + "id"),
        ("x: int\n‹x›", HERE + "x"),
        # Nobody binds these, and they are not built in.
        ("‹json›", None),
        ("def f(x: Float[Array, '‹time›']): ...", None),
        # Imports.
        ("import ‹book›.game", "book"),
        ("import book.‹game›", "book.game"),
        ("import book.game\nbook.‹game›.Game", "book.game"),
        ("import book.game\nbook.game.‹Game›", "book.game.Game"),
        ("import book.game as g\ng.‹Game›", "book.game.Game"),
        ("import book.game as g\ng.Game.‹step›", STEP),
        ("from book.‹game› import Game", "book.game"),
        ("from book.game import ‹Game› as G", "book.game.Game"),
        ("from book.game import Game as G\n‹G›()", "book.game.Game"),
        ("from .‹game› import Game", "book.game"),
        ("from . import ‹game›", "book.game"),
        ("from . import game as g\ng.‹SIZE›", "book.game.SIZE"),
        ("from book import ‹make_game›", "book.game.make_game"),
        ("import book\nbook.‹make_game›()", "book.game.make_game"),
        ("from .stars import ‹Game›", None),
        ("from book.game import *\n‹Game›", "book.game.Game"),
        ("from book.game import *\n‹_hidden›", None),
        ("from book.again import *\n‹Game›", "book.game.Game"),
        ("from .again import *\nfrom .game import *\n‹Game›", "book.game.Game"),
        ("from .game import Game\nfrom .again import *\n‹Game›", "book.game.Game"),
        ("from .game import Game\nfrom .stars import *\n‹Game›", None),
        ("from .game import SIZE as Game\nfrom .again import *\n‹Game›", None),
        ("def Game(): ...\nfrom .again import *\n‹Game›", None),
        ("from .again import *\ndef Game(): ...\n‹Game›", HERE + "Game"),
        ("def f(x: dict):\n    for y in x: y.‹z›", None),
        ("from book.game import *\n‹zip›", "zip"),
        ("from book.listed import *\n‹open›", None),
        ("from book.passed import *\n‹open›", None),
        ("from book.listed import *\n‹zip›", "zip"),
        ("def f(): ...\nfrom book.listed import *\n‹f›", None),
        ("from book.listed import *\ndef f(): ...\n‹f›", HERE + "f"),
        ("from nowhere import *\n‹zip›", None),
        ("from book.game import *\nfrom nowhere import *\n‹Game›", None),
        ("from book.game import Nothing\n‹Nothing›", None),
        ("if a:\n    from book.game import Game\n‹Game›", "book.game.Game"),
        ("def f():\n    from book.game import Game\n    ‹Game›", "book.game.Game"),
        (
            "try:\n    from book.game import Game\nexcept E:\n    Game = None\n‹Game›",
            None,
        ),
        ("import book.game\nbook = 1\nbook.‹game›", None),
        # Two meanings are none.
        ("def f(): ...\ndef f(): ...\n‹f›", None),
        ("def f(): ...\nf = 1\n‹f›", None),
        ("if a:\n    class C: ...\nelse:\n    class C: ...\n‹C›", None),
        (
            "class C:\n    def f(self): ...\nclass C:\n"
            "    def f(self): ...\n    def g(self): self.‹f›()",
            None,
        ),
        (
            "from typing import overload\n@overload\ndef f(x: int): ...\n"
            "@overload\ndef f(x: str): ...\ndef f(x): ...\n‹f›",
            HERE + "f",
        ),
        ("X = 1\nX = 2\n‹X›", HERE + "X"),
        # Methods and attributes of `self` and of `cls`.
        ("class C:\n    def f(self): self.‹f›()", HERE + "C.f"),
        ("class C:\n    def f(this): this.‹f›()", HERE + "C.f"),
        ("class C:\n    @classmethod\n    def f(cls): cls.‹f›()", HERE + "C.f"),
        ("class C:\n    @staticmethod\n    def f(x): x.‹f›()", None),
        ("class C:\n    def __new__(cls): cls.‹__new__›", HERE + "C.__new__"),
        ("class C:\n    def f(self, x): x.‹f›()", None),
        ("class C:\n    def f(self):\n        self = 1\n        self.‹f›()", None),
        ("class C:\n    def f(self):\n        def g(self): self.‹f›()", None),
        ("class C:\n    def f(self):\n        def g(): self.‹f›()", HERE + "C.f"),
        ("class C:\n    def f(self): [self.‹f› for x in y]", HERE + "C.f"),
        ("class C:\n    def f(self): [self.‹f› for self in y]", None),
        ("class C:\n  def f(self): self.x = 1\n  def g(self): self.‹x›", HERE + "C.x"),
        ("class C:\n    def f(self): self.‹y›", None),
        ("class C:\n    def f(self, o): o.x = 1\n    def g(self): self.‹x›", None),
        (
            "class C:\n    def __init__(self): self.x, y = z\n"
            "    def g(self): self.‹x›.w",
            HERE + "C.x",
        ),
        # What methods assign to `self` hides what is in the class.
        *(
            (
                f"class D:\n    def get(self): ...\nclass C:\n    {x}\n"
                f"    def __init__(self): self.x = D()\n    def g(self): {use}",
                name,
            )
            for x, use, name in [
                ("x = {}", "self.x.‹get›()", None),
                ("x = ''", "self.‹x›", HERE + "C.x"),
                ("x: D = None", "self.x.‹get›()", HERE + "D.get"),
                ("@property\n    def x(self): ...", "self.‹x›", HERE + "C.x"),
            ]
        ),
        (
            "class A:\n    def f(self): self.__x = 1\n    def g(self): self.‹__x›",
            HERE + "A.__x",
        ),
        # Bases.
        ("from .game import Game\nclass C(Game):\n  def f(s): s.‹step›()", STEP),
        (
            "from .game import Game\nclass C(Game):\n  def f(s): s.‹reset›()",
            "book.game.Base.reset",
        ),
        (
            "from .game import Game\nclass C(Game):\n"
            "  def step(s): ...\n  def f(s): s.‹step›()",
            HERE + "C.step",
        ),
        (
            "from .game import Game\nclass C(Game):\n  def step(s): super().‹step›()",
            STEP,
        ),
        ("class C(Unknown):\n    def f(self): self.‹g›()", None),
        (
            "from .game import Base\nclass C(Unknown, Base):\n"
            "    def f(self): self.‹reset›()",
            None,
        ),
        (
            "class A:\n    x = 1\nclass B(A): ...\nclass C(A):\n    x = 2\n"
            "class D(B, C):\n    def f(self): self.‹x›",
            HERE + "C.x",
        ),
        ("class A(A): ...\nA.‹x›", None),
        ("from .game import Game\ng = Game(1)\ng._Game__private\ng.‹__private›", None),
        (f"{SECRET}class B(A):\n    def f(self): self.‹__secret›()", None),
        (f"{SECRET}class B(A):\n    def f(self): super().‹__secret›()", None),
        (f"{SECRET}    def f(self): self.‹__secret›()", f"{HERE}A.__secret"),
        (
            "class A:\n  def f(s): ...\nclass B(A):\n  def f(s): ...\n"
            "class C(B):\n  def f(s): super(B, s).‹f›()",
            HERE + "A.f",
        ),
        ("class A:\n  def f(s): super(type(s), s).‹f›()", None),
        (
            "from typing import Generic as G\nclass A(G[T]):\n  x = 1\n"
            "class B(G[T], A[T]): ...\nB.‹x›",
            HERE + "A.x",
        ),
        # Types that are written down, or show in a call.
        ("from .game import Game\ndef f(g: Game): g.‹step›()", STEP),
        ("from .game import Game\ndef f(g: 'Game'): g.‹step›()", STEP),
        ("from .game import Game\ndef f(g: Game | None): g.‹step›()", STEP),
        ("from .game import Game\ndef f(g: Game | int): g.‹step›()", None),
        ("from .game import Game\ndef f(g: Game):\n    g = 1\n    g.‹step›()", None),
        ("from .game import Game\ndef f(g: type[Game]): g.‹step›", None),
        ("from .game import Game\ng = Game(1)\ng.‹step›()", STEP),
        ("from .game import Game\ng = Game(1)\ng = 2\ng.‹step›()", None),
        ("from .game import Game\nGame(1).‹step›()", STEP),
        ("from .game import Game\nGame(1).options.‹stack›", "book.game.Options.stack"),
        ("from .game import Game\nGame(1).maybe.‹stack›", "book.game.Options.stack"),
        ("from .game import Game\nGame(1).made.‹stack›", "book.game.Options.stack"),
        ("from .game import Game\nGame(1).best.‹stack›", "book.game.Options.stack"),
        ("from .game import Game\nGame.best.‹stack›", None),
        ("from .game import Game\nGame(1).step.‹stack›", None),
        ("from .game import Game\nGame.load().‹step›()", STEP),
        ("from .game import Game\nGame(1).itself().‹step›()", STEP),
        *(
            (
                f"from typing import Self\nclass B:\n    x = 1\n{decorator}"
                "    def me(self) -> Self: ...\n    def __enter__(self) -> Self: ...\n"
                f"class D(B):\n    x = 1\n{use}",
                HERE + "D.x",
            )
            for decorator, use in [
                ("", "D().me().‹x›"),
                ("", "with D() as d: d.‹x›"),
                ("    @classmethod\n", "D.me().‹x›"),
                ("    @property\n", "D().me.‹x›"),
                ("", "D().me().me().‹x›"),
            ]
        ),
        ("from .game import make_game\nmake_game().‹step›()", STEP),
        ("from .game import games\nfor g in games(): g.‹step›()", STEP),
        (
            "from .game import Game\nfrom typing import Dict, List\n"
            "def f(x: Dict[str, List[Game]]): x['a'][0].‹step›()",
            STEP,
        ),
        ("from typing import List\nx: ‹List›[int]", "typing.List"),
        ("from .game import games\n[g.‹step› for g in games()]", STEP),
        ("from .game import games\ngames()[0].‹step›", STEP),
        ("from .game import games\ngames()[:1].‹step›", None),
        (
            "class B: ...\nclass M:\n    x = 1\n"
            "    def __getitem__(self, at) -> B: ...\nM()[:1].‹x›",
            None,
        ),
        ("'abc'[:1].‹join›(x)", "str.join"),
        ("from .game import Game\nwith Game(1) as g: g.‹step›()", STEP),
        ("from .game import Game\nif g := Game(1): g.‹step›()", STEP),
        ("from .game import Game\ndef f(g=None): (g or Game(1)).‹step›()", None),
        (
            "from .game import Game\ndef f(g: Game | None): (g or Game(1)).‹step›()",
            STEP,
        ),
        (
            "from .game import Game\nfrom typing import Callable\n"
            "def f(make: Callable[[int], Game]): make(1).‹step›()",
            STEP,
        ),
        (
            "from .game import Game\ndef f(g: tuple[Game, ...]):\n"
            "    for x in g: x.‹step›()",
            STEP,
        ),
        (
            "from .game import Game\ndef f(g: tuple[Game, int]):\n"
            "    for x in g: x.‹step›()",
            None,
        ),
        ("async def f() -> C: ...\nclass C:\n    x = 1\nf().‹x›", None),
        ("@odd\ndef f() -> 'C': ...\nclass C:\n    x = 1\nf().‹x›", None),
        (
            "class E(Exception):\n    x = 1\ntry: ...\nexcept E as e: e.‹x›",
            HERE + "E.x",
        ),
        (
            "class E(Exception):\n    x = 1\ntry: ...\nexcept* E as e: e.‹x›",
            None,
        ),
        *(
            (
                "class A:\n    x = 1\nclass B:\n    x = 1\nclass C:\n"
                "    def __enter__(self) -> A: ...\n"
                "    async def __aenter__(self) -> B: ...\n"
                f"async def f(c: C):\n    {word} c as o: o.‹x›",
                HERE + name,
            )
            for word, name in [("with", "A.x"), ("async with", "B.x")]
        ),
        # What it has as a value is not what it is.
        *(
            (
                f"from enum import {kind}\nclass F({kind}):\n    A = 'a'\n"
                "    def title(self): ...\nF.A.‹title›()",
                HERE + "F.title",
            )
            for kind in ("Enum", "StrEnum")
        ),
        (
            "from enum import Enum\nclass D:\n    title = 1\nclass F(Enum):\n"
            "    A = 'a'\n    def __init__(self, x): self.d = D()\n"
            "    def title(self): self.d.‹title›",
            HERE + "D.title",
        ),
        ("def f(x: x.y): x.‹y›", None),
        ("a = b\nb = a\na.‹c›", None),
        # Annotations.
        ("class C: ...\ndef f() -> ‹C›: ...", HERE + "C"),
        ("class C: ...\nx: 'list[‹C›]' = []", HERE + "C"),
        ("class C: ...\nx: list['‹C›'] = []", HERE + "C"),
        ("class C:\n    def f(self) -> '‹C›': ...", HERE + "C"),
        ("class Warning:\n    def f(self) -> '‹Warning›': ...", HERE + "Warning"),
        ("def f(w: '‹Warning›'): ...\nclass Warning: ...", HERE + "Warning"),
        (
            "from __future__ import annotations\ndef f(w: ‹Warning›): ...\n"
            "class Warning: ...",
            HERE + "Warning",
        ),
        # What a star has brought, until the module has its own.
        *(
            (f"from .game import *\n{code}", name)
            for code, name in [
                ("‹make_game›()\ndef make_game(): ...", "book.game.make_game"),
                ("make_game = f(‹make_game›)", "book.game.make_game"),
                ("def make_game(): ...\n‹make_game›()", HERE + "make_game"),
                ("def f(): ‹SIZE›\nSIZE = 1", HERE + "SIZE"),
            ]
        ),
        ("from typing import Literal\nclass C: ...\nx: Literal['‹C›']", None),
        ("class C: ...\nx = '‹C›'", None),
        ("class C: ...\nx: 'not ‹C› python'", None),
        # Odd places.
        ("class C: ...\n'äöü', ‹C›", HERE + "C"),
        ("class C: ...\nx = (1,\n  ‹C›)", HERE + "C"),
        ("class C:\n    y = 1\nx = (C\n  .\n  ‹y›)", HERE + "C.y"),
        ("class C: ...\nmatch x:\n    case ‹C›(y=1): ...", HERE + "C"),
        ("class C: ...\nf(**‹C›)", HERE + "C"),
        ("class C: ...\nC.‹nothing›", None),
        # Out of the book.
        ("import numpy as np\nnp.‹maximum›(a, b)", "numpy.maximum"),
        ("import ‹numpy› as np", "numpy"),
        ("from functools import ‹cache›", "functools.cache"),
        ("from functools import cache as c\n@‹c›\ndef f(): ...", "functools.cache"),
        ("import os.path\nos.path.‹join›", "os.path.join"),
        ("import os\nos.‹path›.join", "os.path"),
        ("‹ValueError›", "ValueError"),
        ("', '.‹join›(x)", "str.join"),
        ("def f(s: str): s.‹split›()", "str.split"),
        ("x = {}\nx.‹items›()", "dict.items"),
        ("from pathlib import Path\nPath('x').‹exists›()", "pathlib.Path.exists"),
        (
            "import gymnasium\nclass E(gymnasium.Env):\n  def f(s): s.‹np_random›",
            "gymnasium.Env.np_random",
        ),
        ("import torch.nn as nn\nnn.‹Linear›(1, 2)", "torch.nn.Linear"),
        ("def numpy(): ...\nnumpy.‹maximum›", None),
        ("import unheard_of\nunheard_of.‹x›", None),
        (
            "class C:\n    @property\n    def x(self): ...\n    @x.deleter\n"
            "    def x(self): ...\n    def f(self): self.‹x›",
            HERE + "C.x",
        ),
        (
            "from typing import override\nclass C:\n    x = 1\n    @override\n"
            "    def f(self) -> 'C': ...\nC().f().‹x›",
            HERE + "C.x",
        ),
        (
            "from .game import Game\ndef f(g: Game): (g if g else None).‹step›()",
            STEP,
        ),
        (
            "from .game import Game\nfrom collections.abc import Sequence\n"
            "def f(g: Sequence[Game]): g[0].‹step›()",
            STEP,
        ),
        (
            "class C:\n    x = 1\ndef f():\n"
            "    [[c := C() for a in b] for d in e]\n    c.‹x›",
            HERE + "C.x",
        ),
        (
            "class C:\n    y = 1\nx = C()\ndef f():\n    x = 1\n    def g():\n"
            "        nonlocal x\n        x = 2\nx.‹y›",
            HERE + "C.y",
        ),
    ],
)  # fmt: skip
def test_by_scope_and_not_by_spelling(code, name):
    assert one(code) == name


@pytest.mark.skipif(sys.version_info < (3, 12), reason="positions are exact from 3.12")
@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("def f(): ...\nx = f'{‹f›()}'", HERE + "f"),
        ("def f(): ...\nx = f'{f'{‹f›()}'}'", HERE + "f"),
        ("class T: ...\ndef f[T](x: ‹T›): ...", None),
        ("class T: ...\ndef f[U](x: ‹T›): ...", HERE + "T"),
        ("class C[T]:\n    x = 1\n    def f(self): self.‹x›", HERE + "C.x"),
        ("class T: ...\ndef f[T]() -> ‹T›: ...\nf().x", None),
        ("class T: ...\ntype A[T] = list[‹T›]", None),
        ("class T: ...\ntype A = list[‹T›]", HERE + "T"),
    ],
)
def test_newer_python(code, name):
    assert one(code) == name


def test_names_in_f_strings_bind_all_the_same():
    assert one("def g(): ...\ndef f():\n    f'{(g := 1)}'\n    ‹g›") is None


def test_a_copy_needs_what_is_imported_when_it_runs():
    code = {
        "kiln": '"""Prose alone."""\n',
        "kiln.clay": "import math\n",
        "kiln.fire": "from kiln import clay\n\ndef burn():\n    import kiln.ash\n",
        "kiln.ash": "from . import fire\n",
        "kiln.pot": (
            "import typing\nif typing.TYPE_CHECKING:\n    from kiln import ash\n"
            "else:\n    from .clay import *\n"
        ),
        "kiln.kit": (
            "from importlib import import_module\nimport_module('.ash', __package__)\n"
            "x = [import_module('kiln.glaze')]\nimport_module(name)\n"
        ),
        "kiln.wheel": "from ._built import spin\n",
        "kiln.bowl": "import kiln.wheel, kiln.clay\n",
        "kiln.glaze": "",
        "kiln.glaze.blue": "from ..pot import Pot\nfrom kiln.glaze import thin\n",
    }
    packages = ("kiln", "kiln.glaze")
    book = [
        read(
            text.encode(),
            f"{name.replace('.', '/')}{'/__init__' if name in packages else ''}.py",
            name,
        )
        for name, text in code.items()
    ]
    found = {
        name: [other.module.removeprefix("kiln.") for other in others]
        for name, others in needs(book).items()
    }
    assert found == {
        "kiln.clay": [],
        "kiln.fire": ["ash", "clay"],
        "kiln.ash": ["clay", "fire"],
        "kiln.pot": ["clay"],
        "kiln.kit": ["ash", "clay", "fire", "glaze"],
        "kiln.glaze.blue": ["clay", "glaze", "pot"],
    }


def test_every_reference_stands_where_it_says():
    book = Book(PAGES, inventory())
    for source in PAGES:
        ends = (0, 0)
        for line, column, end, *_ in references(book, source):
            assert source.lines[line - 1][column:end].isidentifier()
            assert (line, column) >= ends, "in order, and apart"
            ends = (line, end)


def test_this_book_is_full_of_links():
    by_module = {source.module: source for source in PAGES}
    book = Book(PAGES, inventory())
    names = {name for *_, name, _ in references(book, by_module["labml_rl.game"])}
    assert "labml_rl.game.GameOptions.stack" in names, "through `self.options`"
    assert "labml_rl.game.Emulator.lives" in names, "through what a function returns"
    names = {name for *_, name, _ in references(book, by_module["labml_rl.worker"])}
    assert "labml_rl.game.make_game" in names


DEFINED = "class Game:\n    def step(self): ...\n\ndef play(): ...\n"


@pytest.mark.parametrize(
    ("code", "also", "reached"),
    [
        ("x = 1", "", ""),
        ("import numpy", "", ""),
        ("from kit.game import Game", "", "kit.game"),
        ("def f():\n    from kit.game import Game", "", "kit.game"),
        ("from kit.game import *", "", "kit kit.game"),
        ("from kit import *", "", "kit kit.game kit.deep kit.deep.end"),
        ("from kit import game", "", "kit kit.game"),
        ("from kit import Game", "", "kit"),
        ("from kit import Game", "from kit.game import Game", "kit kit.game"),
        ("from kit import deep", "", "kit kit.deep kit.deep.end"),
        ("import kit.game as g", "", "kit kit.game kit.deep kit.deep.end"),
        ("import kit", "", "kit kit.game kit.deep kit.deep.end"),
    ],
)
def test_how_far_names_lead(code, also, reached):
    texts = {"kit": also, "kit.game": DEFINED, "kit.deep": "", "kit.deep.end": ""}
    book = [
        read(text.encode(), f"{name}/__init__.py", name) for name, text in texts.items()
    ]
    user = read(code.encode(), "user.py", "user")
    assert reach([*book, user])["user"] == {"user", *reached.split()}


def test_what_no_import_leads_to_makes_no_difference():
    """Modules of this book are broken in turn, and those that differ reach them."""
    reached = reach(PAGES)
    book = Book(PAGES)
    as_it_is = {source: references(book, source) for source in PAGES}
    differ = 0
    for broken in PAGES[::16]:
        code = re.sub(r"(?m)^( *)(def|class) ", r"\1\2 no_", "".join(broken.lines))
        new = read(code.encode(), broken.path, broken.module)
        others = [source for source in PAGES if source is not broken]
        book = Book([new, *others])
        for source in others:
            if references(book, source) != as_it_is[source]:
                assert broken.module in reached[source.module]
                differ += 1
    assert differ > len(PAGES[::16])


# ---- Any code at all


def test_the_standard_library_as_a_book():
    """It holds for code that was never annotated, and nothing in it raises."""
    found = []
    # One in three, from all of the alphabet.
    for path in STANDARD_LIBRARY[::3]:
        try:
            found.append(read(path.read_bytes(), path.name, path.stem))
        except PressError:
            continue
    book = Book(found, inventory())
    count = 0
    for source in found:
        for line, column, end, *_ in references(book, source):
            assert source.lines[line - 1][column:end].isidentifier()
            count += 1
    assert count > 10_000
    found = found[:30]
    crossings = cross(found, catalogue(found), inventory())
    for source in found:
        check_text(source, coloured(source, crossings[source.module]))


@pytest.mark.parametrize(
    "code",
    [
        "x = " + "a." * 800 + "b",
        "x = a" + "()" * 300,
        "x = a" + "[0]" * 90,
        "\n".join(f"class C{n}(C{n + 1}): x = C{n + 1}.x" for n in range(2000)),
        "\n".join(f"class C{n + 1}(C{n}): x = C{n}.y" for n in range(2000)),
        "\n".join(f"a{n} = a{n + 1}" for n in range(500)) + "\na500 = a0\na0.x",
        "from .m import *\n__all__ = x\nm",
        "from ....... import x\nfrom ...y.z import *\nx",
        "def f(): f().f().f()",
        "class A(B): ...\nclass B(A): ...\nA.x",
        "class A(B, C): ...\nclass B: ...\nclass C(B): ...\nA.x",
        "x: 'x' = x\nx.x.x",
        'x: "Annotated[str, \'\\\\d\']"',
        "ｘ = 1\nx",
        "x: '''\nx'''",
        "\x0cx = 1; x",
        "lambda self: self.x",
        "class A:\n    f = lambda self: self.f",
        "def f(*, self): self.x",
        "global x\nx = 1\nx\ndef f(): return x",
        "nonlocal_ = 1",
    ],
)  # fmt: skip
def test_strange_code_never_fails(code):
    try:
        source = read(code.encode(), "m.py", "m")
    except PressError:
        pytest.skip("this Python does not read it")
    places = catalogue([source])
    crossing = cross([source], places, inventory())["m"]
    check_text(source, coloured(source, crossing))


def test_modules_that_import_everything_from_each_other():
    names = [f"m{n}" for n in range(12)]
    texts = {
        name: "".join(f"from .{other} import *\n" for other in names if other != name)
        + f"def f_{name}(): ...\nnothing, f_m3\n"
        for name in names
    }
    found = sources(**texts)
    book = Book(found, inventory())
    names_there = {name for *_, name, _ in references(book, found[-1])}
    assert not any(name.endswith(".nothing") for name in names_there)
    assert "book.m11.f_m11" not in names_there, "in a circle nobody can tell"


def test_work_grows_with_length_and_not_faster():
    """Calls are counted. Times differ with what else the machine has to do."""

    def calls(count: int) -> int:
        body = "".join(
            f"def f{n}(x: C) -> C:\n    '''Ä.'''\n    ä = f{n // 2}(x)\n"
            f"    return ä.m().m().m() or [y.m() for y in [x]]\n\n"
            f"total = f{n}(total)\nC.one = total\n"
            for n in range(count)
        )
        text = f"class C:\n    def m(self) -> 'C': ...\n\n\n{body}"
        source = read(text.encode(), "m.py", "m")
        outside = inventory()
        with cProfile.Profile() as profile:
            found = references(Book([source], outside), source)
        assert len(found) > 5 * count
        return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]

    # Quadratic would be 256 times as many.
    assert 15 < calls(1600) / calls(100) < 17


# ---- Inventories


def test_inventories_are_small_and_whole():
    sizes = {path.name: path.stat().st_size for path in INVENTORIES.glob("*.txt")}
    assert set(sizes) >= {"python.txt", "numpy.txt", "torch.txt", "gymnasium.txt"}
    assert all(size < 160_000 for size in sizes.values())
    for name, entry in inventory().items():
        assert all(part.isidentifier() for part in name.split(".")), name
        assert re.fullmatch(r"https://[\w./#*+-]+", entry.url), entry
        assert "*" not in entry.url


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("len", "https://docs.python.org/3/library/functions.html#len"),
        ("ast", "https://docs.python.org/3/library/ast.html#module-ast"),
        (
            "collections.deque",
            "https://docs.python.org/3/library/collections.html#collections.deque",
        ),
        (
            "numpy.stack",
            "https://numpy.org/doc/stable/reference/generated/"
            "numpy.stack.html#numpy.stack",
        ),
        ("gymnasium.Env", "https://gymnasium.farama.org/api/env/#gymnasium.Env"),
        ("ale_py.Action", "https://ale.farama.org/env-spec/#available-actions"),
        (
            "tyro.conf.arg",
            "https://brentyi.github.io/tyro/api/tyro/conf/#tyro.conf.arg",
        ),
        ("tqdm.tqdm.update", "https://tqdm.github.io/docs/tqdm/"),
    ],
)
def test_where_documentation_is(name, url):
    assert inventory()[name].url == url


@pytest.mark.parametrize(
    ("package", "least"),
    [
        *(("ale_py", 10), ("cv2", 10), ("gymnasium", 10), ("numpy", 100)),
        *(("torch", 100), ("PIL", 10), ("av", 3), ("safetensors", 3), ("tqdm", 3)),
        ("tyro", 5),
    ],
)
def test_what_was_written_by_hand_exists(package, least):
    """Every name can be had from the package that is installed, and is what it says."""
    pytest.importorskip(package)
    listed = {
        name: entry
        for name, entry in inventory().items()
        if name.partition(".")[0] == package
    }
    assert len(listed) >= least
    for name, entry in listed.items():
        # Attributes that are only declared have no value before there is an instance.
        whole, _, last = name.rpartition(".")
        declared = getattr(found_at(whole), "__annotations__", {}) if whole else {}
        if last not in declared:
            assert inspect.isclass(found_at(name)) == entry.is_class, name


def found_at(name):
    """A module, or what is in one."""
    try:
        return importlib.import_module(name)
    except ImportError:
        whole, _, last = name.rpartition(".")
        return getattr(found_at(whole), last)


def test_an_inventory_is_distilled_and_read_again():
    listed = (
        "mod py:module 0 library/mod.html#module-$ -\n"
        "mod.f py:function 1 library/mod.html#$ -\n"
        "mod.C py:class 1 library/mod.html#$ -\n"
        "mod.C.x py:attribute 1 library/mod.html#$ -\n"
        "len py:function 1 library/functions.html#$ -\n"
        "odd py:function 1 library/functions.html#elsewhere -\n"
        "Py_Thing c:function 1 c-api/x.html#c.$ -\n"
        "imp.f py:function 1 library/imp.html#$ -\n"
    )
    head = b"# Sphinx inventory version 2\n# Project: M\n# Version: 1\n# zlib\n"
    data = head + zlib.compress(listed.encode())
    lines = list(distill("https://example.org/", data))
    assert lines == [
        "https://example.org/",
        "library/functions.html",
        "f len",
        "library/mod.html mod",
        "m mod",
        "f .C.x .f",
        "c .C",
    ]
    entries = dict(read_inventory("\n".join(lines)))
    assert set(entries) == {"mod", "mod.f", "mod.C", "mod.C.x", "len"}
    assert entries["mod"].url == "https://example.org/library/mod.html#module-mod"
    assert entries["mod.C"].is_class
    assert not entries["mod.f"].is_class


# ---- HTML


def coloured(source, crossing):
    return highlight(source.text, source.tokens, crossing.links)


def check_text(source, html):
    for line, made in zip(source.lines, html, strict=True):
        assert unescape(re.sub(r"<[^>]*>", "", made)) == line.rstrip("\r\n")


def test_a_link_keeps_text_and_colour():
    text = "x = f(a.b) < '<&>'  # f\n"
    outside = opening("p.html#a&b", is_outside=True)
    twice = opening("#b", is_stop=False)
    links = {1: [(4, 5, opening("#f")), (6, 7, outside), (8, 9, twice)]}
    (html,) = highlight(text, lex(text), links)
    assert '<span class="n"><a href="#f">f</a></span>' in html
    assert '<a href="p.html#a&amp;b" class="sbs-out" rel="noopener">a</a>' in html
    assert '<a href="#b" tabindex="-1">b</a>' in html
    assert unescape(re.sub(r"<[^>]*>", "", html)) == text.rstrip("\n")
    assert html.count("<a ") == html.count("</a>") == 3


def test_parts_of_a_token_can_be_links():
    text = "import a.b.c as d\n"
    links = {1: [(7, 8, opening("a")), (9, 10, opening("b")), (11, 12, opening("c"))]}
    (html,) = highlight(text, lex(text), links)
    assert (
        '<span class="nn"><a href="a">a</a>.<a href="b">b</a>.<a href="c">c</a></span>'
        in html
    )


def test_the_tab_key_stops_once_at_each_place():
    found = sources(
        here="from .game import SIZE\n\n# One.\nx = SIZE, SIZE\n# Two.\nSIZE\n"
    )
    crossing = cross(found, catalogue(found), inventory())["book.here"]
    stops = {
        line: ["tabindex" not in tag for *_, tag in links]
        for line, links in crossing.links.items()
    }
    assert stops == {1: [True, True], 4: [False, False], 6: [False]}


def test_a_name_does_not_lead_to_where_it_stands():
    found = sources(here="X = 1\nY = X\n# Later.\nZ = X\n")
    links = cross(found, catalogue(found), inventory())["book.here"].links
    assert list(links) == [4]


def test_well_known_built_ins_are_no_links():
    found = sources(here="x: int = len(zip(str(), list()))\n")
    links = cross(found, catalogue(found), inventory())["book.here"].links
    assert [tag for *_, tag in links[1]] == [opening(inventory()["zip"].url, True)]


# ---- Addresses


@pytest.mark.parametrize(
    ("page", "place", "file", "folder"),
    [
        ("b/game.md", Place("b/game.md", "G"), "#G", "#G"),
        ("b/game.md", Place("b/worker.md", "W"), "worker.html#W", "../worker/#W"),
        ("b/game.md", Place("b/index.md", ""), "index.html", "../"),
        ("b/index.md", Place("b/game.md", "G"), "game.html#G", "game/#G"),
        ("b/game.md", Place("b/c/d.md", "D"), "c/d.html#D", "../c/d/#D"),
        ("b/c/index.md", Place("b/game.md", "G"), "../game.html#G", "../game/#G"),
        ("b/game.md", Place("a/index.md", "A"), "../a/index.html#A", "../../a/#A"),
        ("index.md", Place("a/index.md", "A"), "a/index.html#A", "a/#A"),
        ("a/x.md", Place("index.md", ""), "../index.html", "../../"),
    ],
)
def test_addresses(page, place, file, folder):
    assert place.url_from(page, use_directory_urls=False) == file
    assert place.url_from(page, use_directory_urls=True) == folder


# ---- Uses


def uses_of(name: str, **more: str) -> list[tuple[str, str]]:
    found = sources(**more)
    places = catalogue(found)
    place = places[name]
    module = next(s.module for s in found if name.startswith(f"{s.module}."))
    module = max((s.module for s in found if name.startswith(f"{s.module}.")), key=len)
    crossing = cross(found, places, inventory())[module]
    return [(use.name, use.target) for use in crossing.uses.get(place.anchor, ())]


def test_a_definition_knows_who_uses_it():
    uses = uses_of(
        "book.game.make_game",
        here=(
            "from .game import make_game\n\ndef f():\n    make_game()\n"
            "    # Again.\n    make_game()\n\nmake_game()\n"
        ),
    )
    assert uses == [
        ("book.here.f", "here.html#f"),
        ("book.here", "here.html#make_game"),
    ], "once for each definition, not for the import"


def test_it_does_not_use_itself():
    assert uses_of("book.here.f", here="def f():\n    f()\n    # x\n    f()\n") == []
    uses = uses_of(
        "book.here.C",
        here="class C:\n    def f(self): C\n\n    def g(self):\n        C\n",
    )
    assert uses == []


def test_a_class_is_not_used_by_its_own_methods():
    code = "class C:\n    x = 1\n\n    def f(self):\n        return self.x\n"
    assert uses_of("book.here.C", here=code) == []


def test_names_that_a_package_imports_can_be_linked_to():
    found = sources(
        user="from book.game import make_game\n\nmake_game()\n",
        deep="class Mine:\n    # Words.\n    def f(self): pass\n",
    )
    inner = "from ..deep import Mine\nfrom ..game import make_game as x_\n"
    found.append(read(inner.encode(), "book/inner/__init__.py", "book.inner"))
    places = catalogue(found)
    assert places["book.make_game"] == places["book.game.make_game"]
    assert places["book.inner.Mine.f"] == places["book.deep.Mine.f"]
    assert places["book.inner.x_"] == places["book.game.make_game"]
    assert "book.inner.x" not in places
    crossings = cross(found, places, inventory())
    uses = crossings["book.game"].uses[places["book.game.make_game"].anchor]
    assert not any(use.of for use in uses), "another name is no other definition"


def test_what_a_module_has_imported_can_be_imported_from_there():
    found = sources(
        one="from .game import Game as Mine\nfrom .three import lost\n",
        two="# [Mine.step][], [Ours][]\nfrom .one import Mine, Mine as Ours\nx = 1\n",
        three="from .one import lost\n",
    )
    found.append(
        read(b"from ..two import Ours", "book/inner/__init__.py", "book.inner")
    )
    places = catalogue(found)
    for name in ("one.Mine", "inner.Ours"):
        assert places[f"book.{name}.step"] == places["book.game.Game.step"]
    assert "book.one.lost" not in places, "each has it from the other"
    (two,) = (source for source in found if source.module == "book.two")
    prose = weave(two, places).rows[0].prose
    assert "(game.md#Game.step), [`Ours`](game.md#Game)" in prose


def test_uses_in_the_same_module_have_short_names():
    code = "def f(): ...\n\n\nclass C:\n    def g(self):\n        f()\n"
    assert uses_of("book.here.f", here=code) == [("C.g", "#C.g")]


def test_attributes_are_no_uses_of_init():
    code = (
        "class C:\n    def __init__(self):\n        self.x = 1\n\n"
        "    def f(self):\n        return self.x\n"
    )
    assert uses_of("book.here.C.__init__", here=code) == []


def test_uses_say_of_what_where_a_section_defines_several_things():
    found = sources(
        here="A = 1\na = 2\nNOT_USED = 3\n\n\ndef f():\n    return a\n\n\n"
        "class C:\n    # Fields.\n    x: int = 1\n    y: int = 2\n",
        there="from book.here import C, A\n\nA, C.y\n",
    )
    places = catalogue(found)
    crossings = cross(found, places, inventory())
    here = next(s for s in found if s.module == "book.here")
    uses = crossings["book.here"].uses
    constants = uses[places["book.here.A"].anchor]
    assert [(use.of, use.name) for use in constants] == [
        ("A", "book.there"),
        ("a", "f"),
    ]
    fields = uses[places["book.here.C.y"].anchor]
    assert [(use.of, use.name) for use in fields] == [("y", "book.there")]
    assert [use.of for use in uses["C"]] == [""], "a class has its section to itself"
    text = render(weave(here, places, crossing=crossings["book.here"]), environment())
    listed = re.sub(r'there\.html#[^"]+', "there.html", text)
    assert (
        "</summary>\n<p><code>A</code></p>\n<ul>\n"
        '<li><a href="there.html"><code>book.<wbr>there</code></a></li>\n</ul>\n'
        '<p><code>a</code></p>\n<ul>\n<li><a href="#f"><code>f</code></a></li>\n</ul>\n'
        "</details>"
    ) in listed
    assert "Used in 2 places" in text


def test_uses_are_on_the_page():
    found = sources(here="from .game import make_game\n\n\ndef f():\n    make_game()\n")
    places = catalogue(found)
    crossings = cross(found, places, inventory())
    game = next(s for s in found if s.module == "book.game")
    page = weave(game, places, crossing=crossings["book.game"])
    text = render(page, environment())
    assert (
        '<li><a href="here.html#f"><code>book.<wbr>here.<wbr>f</code></a></li>' in text
    )
    assert "<summary><code>make_game</code> is used in 1 place</summary>" in text
    assert text.count("<details") == len([row for row in page.rows if row.uses])
    unused = next(row for row in page.rows if row.anchor == "games")
    assert not unused.uses


# ---- A site


class Collector(HTMLParser):
    """The ids of a page, and the addresses of the links in its code and its uses."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.hrefs: list[dict[str, str | None]] = []
        self.uses: list[str] = []
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if given.get("id"):
            self.ids.add(given["id"])
        classes = (given.get("class") or "").split()
        if "sbs-code" in classes or "sbs-uses" in classes:
            self.inside = "code" if "sbs-code" in classes else "uses"
        if tag == "a" and self.inside == "code":
            self.hrefs.append(given)
        if tag == "a" and self.inside == "uses":
            self.uses.append(given["href"])

    def handle_endtag(self, tag):
        if tag in ("pre", "details"):
            self.inside = ""


CONFIG = """
site_name: Small
use_directory_urls: {urls}
theme: {{name: material, font: false}}
plugins:
  - search
  - sidebyside:
      packages: [book]
validation: {{links: {{anchors: warn}}}}
nav: [{nav}]
"""


@pytest.mark.parametrize("urls", ["true", "false"])
def test_every_link_of_a_site_leads_somewhere(tmp_path: Path, urls):
    files = {
        "book/__init__.py": SOURCES["book"],
        "book/game.py": '"""\n# Game\n"""\n' + GAME,
        "book/deep/__init__.py": (
            "from ..game import Game, SIZE\n\n\nclass Mine(Game):\n"
            "    # Words.\n    def f(self):\n        return self.step(), SIZE\n"
        ),
        "book/deep/er.py": "from . import Mine\n\n\ndef g(m: Mine):\n    m.f(zip())\n",
    }
    pages = [p.replace("__init__", "index").replace(".py", ".md") for p in files]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n")
    config = CONFIG.format(urls=urls, nav=", ".join(["index.md", *pages]))
    (tmp_path / "mkdocs.yml").write_text(config)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = build(tmp_path)
    assert done.returncode == 0, done.stderr

    site = tmp_path / "site"
    found = {path: Collector(path.read_text()) for path in site.rglob("*.html")}
    inside = outside = 0
    for path, page in found.items():
        for link in page.hrefs:
            href = link["href"] or ""
            if href.startswith("https://"):
                assert link["rel"] == "noopener"
                outside += 1
                continue
            file, _, anchor = href.partition("#")
            target = (path.parent / file).resolve() if file else path
            target = target / "index.html" if file.endswith("/") else target
            assert target in found, (path, href)
            assert not anchor or anchor in found[target].ids, (path, href)
            inside += 1
    assert inside > 15
    assert outside > 3
    assert sum(len(page.uses) for page in found.values()) > 5
    index = (site / "search" / "search_index.json").read_text()
    assert "Used in" not in index


def test_ast_is_what_this_python_has():
    """What is registered by name exists, or is newer than this Python."""
    assert {ast.Name, ast.ClassDef, ast.MatchAs, ast.NamedExpr} <= set(STEPS)
    assert (sys.version_info >= (3, 12)) == hasattr(ast, "TypeAlias")


def test_a_star_brings_the_methods_of_what_all_names():
    here = "__all__ = ['C']\nclass C:\n    def f(self): ...\n"
    found = sources(a=here, b="from .a import *\n")
    assert "book.b.C.f" in catalogue(found)


def test_a_star_of_the_package_around_a_module_comes_to_an_end():
    """A module there has itself once more by it, and is not to have that again."""
    texts = {
        "kiln/__init__": "class C: ...\n",
        "kiln/ash": "from kiln import *\ndef f(): ...\n",
        "kiln/wood": "from . import *\n",
        "kiln/fire": "from .ash import *\n",
    }
    names = {path: path.removesuffix("/__init__").replace("/", ".") for path in texts}
    places = catalogue(
        read(text.encode(), f"{path}.py", names[path]) for path, text in texts.items()
    )
    assert places["kiln.ash.C"] == places["kiln.fire.C"] == places["kiln.C"]
    assert places["kiln.wood.ash.f"] == places["kiln.ash.f"]
    assert "kiln.ash.ash.ash.f" not in places


def test_an_attribute_is_defined_in_init():
    text = "class C:\n    def a(self):\n        self.x = 1\n\n"
    text += "    def __init__(self):\n        self.x = 2\n"
    source = read(text.encode(), "m.py", "m")
    assert catalogue([source])["m.C.x"].anchor == "C.__init__"


def test_an_error_is_a_class():
    head = b"# Sphinx inventory version 2\n# Project: M\n# Version: 1\n# zlib\n"
    data = head + zlib.compress(b"m.E py:exception 1 m.html#$ -\n")
    assert own_inventory("https://a.org", data)["m.E"].is_class
