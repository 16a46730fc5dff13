"""The garbage collector rests while it is asked to, and is left as it was."""

import gc

import pytest

from workbench.collection import without_collection


def test_collector_rests_and_is_left_as_it_was() -> None:
    assert gc.isenabled()
    with without_collection():
        assert not gc.isenabled()
        with without_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collector_runs_again_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), without_collection():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_collector_that_the_user_stopped_stays_so() -> None:
    gc.disable()
    try:
        with without_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
