"""The rule bodies of BDTR on invented passages."""

from __future__ import annotations

from workbench.rules import reasoning as bdtr
from workbench.steps import dual_thoughts

QUESTION = "Where was the founder of Kestrel FM born?"
STATION = ("Kestrel FM", "Kestrel FM is a radio station. It was founded by Nora Whitlock in 1984.")
FOUNDER = ("Nora Whitlock", "Nora Whitlock is a broadcaster. She was born in Alderby.")
BIRD = ("Common kestrel", "The common kestrel is a small falcon that hovers over open country.")


def dual(question, passages, before):
    return bdtr.dual_thoughts(dual_thoughts.Input(question, tuple(passages), tuple(before)))


def reasoning(question, passages):
    return bdtr.reasoning_chain(dual_thoughts.ChainInput(question, tuple(passages)))


def supporting(steps, passages):
    """Numbers of the passages that support the steps."""
    return bdtr.verify(dual_thoughts.VerifyInput("", "", tuple(steps), (), tuple(passages))).documents


def test_fast_asks_for_the_first_hop_and_slow_names_the_bridge():
    thoughts = dual(QUESTION, [BIRD, STATION], ())
    assert "Kestrel FM" in thoughts.fast and "found" in thoughts.fast and "born" not in thoughts.fast
    assert thoughts.slow == f"{QUESTION} Nora Whitlock"


def test_what_was_tried_is_not_tried_again():
    first = dual(QUESTION, [STATION], ())
    second = dual(QUESTION, [STATION], [(first.fast, first.slow)])
    assert "Nora Whitlock" in second.fast and "born" in second.fast  # the next hop, with what the first found
    assert len({first.fast, first.slow, second.fast, second.slow}) == 4


def test_with_nothing_found_a_title_is_the_bridge():
    assert dual("What is the hovering falcon called?", [BIRD], ()).slow.endswith("Common kestrel")
    assert dual(QUESTION, [], ()).slow == QUESTION and dual("", [], ()) == dual_thoughts.Output(fast="", slow="")
    found = reasoning(QUESTION, [BIRD])
    assert found.steps == [] and found.bridges == [] and "no hop" in found.chain


def test_the_chain_holds_the_sentences_that_were_read_and_what_links_them():
    found = reasoning(QUESTION, [BIRD, FOUNDER, STATION])
    assert found.bridges == ["Nora Whitlock"]
    assert any("founded by Nora Whitlock" in step for step in found.steps)
    assert any("born in Alderby" in step for step in found.steps) and "Alderby" in found.chain


def test_a_passage_supports_a_step_that_it_tells():
    steps = ["It was founded by Nora Whitlock in 1984.", "Nora Whitlock was born in Alderby."]
    assert supporting(steps, [BIRD, STATION, FOUNDER]) == [2, 3]
    assert supporting(steps, [BIRD]) == supporting([], [STATION]) == supporting(steps, []) == []
    assert supporting(["Nora Whitlock was born in Alderby."], [FOUNDER, FOUNDER]) == [1], "one passage is enough"
