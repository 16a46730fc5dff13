"""The folders and compilers of the tests of compiled C, whose files are kept."""

from tests.backends.native.conftest import compiler, work

__all__ = ["compiler", "work"]
