"""Encoders behind an endpoint, over a real connection: batches, retries, broken answers, recordings, limits, keys."""

from __future__ import annotations

import base64
import json
import threading
from array import array
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from chat_server import DIMENSION, completion, embedded, error, vector_of
from tiny import files as files_of
from tiny import tiny_dataset

from workbench import tokens
from workbench.encoding import Encoder, encoder
from workbench.errors import (
    BudgetSpent,
    EngineError,
    EngineRefused,
    IndexFault,
    RecordingMiss,
    SettingError,
)
from workbench.index import Index
from workbench.llm.meter import collect
from workbench.llm.record import Recording

TEXTS = ["Orsby lies on the River Aldra.", "Lake Mira", "東京", "\ud800 half", ""]


@pytest.fixture
def make():
    """`make(server, …)` is an encoder for it, which asks once only unless told otherwise."""

    def make(server, model: str = "m", **options):
        return encoder(f"openai:{model}@{server.url}", **{"attempts": 1, **options})

    return make


def unit(text: str, dimension: int = DIMENSION) -> np.ndarray:
    vector = np.array(vector_of(text, dimension), dtype=np.float32).astype(np.float64)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def inputs(server) -> list[list[str]]:
    return [asked["input"] for asked in server.seen]


# -- vectors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coded", [True, False], ids=["base64", "numbers"])
def test_vectors_are_unit_rows_in_the_order_of_the_texts(coded, serve, make):
    server = serve(lambda asked: embedded(asked, coded=coded))
    one = make(server)
    found = one.encode([*TEXTS, TEXTS[0]])
    assert isinstance(one, Encoder) and (found.shape, found.dtype) == ((6, DIMENSION), np.float32)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    sent = [TEXTS[0], "Lake Mira", "東京", "\ufffd half", " "]
    assert inputs(server) == [sent], "a repeated text goes once, half a character as one, nothing as a space"
    assert np.allclose(found, [unit(text) for text in [*sent, sent[0]]], atol=1e-6)
    assert (server.seen[0]["model"], server.seen[0]["path"]) == ("m", "/v1/embeddings")
    assert one.encode([]).shape == (0, DIMENSION)


def test_vectors_are_put_in_order_by_their_index(serve, make):
    def turned(asked):
        status, headers, body = embedded(asked)
        return status, headers, {**body, "data": body["data"][::-1]}

    assert np.allclose(make(serve(turned)).encode(["a", "b", "c"]), [unit(text) for text in "abc"], atol=1e-6)


def test_texts_go_in_batches_by_number_and_by_tokens(serve, make):
    server = serve(embedded)
    make(server, batch_size=2, concurrency=1).encode(list("abcde"))
    assert inputs(server) == [["a", "b"], ["c", "d"], ["e"]]
    server.seen.clear()
    make(server, batch_tokens=4, concurrency=1).encode(["a b c", "d e", "f", "g h i j k"])
    assert inputs(server) == [["a b c"], ["d e", "f"], ["g h i j k"]]


def test_a_dimension_is_asked_for_and_is_part_of_the_name(serve, make):
    server = serve(embedded)
    one = make(server, dimensions=8)
    assert (one.dimension, one.name) == (8, "openai:m[dimensions=8]") and not server.seen
    assert one.encode(["a"]).shape == (1, 8) and server.seen[0]["dimensions"] == 8
    make(server).encode(["a"])
    assert "dimensions" not in server.seen[1]


def test_what_is_known_of_a_model_is_not_asked():
    """Without a key: nothing is connected to before a text is encoded."""
    small = encoder("openai:text-embedding-3-small")
    assert (small.dimension, small.max_tokens) == (1536, 8191)
    assert small.name == "openai:text-embedding-3-small[max_tokens=8191]"
    assert encoder("openai:text-embedding-3-large").dimension == 3072
    assert encoder("openai:text-embedding-3-small[max_tokens=100,batch_size=5]").max_tokens == 100
    with pytest.raises(EngineRefused, match="set OPENAI_API_KEY"):
        small.encode(["a"])


def test_long_texts_are_cut_and_counted(serve, make):
    server = serve(embedded)
    one = make(server, max_tokens=5)
    long = "river " * 50
    one.encode(["short", long, long + "more"])
    sent = inputs(server)[0]
    assert sent[0] == "short" and sent[1] == sent[2] and long.startswith(sent[1]) and tokens.count(sent[1]) == 5
    assert one.meter.total.cut == 2 and "2 cut for length" in repr(one.meter)
    assert one.name == "openai:m[max_tokens=5]"
    server.seen.clear()
    make(server).encode([long])
    assert inputs(server) == [[long]], "without a known limit nothing is cut"


