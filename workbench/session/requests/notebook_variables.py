"""The variables of a notebook: a cell that defines one anew brings the workbenches up to date.

Looks at the variables after each cell. Knows no Jupyter.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from workbench.language.template.template import Template
from workbench.language.tracing.trace import line_of
from workbench.measure.compare import Comparison
from workbench.measure.profile import Profile
from workbench.measure.rounds.measurement import Measurement
from workbench.measure.run import Result
from workbench.program.values import Program
from workbench.session.protocol.failures import error_view, untraced
from workbench.session.protocol.state import UntracedView
from workbench.session.requests.sessions import Sessions
from workbench.session.state.session import Session, is_automatic
from workbench.variants.variant import Variant

Redefined = Callable[[Template], None]
Measured = Comparison | Measurement | Profile | Result


@dataclass(frozen=True)
class Failure:
    """The report of a template that could not be traced, how often it had been traced before, and
    the cell that tried.
    """

    view: UntracedView
    template: Template
    traced: int
    cell: str | None


class Following:
    """A follower of a notebook's variables."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._held: dict[str, weakref.ref[Program | Variant]] = {}
        self._measured = weakref.WeakValueDictionary[str, Measured]()
        self._templates: dict[str, tuple[Template, Redefined]] = {}
        self._failed: dict[str, Failure] = {}
        self._called: dict[str, str] = {}  # names that were given here, by the variants' keys

    def watch(self, template: Template, redefined: Redefined) -> None:
        """Call back when a variable of the template's name holds another template."""
        self._templates[template.name] = (template, redefined)

    def after_cell(
        self, variables: Mapping[str, Any], error: BaseException | None, cell: str | None = None
    ) -> None:
        """Follow the variables after a cell. `error` is the one that it raised, `cell` the
        notebook's name for it.
        """
        failed = None if error is None else _traced(error.__traceback__)
        self._forgive(variables, error is None or failed is not None, cell)
        for name, (template, redefined) in list(self._templates.items()):
            variable = variables.get(name)
            if isinstance(variable, Template) and variable is not template:
                self._templates[name] = (variable, redefined)
                redefined(variable)
        changed = {name: value for name, value in variables.items() if self._is_new(name, value)}
        for name, value in sorted(changed.items(), key=lambda pair: _steps(pair[1])):
            self._take(name, value)
            self._held[name] = weakref.ref(value)
        self._take_measured(variables)
        if error is not None and failed is not None:  # last: the cell's earlier changes stand
            self._tell(failed, error, cell)

    def _take_measured(self, variables: Mapping[str, Any]) -> None:
        """Show measurements, runs and profiles of shown programs: a variable, or the cell's result,
        named `_`.
        """
        for name, value in variables.items():
            if not isinstance(value, Measured) or value is self._measured.get(name):
                continue
            self._measured[name] = value
            if isinstance(value, Profile | Result):
                self._take_one(value)
                continue
            measurements = value.measurements if isinstance(value, Comparison) else (value,)
            session = self._sessions.find(measurements[0].program) if measurements else None
            if session is None:
                continue
            if isinstance(value, Comparison):
                for label, variant in value.named.items():
                    self._call(session, variant, label)
            session.take_measured(measurements)

    def _call(self, session: Session, variant: Variant, name: str) -> None:
        """Give a variant a name from Python, unless the user gave it another in the workbench."""
        own = session.tree.names.get(variant.key)
        if own is None or is_automatic(own) or own == self._called.get(variant.key):
            session.call(variant, name)
            self._called[variant.key] = name

    def _call_by_variable(self, session: Session, variant: Variant, name: str) -> None:
        """Give a variant without a name that of its variable. One that takes step after step is no
        name: it loses the variant that it held before. Nor is one that tells what it is only.
        """
        if name in self._held and (before := self._held[name]()) is not None:
            key = Variant(before).key if isinstance(before, Program) else before.key
            if any(one.key == key for one in variant.lineage[:-1]):
                if self._called.pop(key, None) == name == session.tree.names.get(key):
                    session.rename(key, "")
                return
        telling = name not in ("variant", "program")
        if telling and variant.parent is not None and variant.key not in session.tree.names:
            self._call(session, variant, name)

    def _take_one(self, made: Profile | Result) -> None:
        session = self._sessions.find(made.variant.program.name)
        if session is None:
            return
        if isinstance(made, Profile):
            session.take_profiled(made)
        else:
            session.take_run(made)

    def _is_new(self, name: str, value: Any) -> bool:
        if name.startswith("_") or not isinstance(value, Program | Variant):
            return False
        held = self._held.get(name)
        return held is None or held() is not value

    def _take(self, name: str, value: Program | Variant) -> None:
        """Add a variant of a shown program to its tree. Another program replaces the shown one
        where the same variable held that.
        """
        variant = value if isinstance(value, Variant) else Variant(value)
        session = self._sessions.find(variant.root.program.name)
        if session is None:
            return
        if variant.root.key == session.tree.root or self._held_root(name, session):
            session.redefine(variant)
            self._call_by_variable(session, variant, name)

    def _held_root(self, name: str, session: Session) -> bool:
        held = self._held[name]() if name in self._held else None
        if held is None:
            return False
        program = held.root.program if isinstance(held, Variant) else held
        return program is session.tree.variants[session.tree.root].program

    def _tell(self, template: Template, error: BaseException, cell: str | None) -> None:
        """Report a template that could not be traced, whether its program is shown or not."""
        view = untraced(template, error_view(error, line_of(error)))
        self._failed[template.name] = Failure(view, template, template.traced, cell)
        self._sessions.fail(view)

    def _forgive(self, variables: Mapping[str, Any], traces: bool, cell: str | None) -> None:
        """Take back errors that are over: the template was traced since, by anybody, or the failed
        cell was run again. `traces`: the cell ran to its end, or to a template, whose error is
        reported anew. After another error nothing is known.
        """
        for name, failure in list(self._failed.items()):
            now = variables.get(name)
            anew = isinstance(now, Template) and now is not failure.template and now.traced
            again = failure.template.traced > failure.traced
            run = traces and cell is not None and cell == failure.cell
            if anew or again or run:
                del self._failed[name]
                self._sessions.mended(failure.view)


def _steps(value: Program | Variant) -> int:
    return len(value.steps) if isinstance(value, Variant) else 0


def _traced(traceback: TracebackType | None) -> Template | None:
    """Return the template whose trace raised an error."""
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code is Template.__call__.__code__:
            template: Template = frame.f_locals["self"]
            return template
        traceback = traceback.tb_next
    return None
