"""The command `workbench`: chooses the subcommand, and turns every error of a user's into a
sentence and an exit code.

0: done. 1: it could not be done here (memory, a missing backend). 2: bad input. 130: Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from workbench.cli.arguments import Parser
from workbench.cli.commands import compare, doctor, lab, listing, optimize, profile, run, show
from workbench.errors import RunError, UnavailableError, WorkbenchError, nearest

COMMANDS: dict[str, tuple[Callable[[list[str]], int], str]] = {
    "run": (run.main, "run an algorithm and print its outputs"),
    "compare": (compare.main, "measure variants of an algorithm in turn, each checked"),
    "optimize": (optimize.main, "the automatic recipe of an algorithm, step by step"),
    "profile": (profile.main, "where the time of an algorithm goes: scopes, kernels, statements"),
    "show": (show.main, "print an algorithm's equations, schedule, loops or generated source"),
    "list": (listing.main, "algorithms with their arguments, environments, transforms, backends"),
    "doctor": (doctor.main, "what works on this machine, and what to install for the rest"),
    "lab": (lab.main, "open JupyterLab on the notebooks"),
}

DONE, NOT_HERE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (the process's own by default) and return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(words)
        sys.stdout.flush()
        return code
    except WorkbenchError as error:
        print(f"workbench: {error}", file=sys.stderr)
        return NOT_HERE if isinstance(error, RunError | UnavailableError) else BAD_INPUT
    except KeyboardInterrupt:
        print("workbench: interrupted before anything was done", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe (`| head`) has gone; nothing more may be written, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except SystemExit as done:  # argparse after --help and --version
        return done.code if isinstance(done.code, int) else DONE


def _dispatch(words: list[str]) -> int:
    width = max(len(name) for name in COMMANDS)
    listed = "\n".join(f"  {name:<{width}}  {text}" for name, (_, text) in COMMANDS.items())
    parser = Parser(
        prog="workbench",
        usage="workbench COMMAND [options]",
        description="Reinforcement-learning programs as recurrence equations.",
        epilog=f"commands:\n{listed}\n\n`workbench COMMAND --help` says more.",
    )
    parser.add_argument("--version", action="version", version=f"workbench {doctor.version()}")
    if not words:
        parser.print_help()
        return BAD_INPUT
    command, *rest = words
    if command in COMMANDS:
        return COMMANDS[command][0](rest)
    if command.startswith("-"):
        parser.strictly([command])
    raise WorkbenchError(f"unknown command {command!r}: {nearest(command, COMMANDS, 'commands')}")
