"""Random programs of updates that hand on a state, read what the last updates had, sample what they
stored, and learn: a run of them may stop after any, and go on.
"""

from __future__ import annotations

from random import Random

from tests.soundness.lines import listed
from tests.soundness.random_programs.author import Along, Author, Source

DIMS = (("i",), ("b", "i"), ("i", "t"), ("b", "i", "t"), ("b", "i", "t"))
VALUES = ("wb.tanh(y + {u})", "y * {u}", "wb.sin(2.0 * y) + {u}")
OPTIMIZERS = ("adam", "rmsprop", "sgd")


def written(dice: Random) -> Source:
    """One program, decided by the dice."""
    author = Author(dice=dice, dims=dice.choice(DIMS))
    shape = dice.choice(((), (), (3,)))
    y = author.recurrent("y", author.dims, "i", f"{shape}")
    drawn = author.draw(author.dims, shape)
    value = author.assign("z", dice.choice(VALUES).format(u=drawn))
    held = [Along(value, author.dims, "i"), _held(author, "x", value, shape)]
    for _ in range(dice.randrange(1, 4)):
        _read(author, dice.choice(held))
    if "b" in author.dims and author.happens(0.6):
        _replay(author, value, shape)
    _state(author, y, drawn)
    if author.happens(0.4):
        _learned(author, value, drawn, bool(shape))
    if author.happens(0.4):
        author.outputs.append(dice.choice((value, "y")))
    return author.source()


def _held(author: Author, name: str, value: str, shape: tuple[int, ...]) -> Along:
    """A recurrent tensor that has a value so many updates later."""
    array = author.recurrent(name, author.dims, "i", f"{shape}")
    later = author.dice.choice((0, 1, 1, 2))
    author.lines += [f"{array:{n}} = {0.1 * (n + 1):.1f}" for n in range(later)]
    author.lines.append(f"{array:{f'i + {later}' if later else 'i'}} = {value}")
    return array


def _read(author: Author, array: Along) -> None:
    """An output that reads what one of the last updates had."""
    low = f"wb.maximum(i - {author.dice.randrange(4)}, 0)"
    over = author.ordered(author.some(author.dims), ("i",))
    index = f"wb.within({author.position(over, low, 'i + 1')}, {low}, i + 1)"
    kind = author.dice.choice(("one", "one", "both", "place"))
    if kind == "place":
        author.output("p", f"2.0 * {array:i}")
    elif kind == "both" and "t" in author.dims:
        step = author.position(over, "0", "T")
        author.output("g", f"wb.gather({array}, i={index}, t={step})")
    else:
        author.output("g", f"wb.gather({array}, i={index})")


def _replay(author: Author, value: str, shape: tuple[int, ...]) -> None:
    """A replay buffer of as much as one to three updates store, and samples of it."""
    steps = "B * T" if "t" in author.dims else "B"
    fields = f'{{"z": (float, {shape}), "n": (int, ())}}'
    author.lines += [
        f"m = wb.dim(m={author.dice.choice((2, 3))})",
        f"replay = rl.Replay({author.dice.randrange(1, 4)} * {steps}, {fields}, "
        f"over={listed(author.dims)})",
        f"replay.write(z={author.dice.choice((value, 'y'))}, n=wb.index(i) * 100)",
        "sampled = replay.sample(m)",
    ]
    author.output("s", 'sampled["z"]')
    author.output("s", 'sampled["n"]')


def _state(author: Author, y: Along, drawn: str) -> None:
    """The state, which a step or an update hands on to the next."""
    following = f"wb.tanh(0.6 * y + 0.2 * {drawn})"
    if "t" not in author.dims:
        author.lines += [f"{y:0} = 0.3", f"{y:i + 1} = {following}"]
        return
    before = ", ".join(d for d in author.dims if d not in ("i", "t"))
    at = f"y[{before}, " if before else "y["
    author.lines += [
        f"{at}0, 0] = 0.3",
        f"{at}i, t + 1] = {following}",
        f"{at}i + 1, 0] = {at}i, T] * 0.9",
    ]


def _learned(author: Author, value: str, drawn: str, vector: bool) -> None:
    """A network that learns from a value."""
    given = value if vector else f"wb.stack([{value}, {drawn}, y])"
    rest = [d for d in author.dims if d != "i"]
    author.lines += ['net = nn.mlp("net", 3, (5,), 1)', "theta = nn.parameters(net, over=i)"]
    error = author.assign("q", f"(net(theta, {given})[..., 0] - 0.3) ** 2")
    loss = author.output("l", f"{error}.mean(over={listed(rest)})" if rest else f"1.0 * {error}")
    optimizer = author.dice.choice(OPTIMIZERS)
    author.lines.append(f"theta.update(optim.{optimizer}(wb.gradient({loss}, theta), 0.05))")
