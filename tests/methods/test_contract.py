"""What every method must do (`workbench.testing`). The list comes from the registry, so a new method gets these tests
for free; `VARIANTS` are settings that change what a method does enough to deserve the checks that hang on settings."""

import pytest

from workbench.methods import METHODS
from workbench.testing import CHECKS, MethodContract, check_method
from workbench.testing.contract import OF_VARIANTS

VARIANTS = [
    "hipporag2[profile=paper]", "hipporag2[filter=identity]", "ircot[profile=original]", "irgs[profile=original]",
    "tog[backbone=dense,scale=minmax]", "think_on_graph[unfinished=keep]", "raptor[mode=traversal]",
    "lightrag[mode=hybrid,pick=weight]", "lightrag[mode=naive]", "lightrag[profile=early,mode=hybrid]",
    "pathrag[profile=paper]", "dotrag[profile=paper]", "dotrag[relation_boost=false,path_len_max=2]",
    "ket_rag[profile=released]", "ket_rag[profile=thesis]", "ket_rag[strategy=text,theta=0.25]",
    "ket_rag[strategy=skeleton]", "youtu[profile=released]", "youtu[agent=false,type_filter=hard]",
    "gfm_rag[checkpoint=untrained,ranker=simple,fill=false,linking=late]",
    "gfm_rag[checkpoint=untrained,ranker=idf_sigmoid,pairs=all]", "linearrag[profile=paper]",
    "e2graphrag[hops=1,report_tokens=0]", "g_retriever[nodes=1,edges=2,edge_cost=2]",
]  # fmt: skip
WITH_A_MODEL = (
    "ranks_existing_passages_best_first", "repeats_its_trace_byte_by_byte", "encodes_a_repeated_question_once",
    "answers_in_threads_as_alone",
)  # fmt: skip


class TestMethods(MethodContract):
    methods = METHODS


@pytest.mark.slow  # a minute for all of them
class TestVariants(MethodContract):
    methods = VARIANTS
    checks = OF_VARIANTS


@pytest.mark.parametrize("spec", ["dense", "hipporag2"])
def test_the_real_encoder_keeps_the_contract_too(spec, meridian_index):
    check_method(spec, meridian_index, WITH_A_MODEL)


def test_every_failed_check_is_named(monkeypatch):
    monkeypatch.setitem(CHECKS, "first", lambda subject: 1 / 0)
    monkeypatch.setitem(CHECKS, "second", lambda subject: subject.method.retrieve("?", k=0))
    with pytest.raises(AssertionError, match=r"(?s)dense breaks 2 of its promises\s+first: Zero.*\s+second: Sett"):
        check_method("dense", checks=("first", "says_what_it_is", "second"))
