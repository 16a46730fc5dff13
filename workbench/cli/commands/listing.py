"""`workbench list`: the algorithms, environments, transforms and backends."""

from __future__ import annotations

import inspect
from typing import Any

from workbench.backends import backends
from workbench.cli.arguments import Parser, written
from workbench.cli.templates import TEMPLATES
from workbench.environments import ENVIRONMENTS
from workbench.language.template.template import Template
from workbench.transforms.step.transform import REGISTRY


def main(words: list[str]) -> int:
    """Run the command; always return 0."""
    parser = Parser(prog="workbench list", description="What there is.")
    parser.strictly(words)
    print("algorithms")
    for template in TEMPLATES.values():
        print(f"  {template.name}: {_first_line(template)}")
        print(f"    {' '.join(_argument(p) for p in _parameters(template))}")
    print("\nenvironments")
    for name, environment in ENVIRONMENTS.items():
        print(f"  {name}: {_first_line(environment)}")
    print("\ntransforms")
    for name, transform in REGISTRY.items():
        print(f"  {name}: {_first_line(transform)}")
    print("\nbackends")
    for name, reason in backends().items():
        print(f"  {name}: {'available' if reason is None else f'not available: {reason}'}")
    return 0


def _parameters(template: Template) -> list[inspect.Parameter]:
    return list(template.signature.parameters.values())


def _argument(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return f"--{parameter.name} …"
    return f"--{parameter.name} {written(parameter.default)}"


def _first_line(thing: Any) -> str:
    """Return the first sentence of a docstring, which may run over several lines."""
    paragraph = (inspect.getdoc(thing) or "").split("\n\n")[0]
    return " ".join(paragraph.split())
