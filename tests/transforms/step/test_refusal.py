"""Refusals as Jupyter shows them: what is wrong, the two instances, the line, what helps."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import pytest

import workbench as wb
from tests.programs import leaky_sum
from workbench.transforms import Interchange, Vectorize
from workbench.transforms.step.refusal import instance_texts


def refusal(step: Any) -> Any:
    found = wb.variant(leaky_sum()).check(step)
    assert found is not None
    return found


def test_a_dependence_shows_its_two_instances_before_the_sentence() -> None:
    found = refusal(Vectorize("t", ("s[t+1]",)))
    shown = found._repr_html_()
    assert "A dependence would be violated" in shown
    source, sink = (shown.index(escape(text)) for text in instance_texts(found.witness))
    assert source < sink < shown.index(f"<p>{escape(found.sentence)}</p>")
    assert shown.count("<tr>") == 2
    assert re.search(r'both use <code style="[^"]*white-space: nowrap">s\[', shown)
    assert escape(found.line.text.strip()) in shown


def test_what_is_no_dependence_has_a_sentence_and_no_table() -> None:
    shown = refusal(Vectorize("nowhere"))._repr_html_()
    assert "This is no step of this program" in shown
    assert "<table" not in shown


def test_steps_that_help_are_listed() -> None:
    found = refusal(Interchange("b", "t"))
    shown = found._repr_html_()
    assert found.repairs and found.instead
    assert shown.count("<li>") == len(found.repairs) + len(found.instead)
    for step in (*found.repairs, *found.instead):
        assert f"<code>{escape(str(step))}</code>" in shown


def test_the_error_shows_what_the_refusal_does() -> None:
    with pytest.raises(wb.Refused) as refused:
        wb.variant(leaky_sum()).apply(Vectorize("t", ("s[t+1]",)))
    assert refused.value._repr_html_() == refused.value.refusal._repr_html_()


def test_names_are_escaped() -> None:
    shown = refusal(Vectorize("<b>"))._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "'<b>'" not in shown
