"""`wb.Workbench` and `wb.watch`: a workbench as a Python object, changed by cells and browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.backends import or_default
from workbench.backends.philox import checked_seed
from workbench.errors import WorkbenchError
from workbench.language.template.template import Template
from workbench.measure.compare import Comparison
from workbench.measure.profile import Profile
from workbench.measure.run import Result
from workbench.measure.store import Store
from workbench.measure.store import store as store_at
from workbench.program.values import Program
from workbench.session.outputs import page as export
from workbench.session.processes.measuring.meter import MeasureOrder
from workbench.session.processes.measuring.profiler import ProfileOrder
from workbench.session.processes.measuring.runner import RunOrder
from workbench.session.report.document import document
from workbench.session.report.facts import Setting, facts
from workbench.session.requests.watched_template import bound
from workbench.session.state.page_parts import fill
from workbench.session.state.saved_tree import saved_tree
from workbench.transforms.step.transform import Transform
from workbench.variants.variant import Data, Variant, variant

if TYPE_CHECKING:
    from workbench.session.jupyter.notebook import Notebook


class Workbench:
    """The interactive workbench of a program. It opens beside the notebook and in the cell's
    output. There is one for each program name: made again, it follows the new program and tries the
    steps of the old one on it. A mapping of names to variants of one program shows the last of
    them, and all under these names.

    `store` is the file that measurements are appended to, `wb.store()` unless given. `data` are the
    sources of the program's data sets, as `wb.run` takes them.
    """

    def __init__(
        self,
        program: Program | Variant | Mapping[str, Program | Variant],
        store: Store | str | Path | None = None,
        data: Data = None,
    ) -> None:
        named = _named(program, data) if isinstance(program, Mapping) else {}
        shown = list(named.values())[-1] if isinstance(program, Mapping) else variant(program, data)
        self._notebook = _notebook()
        where = store if isinstance(store, Store) else store_at(store)
        self._session = self._notebook.show(shown, where)
        for name, one in named.items():
            self._session.call(one, name)

    @property
    def variant(self) -> Variant:
        """The variant that is shown."""
        return self._session.tree.shown

    @property
    def variants(self) -> tuple[Variant, ...]:
        """All variants of the tree, each after its parent."""
        return tuple(self._session.tree.variants.values())

    @property
    def names(self) -> dict[str, Variant]:
        """The named variants, by name."""
        tree = self._session.tree
        return {name: tree.variants[key] for key, name in tree.names.items()}

    def apply(self, step: Transform) -> Variant:
        """Take a step on the shown variant. Raises `Refused`, as `Variant.apply` does."""
        made = self.variant.apply(step)
        self._notebook.adopt(self._session, made)
        return made

    def undo(self) -> Variant:
        """Show the parent of the shown variant; nothing is lost."""
        parent = self.variant.parent
        if parent is None:
            raise WorkbenchError("there is no step to undo: this is the program as written")
        return self.show(parent)

    def show(self, variant: Variant | str) -> Variant:
        """Show a variant, given itself or by name. A variant outside the tree joins it."""
        if isinstance(variant, str):
            known = self.names
            if variant not in known:
                raise WorkbenchError(_unnamed(variant, known))
            variant = known[variant]
        self._notebook.adopt(self._session, variant)
        return self.variant

    def rename(self, variant: Variant, name: str) -> None:
        """Name a variant; "" removes the name. Raises WorkbenchError where another variant has
        it.
        """
        self._session.rename(variant.key, name)

    def measure(
        self,
        variants: Sequence[Variant] | Mapping[str, Variant] | None = None,
        backend: str | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        seed: int = 0,
        dtype: str = "float32",
        repeats: int | None = None,
        force: bool = False,
        lengths: Mapping[str, Any] | None = None,
    ) -> Comparison:
        """Measure variants, by default the whole tree, in a process of their own, and wait for the
        result. A mapping names them, here and in the workbench. The result is that of `wb.compare`,
        with its `backend` and `lengths`, shown in the workbench and appended to its store. A
        measurement stopped in the workbench returns its finished rounds; Ctrl-C stops it too and
        keeps them.
        """
        seed = checked_seed(seed)
        named = _named(variants) if isinstance(variants, Mapping) else {}
        given = self.variants if variants is None else variants
        chosen = tuple(named.values() if isinstance(given, Mapping) else given)
        for name, one in named.items():
            self._session.call(one, name)
        for one in chosen:
            if one.key not in self._session.tree.variants:
                self._session.adopt([one])
        used, store = or_default(backend), self._session.store
        order = MeasureOrder(chosen, used, sizes or {}, seed, dtype, repeats, force, store, lengths)
        measuring = self._session.under_way.measure(order)
        try:
            result = measuring.wait()
        except KeyboardInterrupt:
            measuring.cancel()
            raise
        if result.error is not None:
            raise WorkbenchError(result.error.sentence)
        assert result.comparison is not None
        if not named:
            return result.comparison
        rows = zip(result.comparison, named, strict=True)
        return Comparison(tuple(replace(row, name=name) for row, name in rows), named)

    @property
    def result(self) -> Result:
        """The result of the last run, as `wb.run` gives it. Of one that was stopped it has the
        finished iterations. Raises WorkbenchError before the first run of the program as it is.
        """
        found = self._session.under_way.last_result()
        if found is None:
            former = " since its program was changed" if self._session.result else " yet"
            raise WorkbenchError(
                f"nothing was run in this workbench{former}: Run in its panel, or run()"
            )
        return found

    def run(
        self,
        variant: Variant | None = None,
        backend: str | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        seed: int = 0,
        dtype: str = "float32",
        threads: int | None = None,
        here: bool = False,
    ) -> Result:
        """Run a variant, by default the shown one, in a process of its own, and wait for the
        result. It is that of `wb.run`, with its `backend`; the workbench shows its curves
        meanwhile. One that is stopped there gives its finished iterations; so does Ctrl-C, which
        leaves them in `result`. `here` runs it in this process, since some programs cannot be given
        to another.
        """
        seed = checked_seed(seed)
        chosen = variant or self.variant
        if chosen.key not in self._session.tree.variants:
            self._session.adopt([chosen])
        order = RunOrder(chosen, or_default(backend), sizes or {}, seed, dtype, threads)
        running = self._session.under_way.run(order, here=here)
        try:
            made = running.wait()
        except KeyboardInterrupt:
            running.cancel()
            raise
        if made.result is None:
            raise WorkbenchError(made.error.sentence if made.error else "it was stopped")
        return made.result

    def profile(
        self,
        variant: Variant | None = None,
        backend: str | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        seed: int = 0,
        dtype: str = "float32",
        threads: int | None = 1,
        force: bool = False,
    ) -> Profile:
        """Profile a variant, by default the shown one, in a process of its own, and wait for the
        result. It is that of `wb.profile`, with its `backend`, shown in the workbench. Ctrl-C stops
        it.
        """
        seed = checked_seed(seed)
        chosen = variant or self.variant
        if chosen.key not in self._session.tree.variants:
            self._session.adopt([chosen])
        used = or_default(backend)
        order = ProfileOrder(chosen, used, sizes or {}, seed, dtype, threads, force)
        profiling = self._session.under_way.profile(order)
        try:
            result = profiling.wait()
        except KeyboardInterrupt:
            profiling.cancel()
            raise
        if result.profile is None:
            raise WorkbenchError(result.error.sentence if result.error else "it was stopped")
        return result.profile

    def save(self, path: str | Path) -> None:
        """Write variants, names, measurements, profiles, pictures to a file that `load` reads."""
        export.write(path, export.state_file(self._session.capsule()))

    def load(self, path: str | Path) -> None:
        """Add the variants, names, measurements and profiles of a saved file to the tree. Every
        step is checked anew, in the background; the workbench tells which steps do not fit.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise WorkbenchError(f"{path} cannot be read: {error}") from None
        self._session.load(saved_tree(text))

    def export(self, path: str | Path) -> None:
        """Write everything as one HTML page that needs no server and no network. Parts that nobody
        has looked at are computed for it, which takes seconds.
        """
        fill(self._session.kept, self._session.values, self._session.name)
        export.write(path, export.page(self._session.capsule()))

    def report(
        self,
        path: str | Path,
        before: Variant | str | None = None,
        notes: str = "",
        *,
        sizes: Mapping[str, int] | None = None,
        backend: str | None = None,
        dtype: str = "float32",
    ) -> None:
        """Write a page about the shown variant beside another one, given itself or by name, the
        program as written unless given: `wb.report` with the workbench's names and measurements.
        """
        tree = self._session.tree
        first = self.names.get(before) if isinstance(before, str) else before or self.variant.root
        if first is None:
            raise WorkbenchError(_unnamed(str(before), self.names))
        told = facts(
            first,
            self.variant,
            self._session.values.measurements,
            tree.names,
            notes,
            Setting(sizes or {}, backend, dtype),
        )
        export.write(path, document(told))

    def _ipython_display_(self) -> None:
        self._notebook.display(self._session)

    def __repr__(self) -> str:
        count = len(self.variants)
        steps = ", ".join(map(str, self.variant.steps)) or "as written"
        return f"<workbench of {self._session.name}: {count} variants, shown: {steps}>"


