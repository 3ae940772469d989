"""Checkpoints in the published form: loaded exactly, and refused where they are not what they say."""

import json
import pickle

import numpy as np
import pytest
import torch

from workbench.errors import DataError
from workbench.methods.gfm_rag import checkpoint, hub
from workbench.methods.gfm_rag.hub import Trained
from workbench.methods.gfm_rag.network import Edges, Network, Shape

SMALL = Shape(12, 8, 2)


def published(folder, shape=SMALL, form="1.0", seed=0, **others):
    """A folder as its authors write one: seeded numbers, the optimiser's state beside the model's."""
    rng = np.random.default_rng(seed)
    with torch.device("meta"):
        shapes = {name: tuple(value.shape) for name, value in Network(shape).state_dict().items()}
    state = {
        name: torch.from_numpy((rng.standard_normal(size) / np.sqrt(size[-1])).astype(np.float32))
        for name, size in shapes.items()
    }
    entity = {
        "class": "gfmrag.models.QueryNBFNet", "input_dim": shape.width, "hidden_dims": [shape.width] * shape.layers,
        "message_func": "distmult", "aggregate_func": "sum", "short_cut": True, "layer_norm": True,
    }  # fmt: skip
    model = {"class": "gfmrag.models.GNNRetriever", "entity_model": entity}
    model["rel_emb_dim" if form == "1.0" else "feat_dim"] = shape.text
    encoder = {"text_emb_model_name": "sentence-transformers/all-mpnet-base-v2", "normalize": False, "batch_size": 32}
    folder.mkdir(parents=True, exist_ok=True)
    config = {"text_emb_model_config": encoder, "model_config": model}
    (folder / "config.json").write_text(json.dumps(config))
    torch.save({"model": state, "optimizer": {"state": {}, "param_groups": []}, **others}, folder / "model.pth")
    return {name: value.double().numpy() for name, value in state.items()}


