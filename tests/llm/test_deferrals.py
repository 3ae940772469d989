"""Work in pieces: what is deferred holds back nothing else, is told at the end, and counts when it is done."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from workbench.errors import Deferred, EngineError
from workbench.llm.deferrals import Deferrals, each
from workbench.llm.meter import Meter, collect
from workbench.llm.step import Usage


def odd(number: int, plus: int = 0) -> int:
    """Twice an odd number; as many requests as an even number says wait."""
    if number % 2 == 0:
        raise Deferred(number)
    return 2 * number + plus


def test_the_pieces_behind_a_deferred_one_are_done():
    done = []
    with pytest.raises(Deferred) as deferred:
        each(lambda number: done.append(odd(number)), [1, 2, 3, 4, 5])
    assert done == [2, 6, 10] and deferred.value.requests == 6


def test_without_deferrals_it_is_a_map():
    assert each(odd, [1, 3], [10, 20]) == [12, 26]


def test_threads_add_up():
    deferrals = Deferrals()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(deferrals.tried(odd), range(100)))
    assert [one for one in found if one is not None] == [2 * number for number in range(1, 100, 2)]
    assert deferrals.requests == sum(range(0, 100, 2))


def test_other_errors_are_not_held_back():
    with pytest.raises(EngineError, match="no") as error, Deferrals():
        raise EngineError("no")
    assert not isinstance(error.value, Deferred)


def test_what_is_deferred_is_counted_when_it_is_done():
    engine = Meter()
    with collect() as whole:
        for ends in (Deferred(1), None):
            with Deferrals(), collect() as inner:
                engine.add("step", Usage(calls=1, prompt_tokens=7))
                if ends:
                    raise ends
    assert inner.total.prompt_tokens == whole.total.prompt_tokens == 7 and engine.total.prompt_tokens == 14
