"""Sentence-transformers models of any kind: what is known of some, instructions, pooling, devices, and no download.

The models are tiny transformers with random weights, in the files that a hub would give."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, processors
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from workbench.encoding import SentenceEncoder, cached, encoder, models
from workbench.errors import SettingError

WORDS = [
    "orsby",
    "lies",
    "on",
    "the",
    "river",
    "aldra",
    "which",
    "lake",
    "query",
    "passage",
    "instruct",
    ":",
    "given",
    "a",
]
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
TEXTS = ["orsby", "the river aldra", "orsby lies on the river aldra", "which lake", "the the the the the the lake"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> str:
    """The folder of a transformer that knows nothing of sentences, as Contriever's is."""
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "plain"
    tokenizer = Tokenizer(WordLevel({word: row for row, word in enumerate(MARKS + WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    marks = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), MARKS))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=32, **marks).save_pretrained(folder)
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(MARKS + WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=32,
    )  # fmt: skip
    BertModel(config).eval().save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def states(plain):
    """`states(text)` are the last hidden states of the model for one text, shape (tokens, 16)."""
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(plain).eval(), AutoTokenizer.from_pretrained(plain)

    def states(text: str) -> np.ndarray:
        with torch.inference_mode():
            return model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].numpy()

    return states


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


# -- pooling ----------------------------------------------------------------------------------------------------------

POOLED = {
    None: lambda found: found.mean(axis=0),
    "mean": lambda found: found.mean(axis=0),
    "cls": lambda found: found[0],
    "lasttoken": lambda found: found[-1],
    "max": lambda found: found.max(axis=0),
}


@pytest.mark.parametrize("pooling", POOLED)
def test_a_plain_transformer_is_pooled_as_is_said_and_by_the_mean_otherwise(pooling, plain, states):
    found = SentenceEncoder(plain, pooling=pooling, max_tokens=32).encode(TEXTS)
    assert found.shape == (5, 16) and found.dtype == np.float32
    assert np.allclose(found, [unit(POOLED[pooling](states(text))) for text in TEXTS], atol=1e-5)


# -- what is known ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("minilm", "minilm[max_tokens=256]"),
        ("facebook/contriever", "facebook/contriever[max_tokens=512,pooling=mean]"),
        ("sentence-transformers/gtr-t5-base", "sentence-transformers/gtr-t5-base[max_tokens=512]"),
        ("sentence-transformers/all-mpnet-base-v2", "sentence-transformers/all-mpnet-base-v2[max_tokens=384]"),
        ("someone/else", "someone/else[max_tokens=256]"),
    ],
)
def test_what_is_known_of_a_model_is_used_and_said(model, name):
    assert encoder(model).name == name
    assert encoder(**encoder(model).settings).name == name, "as an index opens it"


@pytest.mark.parametrize("model", [name for name in models.KNOWN if not name.startswith("openai:")])
def test_the_settings_of_every_known_model_make_it_again(model):
    one = encoder(model)
    assert encoder(**one.settings).name == one.name
    bare = encoder(model, instruction=None, passage=None, max_tokens=100)
    again = encoder(**bare.settings)
    assert (again.instruction, again.passage, again.max_tokens, again.name) == (None, None, 100, bare.name)


def test_an_instructed_model_says_what_is_searched():
    nv = encoder("nvidia/NV-Embed-v2")
    asked = {task: models.instructed(nv.instruction, "Who?", task) for task in ("facts", "passages", "phrases")}
    assert len(set(asked.values())) == 3
    assert all(text.startswith("Instruct: Given a ") and text.endswith("\nQuery: Who?</s>") for text in asked.values())
    assert models.instructed(nv.instruction, "Who?", "") == asked["passages"]
    assert models.instructed(models.INSTRUCT, "Who?", "find ponds") == "Instruct: find ponds\nQuery: Who?"
    assert encoder("facebook/contriever").as_query("Who?", "facts") == "Who?"


# -- instructions -----------------------------------------------------------------------------------------------------


def test_a_style_a_template_and_a_template_per_task(plain, states):
    style = encoder(f"{plain}[instruction=e5,max_tokens=32]")
    query, text = (unit(states(f"{before}which lake").mean(axis=0)) for before in ("query: ", ""))
    assert np.allclose(style.encode_query("which lake", "facts"), query, atol=1e-5)
    assert np.allclose(style.encode(["which lake"])[0], text, atol=1e-5)
    own = encoder(plain, max_tokens=32, instruction={"facts": "given {query}", "phrases": "a {query}"})
    assert [own.as_query("lake", task) for task in ("facts", "phrases", "passages")] == ["given lake", "a lake", "lake"]
    assert encoder(**own.settings).name == own.name != style.name
    assert own.settings["instruction"] == [["facts", "given {query}"], ["phrases", "a {query}"]]