def independently(own, question, start, relations, triples, layers) -> np.ndarray:
    """Section 3.2 of the paper in numpy, edge by edge, from a state dict."""

    def linear(name, value):
        return value @ own[f"{name}.weight"].T + own[f"{name}.bias"]

    query, vectors = linear("question_mlp", question), linear("rel_mlp", relations)
    states = boundary = start[:, None] * query
    for at in range(layers):
        name = f"entity_model.layers.{at}"
        projected = linear(
            f"{name}.relation_projection.2", np.maximum(linear(f"{name}.relation_projection.0", vectors), 0)
        )
        message = boundary.copy()
        for head, relation, tail in triples:
            message[tail] += states[head] * projected[relation]
            message[head] += states[tail] * projected[relation + len(relations) // 2]
        new = linear(f"{name}.linear", np.concatenate([states, message], axis=1))
        new = (new - new.mean(1, keepdims=True)) / np.sqrt(new.var(1, keepdims=True) + 1e-5)
        states = states + np.maximum(new * own[f"{name}.layer_norm.weight"] + own[f"{name}.layer_norm.bias"], 0)
    both = np.concatenate([states, np.broadcast_to(query, states.shape)], axis=1)
    return linear("entity_model.mlp.2", np.maximum(linear("entity_model.mlp.0", both), 0))[:, 0]


@pytest.mark.parametrize("form", ["1.0", "2.x"])
@pytest.mark.parametrize("shape", [SMALL, Shape(768, 512, 6)], ids=["small", "published"])
def test_a_published_checkpoint_gives_the_scores_of_an_independent_implementation(tmp_path, shape, form):
    own = published(tmp_path, shape, form)
    loaded = checkpoint.read(tmp_path)
    assert loaded.network.shape == shape and loaded.encoder == "sentence-transformers/all-mpnet-base-v2"
    rng = np.random.default_rng(1)
    triples = np.array([[0, 0, 1], [1, 1, 2], [3, 0, 2], [2, 2, 4], [4, 4 - 2, 4]])
    question, relations = rng.standard_normal(shape.text), rng.standard_normal((6, shape.text)) / np.sqrt(shape.text)
    start = np.array([0.5, 0, 0, 1, 0, 0])
    expected = independently(own, question, start, relations, triples, shape.layers)
    edges = Edges.of(triples[:, 0], triples[:, 1], triples[:, 2], 6, 3)
    with torch.no_grad():
        found = loaded.network(
            torch.from_numpy(question[None]).float(), torch.from_numpy(start[:, None]).float(),
            torch.from_numpy(relations).float(), edges,
        )[:, 0].numpy()  # fmt: skip
    assert np.abs(found - expected).max() < 1e-4 * max(1, np.abs(expected).max())


def test_what_is_written_is_read_back_and_known_by_its_weights(tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        checkpoint.write(tmp_path / name, checkpoint.untrained(SMALL, seed).network, "minilm", training={"seed": seed})
    read = [checkpoint.read(tmp_path / name, name) for name in "abc"]
    assert read[0].sha256 == read[1].sha256 != read[2].sha256
    assert read[2].name == "c" and read[2].encoder == "minilm" and read[2].config["training"] == {"seed": 1}
    made = checkpoint.untrained(SMALL, 1).network.state_dict()
    assert all(torch.equal(value, made[name]) for name, value in read[2].network.state_dict().items())
    assert "2 layers of 8" in repr(read[2])


class Code:
    """What a hostile pickle does when it is loaded."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return (open, (str(self.marker), "w"))


def saved(folder, state):
    torch.save(state, folder / "model.pth")


def changed(name, value):
    """A file of the published tensors of which one is another, or gone."""

    def change(folder):
        state = torch.load(folder / "model.pth", weights_only=True)["model"]
        kept = {**state, name: value} if value is not None else {k: v for k, v in state.items() if k != name}
        saved(folder, {"model": kept})

    return change


def configured(text):
    return lambda folder: (folder / "config.json").write_text(text)


def halved(folder):
    whole = (folder / "model.pth").read_bytes()
    (folder / "model.pth").write_bytes(whole[: len(whole) // 2])


MODEL = '{"model_config": {"rel_emb_dim": 12, "entity_model": {"input_dim": %s, "hidden_dims": %s}}}'


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (changed("rel_mlp.bias", None), r"lacks rel_mlp\.bias"),
        (changed("rel_mlp.extra", torch.zeros(2)), r"has rel_mlp\.extra, which a network of 2 layers"),
        (changed("rel_mlp.weight", torch.zeros(8, 13)), r"rel_mlp\.weight has the shape \(8, 13\).*\(8, 12\)"),
        (changed("rel_mlp.bias", torch.full((8,), float("nan"))), "NaN or infinite"),
        (changed("rel_mlp.bias", torch.zeros(8, dtype=torch.int64)), "not a dense tensor of floats"),
        (changed("rel_mlp.bias", "text"), "not a dense tensor of floats"),
        (lambda folder: saved(folder, {"state": {}}), "no state dict under the key 'model'"),
        (lambda folder: (folder / "model.pth").unlink(), "is missing"),
        (lambda folder: (folder / "model.pth").write_bytes(b"hello"), r"model\.pth"),
        (halved, r"model\.pth"),
        (lambda folder: saved(folder, {"model": {}, "more": Code(folder / "ran")}), "which could run code"),
        (lambda folder: (folder / "model.pth").write_bytes(pickle.dumps(Code(folder / "ran"))), r"model\.pth"),
        (configured("no json"), "not JSON"),
        (configured("[1]"), "a JSON object is expected"),
        (configured('{"model_config": 3}'), r"no model_config\.entity_model"),
        (configured(MODEL.replace('"rel_emb_dim": 12, ', "") % (8, "[8]")), "is None"),
        (configured(MODEL % (-1, "[8]")), "whole numbers"),
        (configured(MODEL % (8, "[8, 9]")), "hidden_dims"),
        (configured(MODEL % (8, '[8], "message_func": "rotate"')), "message_func is 'rotate'"),
    ],
)
def test_what_is_no_checkpoint_is_refused_and_no_code_is_run(tmp_path, damage, said):
    published(tmp_path)
    damage(tmp_path)
    with pytest.raises(DataError, match=said):
        checkpoint.read(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_a_write_that_is_killed_leaves_the_old_file(tmp_path, monkeypatch):
    checkpoint.write(tmp_path, checkpoint.untrained(SMALL, 0).network, "minilm")
    before = checkpoint.read(tmp_path).sha256

    def killed(value, file):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.write(tmp_path, checkpoint.untrained(SMALL, 1).network, "minilm")
    monkeypatch.undo()
    assert checkpoint.read(tmp_path).sha256 == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["config.json", "model.pth"]


def test_the_bundled_checkpoint_is_small_and_what_its_card_says():
    folder = hub.locate("mini")
    loaded, card = checkpoint.read(folder, "mini"), (folder / "README.md").read_text(encoding="utf-8")
    assert sum(file.stat().st_size for file in folder.iterdir()) < 8 << 20
    assert f"`{loaded.sha256}`" in card and f"{loaded.network.parameters_in_all:,} parameters" in card
    assert loaded.encoder == "minilm" and str(loaded.network.shape) in card
    course = Trained.open(folder)
    assert course.parameters == loaded.network.parameters_in_all
    settings = loaded.config["training"]["settings"]
    for stage, checks in course.stages.items():
        assert checks[-1].step == settings[stage] and f"{settings[stage]:,}" in card
