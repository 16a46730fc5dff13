"""Instances that write one element in two blocks of a loop whose blocks run in any order.

No two instances of a statement as written do. The points of a sum do once they are added up: each
adds to the element that another adds to, in whatever order, but not at once.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.polyhedral.accesses import Instances
from workbench.polyhedral.dependences.flow import (
    RelationKey,
    is_empty_relation,
    pair_witness,
    relation,
    standings,
    write_key,
)
from workbench.polyhedral.dependences.witness import Witness
from workbench.polyhedral.tree import Loop, Path, loops_above


class Meeting(NamedTuple):
    """A loop whose blocks are apart, and the smallest pair in two of them that writes an element.

    The witness's statements are the same one twice.
    """

    loop: Loop
    witness: Witness


def first_meeting(statement: Instances, path: Path, dealt: str | None) -> Meeting | None:
    """Return the outermost such loop on a statement's path; None where there is none.

    In the loop called `dealt` each run of blocks has an element of its own.
    """
    key = RelationKey(write_key(statement), write_key(statement))
    for loop in loops_above(path, "loop"):
        together = key._replace(equal=(*key.equal, standings(loop, statement, statement)))
        if loop.apart and loop.name != dealt and not is_empty_relation(key):
            pairs = relation(key).subtract(relation(together))
            if not pairs.is_empty():
                found = pair_witness(statement, statement, statement.write.array, pairs)
                return Meeting(loop, found)
        key = together
    return None
