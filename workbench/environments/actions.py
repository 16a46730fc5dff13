"""Checks of an action against what an environment takes."""

from __future__ import annotations

from workbench.errors import ProgramError
from workbench.language.tracing.nodes import as_tensor, is_literal
from workbench.language.tracing.tensor import Node, Tensor, TensorLike
from workbench.language.tracing.trace import user_line
from workbench.program.operations.dtypes import INTEGERS
from workbench.program.operations.shapes import shape_text


def discrete(environment: str, action: TensorLike, count: int) -> Tensor:
    """Return the action, checked to be an integer scalar below `count`."""
    action = as_tensor(action)
    found = f"{action.dtype}{shape_text(action.shape)}"
    is_one = action.dtype in INTEGERS and not action.shape
    if isinstance(action.source, Node) and is_literal(action):
        found = str(action.source.options["value"])
        is_one = is_one and 0 <= action.source.options["value"] < count
    if not is_one:
        raise ProgramError(
            f"{environment} takes one of {count} discrete actions (an int scalar), "
            f"but the action is {found}; "
            f"use wb.Categorical(logits=…).sample()",
            user_line(),
        )
    return action


def continuous(environment: str, action: TensorLike, size: int) -> Tensor:
    """Return the action, checked to be `size` floats."""
    action = as_tensor(action)
    if action.dtype != "float" or action.shape != (size,):
        raise ProgramError(
            f"{environment} takes continuous actions (float{shape_text((size,))}), "
            f"but the action is {action.dtype}{shape_text(action.shape)}; "
            f"use wb.Normal(mean, std).sample()",
            user_line(),
        )
    return action
