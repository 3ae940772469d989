"""An answer is paid for once: the store of the working folder."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace

from chat_server import by_schema, error
from imitated import Imitated
from small_steps import NAMES
from tiny import TinyEncoder, tiny_dataset
from typer.testing import CliRunner

from workbench import places
from workbench.cli.app import app
from workbench.encoding import encoder
from workbench.index import Index
from workbench.llm import engine
from workbench.llm.call import Reply, Request
from workbench.llm.record import Recording


def answers(*words: str) -> dict:
    result = CliRunner().invoke(app, ["answers", *words, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_what_one_engine_was_answered_no_other_asks_again(serve):
    server = serve(by_schema)
    for _ in range(2):  # as in two processes
        result = engine(f"openai:test-model@{server.url}").run(NAMES, ["a", "b"])
        assert [one.value.names for one in result] == [["a"], ["b"]]
    assert len(server.seen) == 2
    assert engine(f"openai:test-model@{server.url}").record == places.answers()


def test_a_failure_is_asked_again_by_the_next_run_and_another_seed_is_another_request(serve):
    server = serve(lambda asked: error(400) if len(server.seen) == 1 else by_schema(asked))
    spec = f"openai:test-model@{server.url}"
    assert engine(spec).run(NAMES, ["a"])[0].failure
    assert not engine(spec).run(NAMES, ["a"])[0].failure
    assert not engine(spec, seed=1).run(NAMES, ["a"])[0].failure
    assert len(server.seen) == 3


def test_nothing_is_made_before_the_first_request(tmp_path):
    engine("openai:test-model@http://127.0.0.1:9/v1")
    encoder("openai:text-e@http://127.0.0.1:9/v1")
    assert not places.answers().exists()
    said = answers()
    assert (said["file"], said["holds"], said["vectors"]) == (str(places.answers()), [], [])


def test_the_verb_says_what_is_held_and_forgets_one_engine(serve):
    server = serve(by_schema)
    for model in ("one", "other"):
        engine(f"openai:{model}@{server.url}").run(NAMES, ["a"])
    assert [(row["engine"], row["answers"]) for row in answers()["holds"]] == [("openai:one", 1), ("openai:other", 1)]
    assert answers("--forget", "openai:one")["forgot"] == {"openai:one": 1}
    engine(f"openai:one@{server.url}").run(NAMES, ["a"])
    engine(f"openai:other@{server.url}").run(NAMES, ["a"])
    assert len(server.seen) == 3
    assert answers("--older", "1", "--forget", "openai:one")["forgot"] == {"openai:one": 0}
    assert answers("--older", "1")["forgot"] == {"all engines": 0}
    missing = CliRunner().invoke(app, ["answers", "--forget", "openai:none"])
    assert missing.exit_code != 0 and "holds no answer of 'openai:none'" in missing.output


def test_an_index_says_what_it_used_and_a_colleague_gets_no_more(tmp_path):
    engine, store = Imitated(), Recording.of(None)
    engine.keep(store)
    store.put(Request("names", "openai:other", (), None, 0.0, 1), Reply("of no index"), good=True)
    given = {"encoder": TinyEncoder(), "layers": ["facts"], "progress": False}
    index = Index.build(replace(tiny_dataset(), extractions=None), engine, tmp_path / "index", **given)
    ((place, keys),) = index.recordings.items()
    assert place == places.answers() and f"{len(keys)} answers of {place.name}" in repr(index.usage)
    shared = tmp_path / "shared.sqlite"
    said = answers("--of", str(index.folder), "--into", str(shared))
    assert said["used"] == [{"recording": str(place), "answers": len(keys)}]
    with closing(Recording(shared, create=False)) as store, closing(Recording(place, create=False)) as whole:
        assert [row.key for row in store.rows(sorted(keys))] == sorted(keys)
        assert len(store) == len(keys) == len(whole) - 1
    for words in (["--into", "x"], ["--of", str(index.folder), "--older", "1"], ["--of", str(shared)]):
        refused = CliRunner().invoke(app, ["answers", *words])
        assert refused.exit_code == 1 and "--of" in refused.stderr