class Watch(Workbench):
    """A workbench of a template, with a control for each of its arguments."""

    def __init__(
        self,
        template: Template,
        arguments: Mapping[str, Any],
        store: Store | str | Path | None,
        data: Data,
    ) -> None:
        super().__init__(template(**bound(template, arguments)), store, data)
        self._watched = self._notebook.watch(template, arguments, self._session, data)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments with which the template is traced."""
        return dict(self._watched.arguments)

    def set(self, **arguments: Any) -> None:
        """Trace with other values of some arguments; the picture follows when that is done."""
        self._watched.change(arguments)

    def _ipython_display_(self) -> None:
        self._notebook.display_controls(self._watched)
        super()._ipython_display_()


def watch(
    template: Template, *, store: Store | None = None, data: Data = None, **arguments: Any
) -> Watch:
    """Show a template's program, with a control for each argument; changing one traces it anew.

    When a cell defines the template again, the picture follows. While tracing fails, the last good
    picture stays and the error is shown with its line. `data` are the sources of data sets, as
    `wb.run` takes them.
    """
    if isinstance(template, Program | Variant):
        name = variant(template).root.program.name
        raise WorkbenchError(
            f"wb.watch traces the program itself: pass the template `{name}`, not `{name}()`"
        )
    if not isinstance(template, Template):
        raise WorkbenchError(f"expected a function decorated with @wb.program, found {template!r}")
    return Watch(template, arguments, store, data)


def _named(given: Mapping[str, Program | Variant], data: Data = None) -> dict[str, Variant]:
    """Return variants by name. Raises WorkbenchError where there is none, a name is no text, or
    they are of several programs.
    """
    named = {name: variant(one, data) for name, one in given.items()}
    names: list[object] = list(given)
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise WorkbenchError(f"expected variants by their names, found {names}")
    if len({one.root.key for one in named.values()}) > 1:
        programs = ", ".join(dict.fromkeys(one.root.program.name for one in named.values()))
        raise WorkbenchError(
            f"one workbench has variants of one program, but these are of {programs}"
        )
    return named


def _unnamed(name: str, known: Mapping[str, Variant]) -> str:
    return f"no variant is named {name!r}; named are {', '.join(known) or 'none'}"


def _notebook() -> Notebook:
    """Return the front ends of this Jupyter kernel; Jupyter is imported only here."""
    from workbench.session.jupyter.notebook import notebook

    return notebook()