def test_a_query_may_have_an_instruction(serve, make):
    server = serve(embedded)
    one = make(server, instruction="instruct")
    one.encode_query("Which lake?", "phrases")
    assert inputs(server)[0][0].startswith("Instruct: Given a phrase,") and inputs(server)[0][0].endswith(
        "\nQuery: Which lake?"
    )
    assert one.name != make(server).name and one.encode(["a"]) is not None and inputs(server)[1] == ["a"]
    plain = make(server, concurrency=3)
    assert np.array_equal(plain.encode_query("Which lake?", "facts"), plain.encode_query("Which lake?", "passages"))


# -- faults -----------------------------------------------------------------------------------------------------------


def changed(**changes):
    return lambda asked: embedded(asked, **changes)


def with_vectors(*vectors):
    return lambda asked: embedded(asked, data=[{"index": row, "embedding": one} for row, one in enumerate(vectors)])


def b64(*numbers: float) -> str:
    return base64.b64encode(array("f", numbers).tobytes()).decode()


BROKEN = {
    "html": (lambda asked: (200, {"Content-Type": "text/html"}, "<html>Sign in</html>"), "not a list of embeddings"),
    "truncated": (lambda asked: (200, {}, '{"object": "list", "data": [{"embedd'), "not a list of embeddings"),
    "chat": (lambda asked: completion("hello"), "no list `data`"),
    "data": (changed(data="vectors"), "no list `data`"),
    "too few": (with_vectors([1.0]), "1 vectors for 2 texts"),
    "too many": (with_vectors([1.0], [1.0], [1.0]), "3 vectors for 2 texts"),
    "none": (with_vectors(None, None), "no list of numbers"),
    "words": (with_vectors(["a"], ["b"]), "no list of numbers"),
    "nested": (with_vectors([[1.0]], [[1.0]]), "no list of numbers"),
    "not base64": (with_vectors("?!", "?!"), "not a list of embeddings"),
    "half a number": (with_vectors(base64.b64encode(b"abc").decode(), "AAAA"), "not a list of embeddings"),
    "nan": (with_vectors(b64(1, float("nan")), b64(1, 2)), "holds NaN"),
    "nan as json": (lambda asked: (200, {}, '{"data": [{"embedding": [NaN]}, {"embedding": [1.0]}]}'), "NaN"),
    "too large": (with_vectors([1e300, 1.0], [1.0, 1.0]), "infinite"),
    "zeros": (with_vectors([0.0, 0.0], [1.0, 1.0]), "of zeros"),
    "empty": (with_vectors([], []), "an empty vector"),
    "ragged": (with_vectors([1.0], [1.0, 2.0]), "inhomogeneous"),
    "indices": (changed(data=[{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]), "has the index 1"),
    "400": (lambda asked: error(400, "too many inputs"), "HTTP 400.*too many inputs.*batch_size="),
}


@pytest.mark.parametrize(("answer", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_answer_is_said_and_nothing_of_it_is_kept(answer, said, serve, make, tmp_path):
    one = make(serve(answer), record=tmp_path / "v.sqlite")
    with pytest.raises(EngineError, match=said):
        one.encode(["a", "b"])
    assert len(Recording(tmp_path / "v.sqlite")) == 0


@pytest.mark.parametrize("known", [True, False], ids=["asked for", "learned"])
def test_another_dimension_is_refused_and_not_kept(known, serve, make, tmp_path):
    server = serve(lambda asked: embedded(asked, dimension=8 if "b" in asked["input"] else DIMENSION))
    one = make(server, record=tmp_path / "v.sqlite", **({"dimensions": DIMENSION} if known else {}))
    one.encode(["a"])
    with pytest.raises(EngineError, match=rf"8 dimensions.*{DIMENSION}"):
        one.encode(["b"])
    assert len(Recording(tmp_path / "v.sqlite")) == 1


@pytest.mark.parametrize(
    ("spec", "options", "said"),
    [
        ("openai:", {}, "openai:text-embedding-3-small"),
        ("openai:m@ftp://host", {}, "begins with http"),
        ("openai:m", {"size": 3}, "no setting 'size'.*dimensions, max_tokens"),
        ("openai:m[batch_size=0]", {}, "batch_size=0"),
        ("openai:m", {"dimensions": True}, "dimensions=True"),
        ("openai:m", {"max_tokens": 0}, "max_tokens=0"),
        ("openai:m", {"concurrency": 1.5}, "concurrency=1.5"),
        ("openai:m", {"instruction": "Query:"}, r"does not hold \{query\}"),
        ("openai:m", {"record": "a", "replay": "b"}, "give one of them"),
        ("openai:m", {"max_money": 1}, "max_money needs the price of 'm'"),
    ],
)
def test_a_mistaken_setting_is_said(spec, options, said):
    with pytest.raises(SettingError, match=said):
        encoder(spec, **options)


# -- recorded, replayed, metered, limited -----------------------------------------------------------------------------


def test_a_replay_gives_the_same_bits_and_costs_without_a_server_or_a_key(serve, make, tmp_path):
    server, file = serve(embedded), tmp_path / "v.sqlite"
    live = make(server, record=file, batch_size=2)
    recorded, query = live.encode(TEXTS), live.encode_query("Which lake?", "facts")
    server.stop()
    replay = encoder("openai:m", replay=file, batch_size=2)
    assert np.array_equal(replay.encode(TEXTS), recorded) and np.array_equal(replay.encode_query("Which lake?"), query)
    assert replay.name == live.name and replay.meter.total == live.meter.total
    assert (live.meter.total.recorded, replay.meter.total.recorded) == (0, 4)
    with pytest.raises(RecordingMiss, match=r"no answer to this 'embedding' call.*recorded"):
        replay.encode(["never asked"])
    with pytest.raises(RecordingMiss, match="dimensions None, asked 8"):
        encoder("openai:m", replay=file, dimensions=8).encode(["Lake Mira"])


def test_what_was_paid_for_is_kept_in_the_working_folder(serve, make):
    server = serve(embedded)
    first = make(server)
    vectors, query = first.encode(TEXTS), first.encode_query("Which lake?", "facts")
    server.seen.clear()
    second = make(server, timeout=9)
    assert second.dimension == DIMENSION and np.array_equal(second.encode(TEXTS), vectors)
    assert np.array_equal(second.encode_query("Which lake?"), query) and not server.seen and not second.live
    second.encode([*TEXTS[:2], "new"]), second.encode(["newer"])
    assert inputs(server) == [[TEXTS[0]], ["new"], ["newer"]], "the first is compared with what is kept, once"
    with pytest.raises(IndexFault, match="'openai:m' computes another vector for a text than the working folder holds"):
        make(serve(exchanged)).encode([TEXTS[0], "newest"])


def test_tokens_and_money_are_counted_and_an_unknown_price_is_unknown(serve, make):
    server = serve(lambda asked: embedded(asked, dimension=1536))
    one = make(server, "text-embedding-3-small")
    with collect() as outer:
        one.encode(["a b", "c d e"])
    total = one.meter.total
    assert (total.calls, total.prompt_tokens, total.completion_tokens) == (1, 5, 0)
    assert total.money == pytest.approx(5 * 0.02 / 1e6) and list(one.meter.steps) == ["embedding"]
    assert not outer.steps, "rows share vectors, so no row has their cost"
    unknown = make(serve(embedded), "no-such-model")
    unknown.encode(["a"])
    assert unknown.meter.total.money is None and "price unknown" in repr(unknown)


def test_a_budget_stops_before_the_next_request_and_does_not_count_what_is_recorded(serve, make, tmp_path):
    server, file = serve(embedded), tmp_path / "v.sqlite"
    one = make(server, record=file, max_calls=2, batch_size=1, concurrency=1)
    with pytest.raises(BudgetSpent, match=r"max_calls=2 is used up.*What is done is kept"):
        one.encode(list("abcd"))
    assert len(server.seen) == 2
    assert np.allclose(one.encode(["b", "a"]), [unit("b"), unit("a")], atol=1e-6)
    more = make(server, record=file, max_calls=3, batch_size=1, concurrency=1)
    more.encode(list("abcd"))
    assert inputs(server) == [["a"], ["b"], ["c"], ["d"]]


# -- in an index ------------------------------------------------------------------------------------------------------


def test_an_index_is_built_opened_and_asked_and_its_replay_has_the_same_bytes(serve, make, tmp_path, monkeypatch):
    server, file = serve(embedded), tmp_path / "v.sqlite"
    index = Index.build(tiny_dataset(), None, tmp_path / "live", encoder=make(server, record=file), progress=False)
    assert np.allclose(index.passages.vectors[1], unit(index.passages.passages[1].content), atol=1e-6)
    query = Index.open(tmp_path / "live", make(server, record=file)).encode_query("Which lake?", "facts")
    server.stop()
    replayed = encoder("openai:m", replay=file)
    Index.build(tiny_dataset(), None, tmp_path / "again", encoder=replayed, progress=False)
    assert files_of(tmp_path / "again") == files_of(tmp_path / "live")
    manifest = (tmp_path / "live" / "manifest.json").read_text()
    assert json.loads(manifest)["encoder"] == {"name": "openai:m", "settings": {"spec": "openai:m"}}
    assert server.host not in manifest
    assert np.array_equal(Index.open(tmp_path / "again", replayed).encode_query("Which lake?", "facts"), query)
    with pytest.raises(EngineRefused, match="no key"):
        Index.open(tmp_path / "live").encode_query("Which lake?")
    monkeypatch.setenv("OPENAI_BASE_URL", serve(embedded).url)
    assert np.array_equal(Index.open(tmp_path / "live").encode_query("Which lake?"), query), "as the manifest names it"


def test_a_build_that_breaks_off_goes_on_at_the_block(serve, make, tmp_path):
    fails = threading.Event()
    server = serve(lambda asked: error(400, "no more") if fails.is_set() and "Fog" in str(asked) else embedded(asked))
    one = make(server)
    one.block_characters = 60
    fails.set()
    with pytest.raises(EngineError, match="no more"):
        Index.build(tiny_dataset(), None, tmp_path / "index", encoder=one, progress=False)
    fails.clear()
    done = [text for batch in inputs(server) for text in batch][:-1]
    server.seen.clear()
    Index.build(tiny_dataset(), None, tmp_path / "index", encoder=one, progress=False)
    again = [text for batch in inputs(server) for text in batch]
    assert len(done) > 2 and len(set(done) & set(again)) <= 2, "at most the block that was on its way"
    whole = make(server, concurrency=2)
    whole.block_characters = 60
    Index.build(tiny_dataset(), None, tmp_path / "whole", encoder=whole, progress=False)
    assert files_of(tmp_path / "index") == files_of(tmp_path / "whole")


def exchanged(asked):
    """An answer with the vectors of another model, under the same name and as long."""
    return embedded({**asked, "input": [text[::-1] for text in asked["input"]]})


def test_an_endpoint_that_serves_another_model_by_now_is_noticed_at_a_question(serve, make, tmp_path):
    """With a recording as well, which holds the passage that is compared."""
    first, other = serve(embedded), serve(exchanged)
    Index.build(tiny_dataset(), None, tmp_path / "index", encoder=make(first, record=tmp_path / "r"), progress=False)
    for given in ({}, {"record": tmp_path / "r"}):
        opened = Index.open(tmp_path / "index", make(other, **given))
        with pytest.raises(IndexFault, match="'openai:m' computes another vector for a text than the index holds"):
            opened.encode_query("Which lake?")
        with pytest.raises(IndexFault, match="two models have the same name"):
            opened.encode(["Which lake?"])


def test_that_costs_a_request_for_an_opened_index_and_none_where_a_recording_answers(serve, make, tmp_path):
    server = serve(embedded)
    Index.build(tiny_dataset(), None, tmp_path / "index", encoder=make(server, record=tmp_path / "r"), progress=False)
    server.seen.clear()
    opened = Index.open(tmp_path / "index", make(server, record=tmp_path / "r", timeout=9))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(opened.encode_query, ["Which lake?", "Which town?", "Which river?", "Who founded Orsby?"]))
    shortest = min((one.content for one in tiny_dataset().passages), key=len)
    assert sorted(map(len, inputs(server))) == [1] * 5 and inputs(server).count([shortest]) == 1
    server.seen.clear()
    Index.open(tmp_path / "index", make(server, record=tmp_path / "r", timeout=8)).encode_query("Which lake?")
    Index.open(tmp_path / "index", encoder(f"openai:m[replay={tmp_path / 'r'}]")).encode_query("Which town?")
    assert not server.seen
