"""The sentence and the exit code that each bad input gets."""

import pytest

from tests.cli.calling import SMALL, Call


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("frobnicate", "unknown command 'frobnicate': the commands are run, compare, optimize,"),
        ("rum", "unknown command 'rum': did you mean run?"),
        ("--frob", "workbench has no option --frob"),
        ("run", "workbench run expects the algorithm first, found nothing"),
        ("run --B 5", "workbench run expects the algorithm first, found --B"),
        ("run reinforse", "unknown algorithm 'reinforse': did you mean reinforce?"),
        ("run reinforce --Q 5", "workbench run reinforce has no option --Q"),
        ("run reinforce --gama 0.9", "has no option --gama: did you mean --gamma?"),
        ("run reinforce --B 0", "--B: a size must be at least 1, found 0"),
        ("run reinforce --B -3", "--B: a size must be at least 1, found -3"),
        ("run reinforce --B many", "--B: expected a whole number, found 'many'"),
        ("run reinforce --B 2.5", "--B: expected a whole number, found '2.5'"),
        ("run reinforce --B", "--B: expected one argument"),
        ("run reinforce --gamma high", "--gamma: expected a number, found 'high'"),
        ("run reinforce --hidden 8,x", "--hidden: expected a whole number, found 'x'"),
        (
            "run reinforce --seed -1",
            "--seed: expected a whole number from 0 to 4294967295, found '-1'",
        ),
        ("run reinforce --dtype float16", "--dtype: invalid choice: 'float16'"),
        ("run reinforce --backend nunpy", "--backend: invalid choice: 'nunpy'"),
        ("run reinforce --as-written --vectorized b", "not allowed with"),
        ("run reinforce --vectorized z", "unknown dim z"),
        ("run reinforce --output results.txt", "expected a name that ends in .csv or .json"),
        ("run reinforce --output no/such/folder/x.csv", "there is no folder"),
        ("run reinforce --backend numpy --save no/such/folder/x.safetensors", "there is no folder"),
        ("run reinforce --backend numpy --resume no-such-file", "there is no file no-such-file"),
        (
            "run reinforce --backend numpy --resume README.md",
            "README.md is not a whole safetensors file",
        ),
        ("run reinforce --recipe no-such-file", "there is no file no-such-file"),
        ("run reinforce --recipe README.md", "README.md is no recipe: it is not JSON"),
        ("run reinforce --recipe x --as-written", "not allowed with"),
        ("compare", "workbench compare expects the algorithm first, found nothing"),
        ("compare reinforce --variant automatc", "did you mean automatic?"),
        ("compare reinforce --variant README.md", "README.md is no recipe"),
        ("run reinforce --threads 0", "--threads: threads 0; expected an integer from 1 on"),
        ("profile reinforce --threads 1.5", "threads '1.5'; expected an integer from 1 on"),
        ("compare reinforce --repeats 0", "--repeats: expected a whole number from 1 on, found"),
        ("compare reinforce --warmup x", "--warmup: expected a whole number from 0 on, found 'x'"),
        ("compare reinforce --repeat 5", "has no option --repeat: did you mean --repeats?"),
        ("compare reinforce --backend nunpy", "--backend: invalid choice: 'nunpy'"),
        ("profile reinforce --trace no/such/folder/x.json", "--trace: there is no folder"),
        ("profile reinforce --by kernle", "--by: invalid choice: 'kernle'"),
        (
            "profile reinforce --backend numpy --by kernel",
            "--by kernel: numpy has no kernels, native has",
        ),
        ("optimize reinforse", "unknown algorithm 'reinforse': did you mean reinforce?"),
        ("optimize reinforce --B 0", "--B: a size must be at least 1, found 0"),
        ("optimize reinforce --save no/such/folder/x.json", "--save: there is no folder"),
        ("run reinforce 5", "workbench run reinforce does not know what to do with '5'"),
        ("show reinforce --sauce", "has no option --sauce: did you mean --source or --stage?"),
        ("list everything", "workbench list does not know what to do with 'everything'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    workbench: Call, words: str, sentence: str
) -> None:
    done = workbench(*words.split())
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("workbench: ")
    assert len(done.err.splitlines()) == 1
    assert sentence in done.err


def test_backend_that_is_not_there_says_why(
    workbench: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    done = workbench("run", "reinforce", *SMALL, "--backend", "native")
    assert done.code == 1
    assert "native" in done.err
    assert "no C compiler" in done.err


def test_interruption_before_the_run_is_no_traceback(
    workbench: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.cli.commands.run.traced", interrupted)
    done = workbench("run", "reinforce")
    assert done.code == 130
    assert done.err == "workbench: interrupted before anything was done\n"
