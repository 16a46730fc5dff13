"""A workbench: a tree of variants and their data, changed by requests from any thread.

All that can be read is one immutable value, replaced under a lock. Slow work goes to other
processes (`worker_client`, `under_way`), whose results come back on threads of their own.
Nothing here computes sets, waits, or knows Jupyter.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from workbench.backends import default
from workbench.errors import WorkbenchError
from workbench.measure.profile import Profile
from workbench.measure.rounds.measurement import Measurement
from workbench.measure.run import Result
from workbench.measure.store import Store
from workbench.planning.machine.calibrated import stamp
from workbench.planning.machine.defaults import DEFAULTS
from workbench.program.sizes import resolve
from workbench.session.processes.orders import Grown, Misfit
from workbench.session.processes.pipe import NotSentError
from workbench.session.processes.sampler import RunPosition
from workbench.session.processes.workers import Workers
from workbench.session.protocol.capsule import Capsule, capsule
from workbench.session.protocol.failures import sentence
from workbench.session.protocol.measurements import belonging, measurement_views, together
from workbench.session.protocol.messages import (
    Message,
    PredictedAnew,
    Running,
    StateMessage,
)
from workbench.session.protocol.profiles import profile_view
from workbench.session.protocol.state import (
    ErrorView,
    MeasurementView,
    State,
    UntracedView,
    VariantView,
)
from workbench.session.protocol.state_views import (
    backend_views,
    end_views,
    size_views,
    variant_view,
)
from workbench.session.state.part_cache import PREDICTED, PartCache, first
from workbench.session.state.run_progress import run_view
from workbench.session.state.saved_tree import SavedTree, misfit_text, old_tree, taken_over
from workbench.session.state.under_way import UnderWay
from workbench.session.state.values import Values
from workbench.session.state.variant_tree import VariantTree, planted
from workbench.variants.variant import Variant
from workbench.variants.variant import variant as with_data

Ended = Callable[[ErrorView | None], None]

AUTOMATIC = "automatic"
"""The name of the automatic recipe's variant when `wb.run` runs a program as it."""


def is_automatic(name: str) -> bool:
    """Tell whether a name is one that such a variant gets, a number behind it or not."""
    return re.fullmatch(rf"{AUTOMATIC}( \d+)?", name) is not None


