"""Random programs in which a value is held by recurrent tensors and windows, and is read in place,
elsewhere, over ranges and at random: whether it has an array of its own must not matter.
"""

from __future__ import annotations

from random import Random

from tests.soundness.lines import SIZE_OF, listed
from tests.soundness.random_programs.author import Along, Author, Source

DIMS = (("t",), ("b", "t"), ("b", "t"), ("i", "t"), ("b", "i", "t"))
VALUES = (
    "1.0 * {u}",
    "wb.sin(2.0 * {u})",
    "{u} * {u}",
    "wb.tanh({u} - 0.5)",
    "{u} + wb.cast(wb.index(t), float)",
)
BOUNDS = (("0", "t + 1"), ("wb.maximum(t - 2, 0)", "t + 1"), ("t", "T"), ("0", "T"))
FIXED = ("0", "T - 1", "T - 1 - t", "wb.maximum(t - 1, 0)", "t // 2", "wb.minimum(t + 1, T - 1)")
FOLDS = ("sum", "mean", "max", "min", "std", "argmax")


def written(dice: Random) -> Source:
    """One program, decided by the dice."""
    author = Author(dice=dice, dims=dice.choice(DIMS))
    over = author.ordered(author.some(author.dims), ("t",))
    value = Along(author.assign("v", dice.choice(VALUES).format(u=author.draw(over))), over, "t")
    held = [_held(author, f"x{n}", value) for n in range(dice.randrange(1, 3))]
    if author.happens(0.4):
        author.output("w", f"wb.window({value}, t={dice.choice((2, 3))})")
    for _ in range(dice.randrange(2, 5)):
        _read(author, value if author.happens(0.7) else dice.choice(held))
    if author.happens(0.5):
        author.outputs += [array.name for array in held]
    return author.source()


def _held(author: Author, name: str, value: Along) -> Along:
    """A recurrent tensor whose slices are a value's, so many steps later."""
    array = author.recurrent(name, value.over, "t")
    later = author.dice.choice((0, 1, 1, 2))
    author.lines += [f"{array:{n}} = {0.25 * (n + 1)}" for n in range(later)]
    author.lines.append(f"{array:{f't + {later}' if later else 't'}} = {value}")
    return array


def _read(author: Author, array: Along) -> None:
    """An output that reads an array somewhere."""
    dice = author.dice
    kind = dice.choice(
        ("gather", "gather", "within", "range", "place", "scan", "several", "exchanged")
    )
    low, high = dice.choice(BOUNDS)
    if kind == "gather":
        index = author.position(author.some(author.dims), "0", "T")
        author.output("g", f"wb.gather({array}, t={index})")
    elif kind == "within":
        index = author.position(author.ordered(author.some(author.dims), ("t",)), low, high)
        author.output("g", f"wb.gather({array}, t=wb.within({index}, {low}, {high}))")
    elif kind == "range":
        author.output("r", f"{array:{low}:{high}}.{dice.choice(FOLDS)}()")
    elif kind == "place":
        author.output("p", f"0.5 * {array:{dice.choice(FIXED)}} + {array:t}")
    elif kind == "several":
        first = author.position(author.some(author.dims), "0", "T")
        second = author.assign("j", f"T - 1 - {first}")
        author.output("g", f"wb.gather({array}, t={first}) - wb.gather({array}, t={second})")
    elif kind == "exchanged" and len(array.over) > 1:
        author.output("e", f"0.5 * {_exchanged(array)} + {array:t}")
    else:
        _scan(author, array)


def _exchanged(array: Along) -> str:
    """A read with each dim in the place of another."""
    pairs = zip(array.over, array.over[::-1], strict=True)
    places = [f"wb.minimum({other}, {SIZE_OF[d]} - 1)" for d, other in pairs]
    return f"{array.name}[{', '.join(places)}]"


def _scan(author: Author, array: Along) -> None:
    """A recurrence that adds up an array, and what it comes to."""
    author.count += 1
    total = author.recurrent(f"s{author.count}", array.over, "t")
    author.lines += [f"{total:0} = 0.0", f"{total:t + 1} = 0.7 * {total} + {array:t}"]
    author.output("q", f"{total:T} + {array:0}")
    rest = [d for d in array.over if d != "t"]
    if rest:
        author.output("q", f"{total:T}.sum(over={listed(rest)})")
