"""Random programs of episodes that end: a state of numbers, integers and truth values, an event
that ends it, reads of what it had, choices along a second dim that may end too, derivatives, and a
network that learns from it.
"""

from __future__ import annotations

from random import Random

from tests.soundness.lines import listed
from tests.soundness.random_programs.author import Along, Author, Source

DIMS = (
    ("t",),
    ("b", "t"),
    ("i", "t"),
    ("b", "i", "t"),
    ("b", "i", "t"),
    ("b", "t", "k"),
    ("t", "k"),
)
STARTS = ("0.2", "0.0", "1.0")
NEXT = (
    "0.9 * {x} + 0.5 * {u}",
    "wb.sin({x} + {u})",
    "wb.tanh({x} * {u}) + 0.1 * {w}",
)
EVENTS = (
    "{w} < 0.2",
    "{w} < 0.5",
    "{x}{sum} > 0.9",
    "(wb.index(t) >= 2) & ({w} < 0.6)",
    "(wb.index(t) >= 2) & ({w} < 2.0)",
    "(wb.index(t) >= 2) | ({w} < 0.1)",
)
READS = (
    "wb.discounted_sum({g:t:T}, 0.9)",
    "{g:0:t + 1}.max()",
    "{g:t:T}.sum()",
    "{g:t:T}.min()",
    "{g:t:T}.argmax()",
    "({g:t:T} - {g}).std()",
    "{g:t:wb.minimum(t + 3, T)}.max()",
    "{g:wb.maximum(t - 2, 0):t + 1}.mean()",
    "({g} * {g:wb.maximum(t - 1, 0)}).sum(over=t)",
    "{g}.mean(over=t)",
    "{g}.max(over=t)",
    "{g}.argmax(over=t)",
    "{g}.std(over={all})",
    "{g}.min(over={all})",
    "{g}.sum(over={first})",
    "{g} > 0.1",
    "{g:end}",
    "{g:end} - {g:0}",
    "{g:end} * {x:t}{sum}",
    "{x:end + 1}{sum} * {g}",
    "{x:t + 1}{sum} - {x:t}{sum}",
    "{x:0:t + 1}{sum}.mean()",
    "{x:t + 1:T + 1}{sum}.sum()",
    "wb.cast(end, float) * {g}",
    "wb.cast(end - wb.index(t), float) * {g}",
    "wb.window({g}, t=3)",
    "wb.cumsum(wb.window({g}, t=3))",
    "wb.softmax(wb.window({g}, t=3), axis=0)",
    "wb.window(wb.window({g}, t=2).sum(axis=0), t=3).max(axis=0)",
)
AMONG_THE_LAST = "wb.within(wb.cast({w} * wb.cast(wb.index(t + 1), float), int), 0, t + 1)"
GATHERS = (
    f"wb.gather({{g}}, t={AMONG_THE_LAST})",
    "wb.gather({g}, t=wb.maximum(end - 1, 0))",
    "wb.gather({g}, t={g}.argmax(over=t))",
    "wb.gather({x}, t=end + 1){sum}",
)
LOSSES = (
    "({g} * wb.discounted_sum({g:t:T}, 0.9)).sum(over={rest})",
    "({g:wb.maximum(t - 1, 0):t + 1}.mean() * {g}).mean(over={rest})",
    "({g:t:T}.max() * {g}).sum(over={rest})",
    "wb.window({g}, t=3).max(axis=0).sum(over={rest})",
    f"(wb.gather({{g}}, t={AMONG_THE_LAST}) * {{g}}).sum(over={{rest}})",
)
OF_CHOICES = (
    "1.0 * {v}",
    "{v}.sum(over=k)",
    "{v}.max(over=k)",
    "{v}.mean(over=(t, k))",
    "{v}.max(over=t)",
    "wb.discounted_sum({v:t:T}, 0.9)",
    "{v:t:T}.max().sum(over=k)",
    "{v:end}",
    "wb.gradient(({v} * {v}).sum(over={all}), {c})",
)
OPTIMIZERS = ("adam", "sgd", "rmsprop")


