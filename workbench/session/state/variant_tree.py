"""The variants of a workbench and the user's names for them, as one immutable value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count

from workbench.errors import WorkbenchError
from workbench.variants.variant import Variant


@dataclass(frozen=True)
class VariantTree:
    """Variants by key, each after its parent. `numbers` count them as they came, and stay when
    another is removed. `names` are the user's.
    """

    root: str
    current: str
    variants: Mapping[str, Variant]
    numbers: Mapping[str, int]
    names: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Variant:
        """Return the variant of that key. Raises WorkbenchError where there is none."""
        variant = self.variants.get(key)
        if variant is None:
            raise WorkbenchError(f"there is no variant {key[:8]} in the tree any more")
        return variant

    @property
    def shown(self) -> Variant:
        """The current variant."""
        return self.variants[self.current]

    def showing(self, key: str) -> VariantTree:
        """Return the tree with another current variant."""
        return replace(self, current=self[key].key)

    def with_variant(self, variant: Variant) -> VariantTree:
        """Return the tree with a variant and its ancestors, which must start at this root."""
        if variant.root.key != self.root:
            raise WorkbenchError("a variant of another program does not belong into this tree")
        new = {one.key: one for one in variant.lineage if one.key not in self.variants}
        if not new:
            return self
        numbers = dict(zip(new, count(1 + max(self.numbers.values(), default=-1))))
        return replace(self, variants={**self.variants, **new}, numbers={**self.numbers, **numbers})

    def named(self, name: str) -> str | None:
        """Return the key of the variant that has this name."""
        return next((key for key, own in self.names.items() if own == name), None)

    def renamed(self, key: str, name: str) -> VariantTree:
        """Return the tree with the user's name for a variant; "" removes the name. Raises
        WorkbenchError where another variant has it.
        """
        others = {other: own for other, own in self.names.items() if other != self[key].key}
        holder = self.named(name)
        if holder is not None and holder != key:
            steps = ", ".join(map(str, self[holder].steps))
            which = f"the variant with {steps}" if steps else "the program as written"
            raise WorkbenchError(
                f"{which} is named {name!r} already; expected a name that no other has"
            )
        return replace(self, names={**others, key: name} if name else others)

    def called(self, key: str, name: str) -> VariantTree:
        """Return the tree with a name for a variant that has none; where another has it, with a
        number behind it.
        """
        if self[key].key in self.names:
            return self
        taken = set(self.names.values())
        numbered = (f"{name} {number}" for number in count(2))
        return self.renamed(key, next(one for one in chain([name], numbered) if one not in taken))

    def without(self, key: str) -> VariantTree:
        """Return the tree without a variant and its descendants."""
        variant = self[key]
        if variant.parent is None:
            raise WorkbenchError("the program as written cannot be removed")
        kept = {
            other: one
            for other, one in self.variants.items()
            if all(above.key != key for above in one.lineage)
        }
        numbers = {other: number for other, number in self.numbers.items() if other in kept}
        names = {other: name for other, name in self.names.items() if other in kept}
        current = self.current if self.current in kept else variant.parent.key
        return VariantTree(self.root, current, kept, numbers, names)


def planted(variant: Variant) -> VariantTree:
    """Return the tree of a variant and its ancestors."""
    root = variant.root
    return VariantTree(root.key, root.key, {}, {}).with_variant(variant).showing(variant.key)