def test_passages_may_have_a_prefix_which_questions_do_not_get(plain, states):
    one = SentenceEncoder(plain, instruction="e5", passage="e5", max_tokens=32)
    passage, query = (unit(states(f"{kind}: lake").mean(axis=0)) for kind in ("passage", "query"))
    assert one.as_query("lake") is None
    for asked in (one, cached(one)):
        assert np.allclose(asked.encode(["lake"])[0], passage, atol=1e-5)
        assert np.allclose(asked.encode_query("lake", "facts"), query, atol=1e-5)
    assert one.name.endswith("'query: {query}' 'passage: {passage}'")
    assert encoder(**one.settings).passage == "passage: {passage}"


def test_a_model_that_pools_without_its_instruction_gets_the_library_s_vectors(plain, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    transformer = SentenceTransformer(plain)[0]
    SentenceTransformer(modules=[transformer, Pooling(16, "mean", include_prompt=False)]).save(str(tmp_path / "apart"))
    library = SentenceTransformer(str(tmp_path / "apart"))
    one = SentenceEncoder(str(tmp_path / "apart"), instruction="given a query : {query}", max_tokens=32)
    expected = library.encode(["which lake"], prompt="given a query : ", normalize_embeddings=True)[0]
    included = SentenceEncoder(plain, instruction="given a query : {query}", max_tokens=32).encode_query("which lake")
    for asked in (one, cached(one)):
        assert np.allclose(asked.encode_query("which lake", "facts"), expected, atol=1e-5)
    assert not np.allclose(included, expected, atol=1e-3)
    assert np.allclose(one.encode(["which lake"]), library.encode(["which lake"], normalize_embeddings=True), atol=1e-5)


# -- devices ----------------------------------------------------------------------------------------------------------


def test_a_gpu_that_is_not_there_is_said(plain, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SettingError, match=r"device='cuda' is not available: torch .* finds no GPU; use device=cpu"):
        encoder(f"{plain}[device=cuda]").encode(["orsby"])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(SettingError, match=r"'cuda:2' is not available: .* finds 2 GPUs"):
        models.device_here("cuda:2")
    assert [models.device_here(one) for one in ("cpu", "cuda", "cuda:1", "auto")] == ["cpu", "cuda", "cuda:1", "cuda"]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert models.device_here("auto") == "cpu"


# -- downloads --------------------------------------------------------------------------------------------------------


@pytest.fixture
def hub(monkeypatch):
    """A hub that holds nothing; what is asked of the library is noted."""
    asked = []

    class Fake:
        def __init__(self, source, **given):
            asked.append({"source": source, **given})
            raise OSError("not in the cache" if given["local_files_only"] else "no such model")

    monkeypatch.setattr("sentence_transformers.SentenceTransformer", Fake)
    monkeypatch.setattr(models, "on_this_machine", lambda model: False)
    monkeypatch.delenv("HOPSCOPE_OFFLINE", raising=False)
    return asked


@pytest.mark.parametrize("how", ["setting", "environment"])
def test_nothing_is_downloaded_offline(how, hub, monkeypatch, recwarn):
    monkeypatch.setenv("HOPSCOPE_OFFLINE", "1" if how == "environment" else "0")
    one = SentenceEncoder("facebook/contriever", offline=True if how == "setting" else None)
    with pytest.raises(SettingError, match=r"'facebook/contriever' .* loaded: not in the cache\. Give its folder"):
        one.encode(["x"])
    assert [one["local_files_only"] for one in hub] == [True]
    assert not [one for one in recwarn if "downloaded" in str(one.message)]


def test_a_folder_and_what_is_here_ask_no_hub(plain, hub, monkeypatch):
    monkeypatch.setattr(models, "on_this_machine", lambda model: model == "facebook/contriever")
    for model in (plain, "facebook/contriever"):
        with pytest.raises(SettingError):
            SentenceEncoder(model).encode(["x"])
    assert [one["local_files_only"] for one in hub] == [True, True]


def test_code_of_a_model_runs_only_where_it_is_allowed_and_never_because_an_index_says_so(hub, monkeypatch):
    class Coded:
        def __init__(self, source, **given):
            hub.append(given)
            if not given["trust_remote_code"]:
                raise ValueError("Please pass the argument `trust_remote_code=True` to allow custom code to be run.")
            raise ImportError("einops")

    monkeypatch.setattr("sentence_transformers.SentenceTransformer", Coded)
    with pytest.warns(UserWarning), pytest.raises(SettingError, match=r"say nvidia/NV-Embed-v2\[remote_code=true\]"):
        encoder("nvidia/NV-Embed-v2").encode(["x"])
    trusted = encoder("nvidia/NV-Embed-v2[remote_code=true]")
    with pytest.warns(UserWarning), pytest.raises(SettingError, match=r"einops.*use openai:nvidia/NV-Embed-v2@URL"):
        trusted.encode(["x"])
    assert trusted.name == encoder("nvidia/NV-Embed-v2").name and "remote_code" not in trusted.settings