def written(dice: Random) -> Source:
    """One program, decided by the dice."""
    author = Author(dice=dice, dims=dice.choice(DIMS))
    over = author.ordered(author.some([d for d in author.dims if d != "k"]), ("t",))
    shape = dice.choice(("()", "()", "(3,)"))
    total = "" if shape == "()" else ".sum(axis=0)"
    x = author.recurrent("x", over, "t", shape)
    names = {"x": x, "sum": total, "all": listed(over), "first": over[0]}
    names["u"] = author.draw(over, (3,) if total else ())
    names["w"] = author.draw(over)
    learns = "i" in over and author.happens(0.4)
    following = dice.choice(NEXT)
    if learns:
        following = f"0.5 * {{x}} + 0.3 * {_network(author, bool(total), names['u'])}"
    author.lines.append(f"{x:0} = {dice.choice(STARTS)}")
    author.lines.append(f"{x:t + 1} = {following.format(**names)}")
    gain = f"{{x}}{{sum}} * {{w}}{_other_states(author, names['w'], over)}".format(**names)
    event = author.assign("e", dice.choice(EVENTS).format(**names))
    author.lines.append(f"end = wb.until({event}, over=t)")
    names["g"] = Along(author.assign("g", gain), over, "t")
    for read in dice.sample(READS + GATHERS, dice.randrange(2, 5)):
        author.output("o", read.format(**names))
    if "k" in author.dims:
        _choices(author, names["g"])
    names["rest"] = listed(d for d in over if not (learns and d == "i"))
    if learns or author.happens(0.7):
        _derivatives(author, dice.choice(LOSSES).format(**names), learns)
    return author.source()


def _choices(author: Author, gain: Along) -> None:
    """Draws along a second dim, which may end too, and what they are with a gain of each step."""
    own = author.ordered(author.some([d for d in gain.over if d != "t"]), ("k",))
    drawn = author.draw(own)
    if author.happens(0.7):
        author.lines.append(f"wb.until({drawn} < 0.3, over=k)")
    over = author.ordered(gain.over, ("k",))
    both = Along(author.assign("v", f"{gain} * {drawn}"), over, "t")
    for read in author.dice.sample(OF_CHOICES, 2):
        author.output("o", read.format(v=both, c=drawn, all=listed(over)))


def _network(author: Author, vector: bool, drawn: str) -> str:
    """A network that reads the state; the text of what it adds to it."""
    width = author.dice.choice((2, 5))
    author.lines += [f'net = nn.mlp("net", 3, ({width},), 3)', "theta = nn.parameters(net, over=i)"]
    given = "x" if vector else f"wb.stack([x, {drawn}, 0.5])"
    return author.assign("f", f"net(theta, {given})") + ("" if vector else ".sum(axis=0)")


def _other_states(author: Author, drawn: str, over: tuple[str, ...]) -> str:
    """An integer and a truth value that go on with the state, or not; what they add to a gain."""
    added = ""
    if author.happens(0.4):
        y = author.recurrent("y", over, "t", "(), dtype=int")
        author.lines += [f"{y:0} = 0", f"{y:t + 1} = ({y} + wb.cast({drawn} * 3.0, int)) % 5"]
        added += " + 0.1 * wb.cast(y, float)"
    if author.happens(0.3):
        alive = author.recurrent("alive", over, "t", "(), dtype=bool")
        author.lines += [f"{alive:0} = True", f"{alive:t + 1} = {alive} & ({drawn} < 0.7)"]
        added += " + wb.where(alive, 0.5, -0.25)"
    return added


def _derivatives(author: Author, text: str, learns: bool) -> None:
    """A loss, and what is learned from it, or its derivatives."""
    loss = author.output("l", text)
    if learns:
        optimizer = author.dice.choice(OPTIMIZERS)
        author.lines.append(f"theta.update(optim.{optimizer}(wb.gradient({loss}, theta), 0.05))")
    else:
        for drawn in author.draws[:2]:
            author.output("d", f"wb.gradient({loss}, {drawn})")
