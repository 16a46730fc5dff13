"""Checks of an action against what an environment takes."""

from __future__ import annotations

from workbench.errors import ProgramError
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import user_line
from workbench.program.operations.shapes import shape_text


def discrete(environment: str, action: Tensor, count: int) -> Tensor:
    """Return the action, checked to be an integer scalar below `count`."""
    if action.dtype not in ("int32", "int64") or action.shape:
        raise ProgramError(
            f"{environment} takes one of {count} discrete actions (an int scalar), "
            f"but the action is {action.dtype}{shape_text(action.shape)}; "
            f"use wb.Categorical(logits=…).sample()",
            user_line(),
        )
    return action


def continuous(environment: str, action: Tensor, size: int) -> Tensor:
    """Return the action, checked to be `size` floats."""
    if action.dtype != "float" or action.shape != (size,):
        raise ProgramError(
            f"{environment} takes continuous actions (float{shape_text((size,))}), "
            f"but the action is {action.dtype}{shape_text(action.shape)}; "
            f"use wb.Normal(mean, std).sample()",
            user_line(),
        )
    return action
