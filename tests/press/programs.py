"""Programs of every shape that Python allows."""

PROGRAMS = {
    "empty": b"",
    "blank": b"\n\n  \n",
    "only comments": b"# One.\n\n# Two.\n",
    "one line": b"x=1",
    "only a docstring": b"'''Text.'''",
    "form feeds": b"x = 1\n\x0c\n# Text.\n\x0cy = 2\n\x0cclass C:\n    pass\n",
    "BOM": b"\xef\xbb\xbf# Text.\nx = '\xc3\xa9'\n",
    "CRLF": b"'''A\r\n\r\n- b\r\n'''\r\n# Text.\r\nx = (\r\n    # In.\r\n    1)\r\n",
    "CR": b"# Text.\rx = 1\r",
    "tabs": b"class C:\n\tdef f(self):\n\t\t'''Text.\n\n\t\tArgs:\n\t\t\tx: y\n\t\t'''\n\t\t# A\n\t\treturn 1\n",
    "latin-1": b"# coding: latin-1\n# Text \xe9.\nx = '\xe9'\n",
    "cp1252": b"#!/usr/bin/python\n# -*- coding: cp1252 -*-\nx = '\x80'\n",
    "utf-16 in a string": b"x = '\\ud800'\n",
    "match": b"match x:\n    # First.\n    case [1, *_] if y:\n        pass\n    case C(a=b) | {'k': v}:\n        # Second.\n        def f():\n            '''T.'''\n",
    "f-strings": b"x = f'{f\"{y!r:>{w}}\" + \"#\"}{{}}{z=}'\n# Text.\ny = f'''\n# not a comment {\n1}\n'''\n",
    "async": b"async def f():\n    '''T.'''\n    async with a as b, c:\n        # Text.\n        async for d in e:\n            await d\n    return [x async for x in y]\n",
    "lambda": b"f = lambda x, /, *a, y=1, **k: (\n    # Text.\n    x)\n",
    "walrus": b"if (x := 1):\n    # Text.\n    pass\n",
    "decorators": b"@a\n# Text.\n@b(\n    1,\n    # In.\n)\nclass C(\n    Base,\n    # In.\n    metaclass=M,\n):\n    # After.\n    x: int = 1\n",
    "try": b"try:\n    pass\n# Text.\nexcept* A as e:\n    pass\nelse:\n    # More.\n    pass\nfinally:\n    pass\n",
    "semicolons": b"x = 1; y = 2; # Text.\nif x: y; z\n",
    "backslashes": b"x = 1 + \\\n    2\n# Text.\nwith a as b, \\\n     c as d:\n    pass\n",
    "docstrings": b"def f(): 'one'\ndef g():\n    b'bytes'\ndef h():\n    f'{x}'\ndef i():\n    'a' 'b'\ndef j():\n    ('''a\n    b''')\n",
    "unicode": "# Überschrift 🎉\nclass Ünïcode:\n    def 方法(self): pass\n".encode(),
    "odd names": b"def __(): pass\ndef _(): pass\nclass __C__: pass\nx = __ = _ = 1\n",
    "same names": b"def f(): pass\n" * 5 + b"# Same.\nx = 1\n" * 5,
    "a long line": b"x = ["
    + b"1, " * 20_000
    + b"]\n# "
    + b"word " * 20_000
    + b"\ny = 1\n",
    "a long name": b"x" * 20_000 + b" = 1\ndef " + b"f" * 5_000 + b"(): pass\n",
    "no end": b"# Text.\nx = 1\n# End.",
    "a star": b"from .... import *\nfrom . import a as b\nimport a.b.c as d, e\n",
    "deep": b"".join(b" " * n + b"if x:\n" for n in range(90))
    + b" " * 90
    + b"# T\n"
    + b" " * 90
    + b"pass\n",
    "deep brackets": b"x = " + b"[" * 90 + b"\n# T\n" + b"]" * 90 + b"\n",
}
NEW_PROGRAMS = {
    (
        3,
        12,
    ): b"class C[T: int, *Ts, **P]:\n    def f[U](self, x: U) -> T:\n        '''T.\n\n        Args:\n            x: it\n        '''\ntype A[T] = list[T]\nx = f'{'a' + f'{'b'}'}'\n",
}