class Session:
    """A workbench, known by its program's name. `send` gets the messages for all views."""

    def __init__(
        self, variant: Variant, work: Workers, store: Store, send: Callable[[Message], None]
    ) -> None:
        self.name = variant.root.program.name
        self.store = store
        self.kept = PartCache(work, self._tell, self._with_lengths)
        self.on_change: Callable[[Mapping[str, Any]], None] | None = None
        """The function that takes new arguments for the watched template; None where none is
        watched."""
        self.result: Result | None = None
        """What the last run from the workbench gave; None before the first."""
        self.under_way = UnderWay(self)
        self.work, self._send = work, send
        self._lock = threading.RLock()
        self._values = Values(1, planted(variant))
        self._constants = tuple(map(stamp, DEFAULTS))
        self._listeners: tuple[Callable[[], None], ...] = ()
        self._views: dict[tuple[str, int, str], VariantView] = {}
        self._read_store()
        self._prepare_shown()
        self._prepare(self.tree.variants.values())

    # -- what it is --------------------------------------------------------------------------------

    @property
    def values(self) -> Values:
        """The whole content, at this moment."""
        return self._values

    @property
    def tree(self) -> VariantTree:
        """Its variants."""
        return self._values.tree

    def state(self) -> State:
        """The state that views get."""
        return self._state(self._values)

    def capsule(self) -> Capsule:
        """The state with every part that was computed."""
        state = self.state()
        keys = {variant.key for variant in state.variants}
        return capsule(state, tuple(p for p in self.kept.saved() if p.variant in keys))

    def change(self, changed: Callable[[Values], Values]) -> None:
        """Replace the values, and tell every view."""
        with self._lock:
            before = self._values
            after = changed(before)
            if after is before:
                return
            self._values = replace(after, revision=before.revision + 1)
            state = self._state(self._values)
        self._send(StateMessage("state", state, False))
        self._tell()
        if after.tree.current != before.tree.current:
            self._prepare_shown()
        if after.typical != before.typical:
            self._prepare(after.tree.variants.values())

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call back after every change of the state and every computed part. Returns the function
        that ends this.
        """

        def ignore() -> None:
            with self._lock:
                self._listeners = tuple(one for one in self._listeners if one != listener)

        with self._lock:
            self._listeners = (*self._listeners, listener)
        return ignore

    def _with_lengths(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of a part with the lengths of episodes that runs found."""
        if not arguments.get("lengths"):
            return arguments
        return {**arguments, "lengths": self._values.found(arguments["lengths"])}

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()

    def _state(self, values: Values) -> State:
        tree = values.tree
        return State(
            workbench=self.name,
            revision=values.revision,
            name=self.name,
            root=tree.root,
            current=tree.current,
            variants=self._variant_views(tree),
            sizes=size_views(tree.variants[tree.root]),
            ends=end_views(tree.variants[tree.root]),
            measurements=values.measurements,
            runs=values.runs,
            result=values.result,
            profiles=values.profiles,
            backends=backend_views(),
            backend=default(),
            arguments=values.arguments,
            measuring=values.measuring,
            unrun=values.unrun,
            unprofiled=values.unprofiled,
            error=values.error,
            recipe_error=values.recipe_error,
            taken_over=values.taken_over,
        )

    def _variant_views(self, tree: VariantTree) -> tuple[VariantView, ...]:
        """Describe the variants; forget the descriptions of removed ones."""
        known, views = self._views, dict[tuple[str, int, str], VariantView]()
        for key, variant in tree.variants.items():
            what = key, tree.numbers[key], tree.names.get(key, "")
            views[what] = known.get(what) or variant_view(variant, *what[1:])
        self._views = views
        return tuple(views.values())

    # -- what changes it ---------------------------------------------------------------------------

    def adopt(self, variants: Iterable[Variant], name: str = "") -> None:
        """Take variants of this program into the tree; the last becomes current, and has that name
        where it has none.
        """
        data = self.tree.variants[self.tree.root].data
        new = tuple(one if one.data else with_data(one, data) for one in variants)

        def changed(values: Values) -> Values:
            tree = values.tree
            for variant in new:
                tree = tree.with_variant(variant).showing(variant.key)
            if name:
                tree = tree.called(tree.current, name)
            if tree is values.tree and values.recipe_error is None and not values.taken_over:
                return values
            return replace(values, tree=tree, recipe_error=None, taken_over="")

        self.change(changed)
        self._prepare(new)

    def redefine(self, variant: Variant) -> None:
        """Take a variant of the program as traced again. Steps are taken anew on a changed program,
        which is said where it is another one altogether; the same program only clears an error.
        """
        before = self.tree
        if variant.root.key == before.root and _same_rows(variant, before.variants[before.root]):
            self.change(lambda v: v if v.error is None else replace(v, error=None))
            if variant.parent is not None:
                self.adopt([variant])
            return
        tree = planted(variant)
        self.change(lambda v: v.replanted(tree))
        self.kept.keep_only(() if variant.root.key == before.root else tree.variants)
        self.work.forget(before.variants)
        self._prepare(tree.variants.values())
        self._read_store()
        old = old_tree(self.name, before)
        if old.entries:
            former = before.variants[before.root].program
            self._take_anew(old, said=taken_over(former, variant.root.program))

    def show(self, key: str) -> None:
        """Make a variant of the tree current."""
        self.change(lambda v: replace(v, tree=v.tree.showing(key)))

    def rename(self, key: str, name: str) -> None:
        """Give a variant the user's name; "" takes it away. Raises WorkbenchError where another
        has it.
        """
        self.change(lambda v: replace(v, tree=v.tree.renamed(key, name.strip())))

    def remove(self, key: str) -> None:
        """Take a variant and what came from it out of the tree."""
        before = self.tree.variants
        self.change(lambda v: v.without(key))
        after = self.tree.variants
        self.kept.keep_only(after)
        self.work.forget(set(before) - set(after))

    def fail(self, error: UntracedView) -> None:
        """Show that the program could not be traced again; the shown program stays."""
        self.change(lambda v: replace(v, error=error))

    def mended(self, error: UntracedView) -> None:
        """Take back that error; another error stays."""
        self.change(lambda v: replace(v, error=None) if v.error is error else v)

    def load(self, old: SavedTree, ended: Ended = lambda error: None, show: bool = True) -> None:
        """Take the steps, names and measurements of a saved tree; with `show`, its current variant
        becomes current.
        """
        if old.name != self.name:
            raise WorkbenchError(f"this is a saved workbench of {old.name}, not of {self.name}")
        self.change(lambda v: v.with_saved(old))
        self._take_anew(old, ended, show)

    def _take_anew(
        self,
        old: SavedTree,
        ended: Ended = lambda error: None,
        show: bool = True,
        said: str = "",
    ) -> None:
        """Take the steps of another tree on this root, in the worker. Steps that fit come in as
        they are made; those that do not are told at the end, and what is to be `said` of those that
        do.
        """
        start = self.tree
        root = start.variants[start.root]
        stands = {old.root: root.key}
        misfits: list[Misfit] = []

        def came(value: Misfit | Grown) -> None:
            if isinstance(value, Misfit):
                misfits.append(value)
                return
            (variant,) = value.variants
            name = old.names.get(value.entry, "")
            stands[value.entry] = variant.key

            def changed(values: Values) -> Values:
                if values.tree.root != root.key:
                    return values  # traced again meanwhile
                tree = values.tree.with_variant(variant)
                if name and tree.named(name) is None:  # present variants keep their names
                    tree = tree.renamed(variant.key, name)
                return replace(values, tree=tree)

            self.change(changed)
            self._prepare([variant])

        def finished(error: ErrorView | None) -> None:
            known = [stands[key] for key in old.way() if key in stands] if show else []
            failed = error or (sentence(misfit_text(old, misfits)) if misfits else None)
            fit = said if len(stands) > 1 else ""

            def changed(values: Values) -> Values:
                if values.tree.root != root.key:
                    return values
                tree = values.tree
                if tree.current == start.current and known and known[-1] in tree.variants:
                    tree = tree.showing(known[-1])
                return replace(values, tree=tree, recipe_error=failed, taken_over=fit)

            self.change(changed)
            ended(error)

        self.work.order("anew", root, old.root, old.entries, came=came, ended=finished)

    def _prepare(self, variants: Iterable[Variant]) -> None:
        """Have the first picture of variants computed, whoever looks at them."""
        parts = first(self._values.typical)
        for variant in variants:
            self.kept.prepare(variant, parts)

    def _prepare_shown(self) -> None:
        """Have the moves of the shown variant computed: a saved file holds them too, whoever
        looked.
        """
        self.kept.prepare_shown(self.tree.shown)

    def _read_store(self) -> None:
        """Show measurements recorded before, here or elsewhere."""
        root = self.tree.variants[self.tree.root]

        def came(found: tuple[MeasurementView, ...]) -> None:
            self.change(
                lambda v: (
                    replace(v, measurements=together(found, v.measurements))
                    if v.tree.root == root.key and found
                    else v
                )
            )

        with contextlib.suppress(NotSentError):  # what runs here only is measured nowhere
            self.work.order("recorded", root, self.store, came=came, ended=lambda error: None)

    def take_measured(self, found: Iterable[Measurement]) -> None:
        """Show measurements made elsewhere of variants of this program."""
        views = measurement_views(belonging(self.tree.variants[self.tree.root], found))
        if views:
            self.change(lambda v: replace(v, measurements=together(v.measurements, views)))
        self.look_at_constants()

    def call(self, variant: Variant, name: str) -> None:
        """Take a variant into the tree under a name that Python gave it, and that another one loses
        to it. The shown variant stays; a variant of another program is none of this tree.
        """

        def changed(values: Values) -> Values:
            if values.tree.root != variant.root.key:
                return values
            tree = values.tree.with_variant(variant)
            holder = tree.named(name)
            if holder == variant.key:
                return values
            if holder is not None:
                tree = tree.renamed(holder, "")
            return replace(values, tree=tree.renamed(variant.key, name))

        self.change(changed)
        if variant.key in self.tree.variants:
            self._prepare(variant.lineage)

    def take_run(self, result: Result) -> None:
        """Show a run made elsewhere of a variant of this program, which joins the tree."""
        self.join_running(result.variant)
        view = run_view(result)
        self.change(lambda values: values.with_run(view, result.lengths))

    def take_profiled(self, profile: Profile) -> None:
        """Show a profile made elsewhere of a variant of this program, which joins the tree."""
        self.join_running(profile.variant)
        view = profile_view(profile)
        self.change(lambda values: values.with_profile(view))

    # -- what is measured and run ------------------------------------------------------------------

    def look_at_constants(self) -> None:
        """Tell every view, whichever workbench it shows, where predicted times have changed: this
        machine was calibrated, or its first measurement has told their scale.
        """
        with self._lock:
            before, self._constants = self._constants, tuple(map(stamp, DEFAULTS))
        if self._constants != before:
            self._send(PredictedAnew("predicted-anew", PREDICTED))
            self._tell()

    def close(self) -> None:
        """Stop what is measured, let the worker forget all variants, and send nothing more."""
        self.under_way.cancel()
        self.work.forget(self.tree.variants)
        self._send = lambda message: None

    def join_running(self, variant: Variant) -> None:
        """Take a running variant into the tree, if it is of this program, so that views can name
        it. The shown variant stays. The automatic recipe's variant is named so; where another of it
        is there, of another backend or other sizes, with a number behind.
        """
        tree = self.tree
        if variant.key in tree.variants or variant.root.key != tree.root:
            return

        def changed(values: Values) -> Values:
            if values.tree.root != variant.root.key:
                return values  # traced again meanwhile
            tree = values.tree.with_variant(variant)
            if variant.because:
                tree = tree.called(variant.key, AUTOMATIC)
            return replace(values, tree=tree)

        self.change(changed)

    def show_running(self, place: RunPosition) -> None:
        """Tell every view the position of a running program of this name; `variant` is "" for a
        variant outside the tree.
        """
        self._send(
            Running(
                "running",
                self.name,
                place.variant if place.variant in self.tree.variants else "",
                place.shares,
                place.now,
                place.loops,
                place.seconds,
                place.over,
            )
        )


def _same_rows(one: Variant, other: Variant) -> bool:
    """Tell whether two variants of one program read the same rows of data sets."""
    equations = one.root.program.equations
    sizes = [resolve(equations, each.rows.sizes(None)) for each in (one, other)]
    rows = zip((one, other), sizes, strict=True)
    first, second = (each.rows.identity(own) for each, own in rows)
    return sizes[0] == sizes[1] and first == second
