from pathlib import Path

from tests.codegen.c.expanding import expanded
from workbench.codegen import runtime


def test_all_headers_are_named(repository: Path) -> None:
    there = (repository / "workbench" / "codegen" / "c").rglob("*.h")
    assert {path.name for path in there} == {*runtime.HEADERS, *runtime.OF_PROFILES}


def test_headers_include_only_those_before_them() -> None:
    for k, name in enumerate(runtime.HEADERS):
        included = [line for line in runtime.header(name).splitlines() if '#include "' in line]
        for line in included:
            assert line.split('"')[1] in runtime.HEADERS[:k], f"{name}: {line}"


def test_a_header_is_expanded_once_and_a_template_each_time() -> None:
    text = expanded('#include "functions.h"\n#include "operations.h"\nint x;\n')
    assert text.count("typedef float vf") == 1
    assert text.count("INLINE F OF(tanh)(F x)") == 2
    assert '#include "' not in text and text.endswith("int x;\n")


def test_only_the_processor_decides_about_the_width_of_vectors() -> None:
    assert "-mprefer-vector-width=512" in runtime.flags("x86_64")
    assert runtime.flags("aarch64") == runtime.FLAGS
