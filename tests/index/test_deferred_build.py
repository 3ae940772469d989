"""A build whose requests wait for a batch: what can be done is done, nothing half-made stands, and what is asked is
billed once."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tiny import PASSAGES, TinyEncoder, files, tiny_dataset

from workbench.errors import Deferred
from workbench.index import Index
from workbench.llm.batch.export import Deferring
from workbench.llm.call import Reply, Request
from workbench.llm.chat import ChatEngine
from workbench.llm.record import Recording
from workbench.records import Passage

DATA = replace(tiny_dataset(), extractions=None)
NAME = "openai:test-model"


def reply(request: Request) -> Reply:
    """Of every Step, from the request alone."""
    said = request.messages[-1]["content"]
    at = sum(map(ord, said)) % 9
    texts = {
        "named_entities": json.dumps({"named_entities": ["Orsby", f"Place {at}"]}),
        "triples": json.dumps({"triples": [["Orsby", "lies near", f"Place {at}"], ["Orsby", "has", f"Pier {at}"]]}),
    }
    return Reply(texts.get(request.step, "?"), prompt_tokens=10 + at, completion_tokens=at)


class Batch:
    """A recording, and the requests that wait."""

    def __init__(self, path):
        self.store, self.waiting = Recording(path), dict[str, Request]()

    @property
    def engine(self) -> ChatEngine:
        collect = lambda request: self.waiting.setdefault(request.key, request)  # noqa: E731
        return ChatEngine(NAME, Deferring(self.store, collect), concurrency=1)

    def answer(self, *, but: str = "no passage has these words") -> int:
        """Record replies to all that waits, but to requests that hold some words; gives their number."""
        taken = [one for one in self.waiting.values() if but not in one.messages[-1]["content"]]
        for request in taken:
            self.store.put(request, reply(request), good=True)
        self.waiting = {}
        return len(taken)


@pytest.fixture
def batch(tmp_path) -> Batch:
    return Batch(tmp_path / "recording.sqlite")


def build(folder, engine, data=DATA, layers=("facts",)) -> Index:
    encoder = TinyEncoder()
    return Index.build(data, engine, folder, encoder=encoder, layers=layers, keep_going=True, progress=False)


def rounds(batch: Batch, work) -> tuple[list[int], Index]:
    """The number of requests of each round, and what the last one makes."""
    asked = []
    while True:
        try:
            return asked, work()
        except Deferred:
            asked.append(batch.answer())


def test_a_build_of_rounds_is_that_of_one_by_one(batch, tmp_path):
    """Profiles wait for no name or fact, so they are asked for in the first round; their replies cannot be read."""
    live = build(tmp_path / "live", ChatEngine(NAME, reply), layers=("facts", "profiles"))
    asked, made = rounds(batch, lambda: build(tmp_path / "index", batch.engine, layers=("facts", "profiles")))
    assert asked == [2 * len(PASSAGES), len(PASSAGES)]
    assert files(made.folder) == files(live.folder)
    assert made.usage.of(["extractions"]) == live.usage.of(["extractions"])


def test_the_other_passages_of_a_group_go_on(batch, tmp_path):
    """A straggler is a round behind, and holds up nobody."""
    work = lambda: build(tmp_path / "index", batch.engine)  # noqa: E731
    with pytest.raises(Deferred):
        work()
    batch.answer(but="fog")
    with pytest.raises(Deferred):
        work()
    asked = [request.step for request in batch.waiting.values()]
    assert asked.count("triples") == len(PASSAGES) - 1 and asked.count("named_entities") == 1
    batch.answer()
    with pytest.raises(Deferred):
        work()
    assert [request.step for request in batch.waiting.values()] == ["triples"]
    batch.answer()
    made = work()
    assert {one.usage.calls for one in made.usage.spent if one.step} == {len(PASSAGES)}
    assert files(made.folder) == files(build(tmp_path / "live", ChatEngine(NAME, reply)).folder)


def test_an_insert_asks_for_what_is_new_and_leaves_the_index_as_it_is_until_then(batch, tmp_path):
    index = rounds(batch, lambda: build(tmp_path / "index", batch.engine))[1]
    new = Passage("p9", "Pier", "A pier at Orsby.")
    with pytest.raises(Deferred):
        index.insert([new], batch.engine, progress=False)
    assert len(batch.waiting) == 1 and len(Index.open(index.folder, TinyEncoder()).passages.passages) == len(PASSAGES)
    batch.answer()
    asked, grown = rounds(batch, lambda: index.insert([new], batch.engine, progress=False))
    assert asked == [1] and len(grown.passages.passages) == len(PASSAGES) + 1
    live = build(tmp_path / "live", ChatEngine(NAME, reply)).insert([new], ChatEngine(NAME, reply), progress=False)
    assert files(grown.folder) == files(live.folder)
