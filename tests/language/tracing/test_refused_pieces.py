"""Recurrences that cannot be: elements that nothing or two pieces define, and cycles."""

from __future__ import annotations

import re
from typing import Any

import workbench as wb
from tests.language.tracing.refused import T, b, i, recurrent, refused, t
from workbench import nn

# -- pieces and instances -----------------------------------------------------------------------


def test_undefined_instance() -> None:
    def body() -> Any:
        s = recurrent()
        s[t + 2] = s[t + 1] + 1.0
        s[0] = 0.0
        return s

    error = refused(body)
    assert error.message == "s[t + 1] is read at t=0 (T=1), but nothing defines s at t=1"
    assert error.line is not None and error.line.text == "s[t + 2] = s[t + 1] + 1.0"


def test_instance_without_its_start() -> None:
    def body() -> Any:
        s = recurrent()
        s[t + 1] = s + 1.0
        return s

    error = refused(body)
    assert error.message == (
        "s[t] is read at t=0 (T=1), but s has elements t=1..1 only; nothing defines s at t=0"
    )
    assert error.line is not None and error.line.text == "s[t + 1] = s + 1.0"


def test_overlapping_pieces() -> None:
    def body() -> Any:
        s = recurrent()
        s[t] = 1.0
        s[0] = 0.0
        return s

    error = refused(body)
    assert error.message == (
        "s[0] is defined twice (T=1): by s[t] = 1.0 at t=0 and by s[0] = 0.0 at the only instance"
    )
    assert error.line is not None and error.line.text == "s[0] = 0.0"


def test_piece_that_writes_one_element_many_times() -> None:
    def body() -> Any:
        s = recurrent()
        s[t // 2] = 1.0
        return s[0]

    error = refused(body)
    assert error.message == ("s[0] is defined twice (T=2): by s[t // 2] = 1.0 at t=0 and at t=1")


def test_recurrent_without_pieces() -> None:
    error = refused(lambda: recurrent() + 1.0)
    assert error.message == "nothing defines the recurrent tensor s"
    assert error.line is not None and "wb.recurrent(name" in error.line.text


def test_read_outside_the_extent() -> None:
    def body() -> Any:
        s = recurrent()
        s[0] = 0.0
        s[t + 1] = s + 1.0
        return s[t + 2]

    error = refused(body)
    assert error.message == "s[t + 2] is read at t=0 (T=1), but s has elements t=0..1 only"
    assert error.line is not None and error.line.text == "return s[t + 2]"


def test_read_before_the_extent() -> None:
    error = refused(lambda: wb.exp(wb.uniform(over=t))[t - 1] + 1.0)
    assert error.line is not None
    assert error.message == (
        f"[t - 1] of a value in `{error.line.text}` is read at t=0 (T=1), but there are elements "
        "t=0..0 only"
    )


def test_range_that_goes_beyond_the_extent_is_quoted_as_a_range() -> None:
    def body() -> Any:
        x = wb.uniform(over=(b, t))
        last = x[b, t : t + 3].sum()
        return last + 1.0

    error = refused(body)
    assert error.message == (
        "x[b, t:t + 3] is read at b=0, t=0 (B=1, T=1), but x has elements t=0..0 only"
    )
    assert error.line is not None and error.line.text == "last = x[b, t : t + 3].sum()"


def test_shifted_range_is_quoted_as_a_range() -> None:
    def body() -> Any:
        x = wb.uniform(over=t)
        return (x[0:t] * x[1 : t + 1] * x[2 : t + 2]).sum()

    assert refused(body).message == (
        "x[2:t + 2] is read at t=1 (T=2), but x has elements t=0..1 only"
    )


def test_parameters_that_are_never_updated() -> None:
    def body() -> Any:
        theta = nn.parameters(net := nn.linear("net", 2, 1), over=i)
        y = net(theta, wb.uniform(shape=2))
        return y.sum()

    error = refused(body)
    assert error.message == (
        "parameters.net.weight_1[i] is read at i=1 (I=2), but parameters.net.weight_1 has "
        "elements i=0..0 only; theta.update was not called"
    )
    assert error.line is not None and "net(theta" in error.line.text


def test_two_values_at_one_name() -> None:
    def body() -> Any:
        recurrent()
        return recurrent()

    error = refused(body)
    assert error.message == "there is already a recurrent tensor 's'"


# -- cycles ---------------------------------------------------------------------------------------


def test_cycle_with_no_delay_shows_the_shortest_one() -> None:
    def body() -> Any:
        u, v = recurrent("u"), recurrent("v")
        u[t] = v + 1.0
        v[t] = u * 2.0
        return u

    error = refused(body)
    first, *lines = error.message.split("\n")
    assert first == "a cycle with no delay: u[t=0] needs v[t=0] needs u[t=0] (at T=1)"
    assert [re.sub(r", line \d+", "", x) for x in lines] == [
        "  u: u[t] = v + 1.0    (test_refused_pieces.py)",
        "  v: v[t] = u * 2.0    (test_refused_pieces.py)",
    ]
    assert error.line is not None and error.line.text == "u[t] = v + 1.0"


def test_cycle_through_a_gather_says_what_it_needs_and_what_helps() -> None:
    def body() -> Any:
        u = recurrent("u")
        drawn = wb.cast(wb.uniform(over=t) * wb.cast(wb.index(t + 1), float), int)
        u[0] = 1.0
        u[t + 1] = u + wb.gather(u, t=drawn)
        return u[t + 1]

    assert refused(body).message.split("\n")[-1] == (
        "  u[t+1] reads u at a t that depends on data, so it needs each t: "
        "wb.within(index, lower, upper) promises which"
    )


def test_value_that_needs_itself() -> None:
    def body() -> Any:
        u = recurrent("u")
        u[t] = u * 2.0
        return u

    error = refused(body)
    assert error.message.startswith("a cycle with no delay: u[t=0] needs u[t=0]")


def test_cycle_through_time_at_two_steps() -> None:
    def body() -> Any:
        u = recurrent("u")
        u[t] = u[T - 1 - t] * 2.0
        return u

    error = refused(body)
    assert error.message.startswith("a cycle with no delay: u[t=0] needs u[t=0] (at T=1)")


def test_acyclic_program_without_an_order_says_so() -> None:
    """Even elements read the odd one ahead or behind in turn, odd ones read no such element."""

    def body() -> Any:
        r = wb.dim(r=8)
        u = recurrent("u", over=r)
        u[r + 8] = 1.0
        u[r] = u[r + 1 - 2 * (r % 4 // 2) + 8 * (r % 2)] * 2.0
        return u

    error = refused(body)
    first, *lines = error.message.split("\n")
    assert first == (
        "no order of loops was found for these equations, although they may have no cycle:"
    )
    assert [re.sub(r", line \d+", "", x) for x in lines] == [
        "  u: u[r] = u[r + 1 - 2 * (r % 4 // 2) + 8 * (r % 2)] * 2.0    (test_refused_pieces.py)"
    ]
    assert error.line is not None and error.line.text.startswith("u[r] = ")
