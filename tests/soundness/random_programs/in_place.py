"""Random programs whose values are computed in the memory of what they are computed from: each
element needs others' elements, which must have been read before.
"""

from __future__ import annotations

from random import Random

from tests.soundness.random_programs.author import Author, Source

SHAPES = ((3,), (4,), (17,), (2, 3), (3, 2), (3, 3), (4, 4))
OF_ANY = (
    "{x} * {x}[..., 0:1{rows}]",
    "{x} - {x}[..., 0{rows}]",
    "{x} + {x}[..., ::-1{rows}]",
    "wb.cumsum({x}, axis=0)",
    "wb.softmax({x}, axis=0)",
    "{x} * {x}.sum(axis=0)",
    "{x} - {x}.max(axis=0)",
    "wb.concatenate([{x}[..., 1:{rows}], 1.0 * {x}[..., :1{rows}]])",
    "wb.reshape(2.0 * wb.reshape({x}, (-1,)), {shape})",
    "wb.reshape(wb.reshape({x}, (-1,))[..., ::-1], {shape})",
)
OF_VECTORS = (
    "(wb.reshape({x}, (-1, 1)) - wb.reshape({x}, (1, -1))).sum(axis=1)",
    "{x} + {x}[..., wb.cast(wb.absolute({x}[..., 1]) * 2.0, int) % 3]",
    "wb.add_at({x}, (wb.cast(wb.absolute({x}[..., 0]) * 2.0, int) % 3,), {x}[..., 1])",
)
OF_MATRICES = (
    "{x} + {x}[..., 1, :]",
    "{x} * {x}[..., :, 1:2]",
    "wb.reshape(wb.transpose({x}), {shape})",
    "wb.cumsum({x}, axis=1)",
    "wb.softmax({x}, axis=1)",
    "{x} - wb.reshape({x}.mean(axis=1), ({shape[0]}, 1))",
)
OF_SQUARES = (
    "1.0 * wb.transpose({x})",
    "{x} + wb.transpose({x})",
    "0.3 * ({x} @ ({x} + 0.1))",
    "{x} + wb.reshape({x}[..., 0], (-1, 1)) * wb.reshape({x}[..., 0], (1, -1))",
)


def written(dice: Random) -> Source:
    """One program, decided by the dice."""
    author = Author(dice=dice, dims=dice.choice((("i",), ("b", "i"), ("b", "i"))))
    shape = dice.choice(SHAPES)
    (_recurrences if author.happens(0.7) else _one_after_the_other)(author, shape)
    return author.source()


def update(dice: Random, shape: tuple[int, ...], name: str) -> str:
    """One or two updates of a value, one of the other."""
    rows = OF_ANY + (OF_VECTORS if len(shape) == 1 else OF_MATRICES)
    if len(shape) == 2 and shape[0] == shape[1]:
        rows += OF_SQUARES
    text = name
    for _ in range(dice.randrange(1, 3)):
        axes = ", :" * (len(shape) - 1)
        text = f"({dice.choice(rows)})".format(x=text, rows=axes, shape=shape)
    return text


def _recurrences(author: Author, shape: tuple[int, ...]) -> None:
    """One array, or two of which each needs both."""
    several = author.happens(0.4)
    arrays = [author.recurrent(n, author.dims, "i", f"{shape}") for n in ("x", "y")[: 1 + several]]
    before = tuple(d for d in author.dims if d != "i")
    for array in arrays:
        author.lines.append(f"{array:0} = 0.5 + {author.draw(before, shape)}")
    for array, other in zip(arrays, reversed(arrays), strict=True):
        text = f"wb.tanh({update(author.dice, shape, other.name)}) + 0.1"
        if several:
            text = f"0.5 * {array} + {text}"
        if author.happens(0.5):
            text = author.assign("z", text)
        author.lines.append(f"{array:i + 1} = {text}")
    for array in arrays:
        author.output("last", f"{array:I}")


def _one_after_the_other(author: Author, shape: tuple[int, ...]) -> None:
    """Values of which each is the last reader of the one before."""
    name = author.assign("v", f"wb.exp({author.draw(author.dims, shape)} - 0.5)")
    for _ in range(author.dice.randrange(1, 4)):
        name = author.assign("v", f"wb.tanh({update(author.dice, shape, name)})")
    total = f"({name} * {name}).sum(axis={tuple(range(len(shape)))})"
    author.output("o", f"1.0 * {name} + {total}")
