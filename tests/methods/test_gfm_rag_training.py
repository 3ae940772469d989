"""Samples, losses and training of GFM-RAG: what is trained on, that it learns, repeats and goes on after a kill."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import workbench as wb
from workbench.cli.app import app
from workbench.errors import DataError, SettingError
from workbench.evaluation.identity import of_method
from workbench.index import Index
from workbench.llm.engine import RulesEngine
from workbench.methods.gfm_rag import checkpoint, network, training
from workbench.methods.gfm_rag.hub import Trained
from workbench.methods.gfm_rag.samples import KINDS, supported, synthetic
from workbench.methods.gfm_rag.training import Source, train
from workbench.records import Question
from workbench.testing import small_index

FEW = {
    "width": 16, "layers": 2, "completion": 2, "made": 6, "supported": 4, "batch": 4, "samples": 60, "check": 2,
    "progress": False,
}  # fmt: skip


def questions() -> tuple[Question, ...]:
    index = small_index()
    return tuple(
        one for one in wb.load("meridian").questions if one.support and set(one.support) <= set(index.passages.row)
    )


# -- samples -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_made_questions_are_about_phrases_of_the_graph(kind):
    index, context = small_index(), small_index().graph.context
    made = synthetic(index, kind, 80, seed=1)
    assert len(made) > 10 and made == synthetic(index, kind, 80, seed=1) != synthetic(index, kind, 80, seed=2)
    of = [set(context.indices[a:b].tolist()) for a, b in zip(context.indptr, context.indptr[1:])]
    for one in made:
        assert one.text and one.starts and one.positives
        assert {*one.starts, *one.positives} <= set(range(len(index.facts.phrases)))
        if kind == "path":  # it names its start alone
            (start,) = one.starts
            assert index.facts.phrases[start] in one.text and start in one.positives and 2 <= len(one.positives) <= 4
        if kind == "bridge":  # of two passages
            assert any(of[a] | of[b] == set(one.positives) for a in range(len(of)) for b in range(a))


def test_questions_with_support_are_taken_or_counted():
    asked = questions()
    unknown = Question("x", "Who wrote it?", support=("nowhere",))
    without = Question("y", "???", support=(asked[0].support[0],))
    samples, skipped = supported(small_index(), [*asked, unknown, without], RulesEngine())
    assert len(samples) + skipped == len(asked) + 2 and skipped >= 2
    index, context = small_index(), small_index().graph.context
    by_text = {one.question: one for one in asked}
    for one in samples:
        rows = [index.passages.row[name] for name in by_text[one.text].support]
        gold = {int(e) for row in rows for e in context.indices[context.indptr[row] : context.indptr[row + 1]]}
        assert set(one.positives) == gold


# -- losses ------------------------------------------------------------------------------------------------------------


def test_the_losses_are_those_worked_out_by_hand():
    logits, positive = torch.tensor([[0.0], [2.0], [-1.0]]), torch.tensor([[1.0], [0.0], [0.0]])
    weights = np.exp(np.array([2.0, -1.0]) / 0.2)
    weights /= weights.sum()
    terms = np.array([np.log(2), np.log1p(np.exp(2.0)), np.log1p(np.exp(-1.0))])
    expected = (terms[0] + (weights * terms[1:]).sum()) / 2
    assert float(network.balanced_bce(logits, positive, 0.2)) == pytest.approx(expected, rel=1e-5)
    shares = 1 / (1 + np.exp(-np.array([0.0, 2.0, -1.0])))
    listed = -np.log(shares[0] / (shares.sum() + 1e-5) + 1e-5)
    assert float(network.list_loss(logits, positive)) == pytest.approx(listed, rel=1e-5)
    assert float(network.retrieval_loss(logits, positive)) == pytest.approx(0.3 * expected + 0.7 * listed, rel=1e-5)
    counted, some = torch.tensor([[1.0], [0.0], [1.0]]), [0, 2]  # what is not counted is no negative
    without = network.balanced_bce(logits[some], positive[some], 1.0)
    assert float(network.balanced_bce(logits, positive, 1.0, counted)) == pytest.approx(float(without))


# -- training ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Trained:
    return train([Source(small_index(), questions())], tmp_path_factory.mktemp("trained") / "one", **FEW)


def test_a_killed_training_goes_on_to_the_same_weights_and_is_not_trained_again(trained, tmp_path, monkeypatch):
    sources, out = [Source(small_index(), questions())], tmp_path / "killed"
    calls, clip = [], torch.nn.utils.clip_grad_norm_
    for kill_at in (5, 4, 3):  # in different stages
        calls.clear()

        def killed(*given, kill_at=kill_at):
            calls.append(1)
            if len(calls) == kill_at:
                raise KeyboardInterrupt
            return clip(*given)

        monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", killed)
        with pytest.raises(KeyboardInterrupt):
            train(sources, out, **FEW)
        assert (out / training.STATE).exists() and not (out / checkpoint.WEIGHTS).exists()
    monkeypatch.undo()
    done = train(sources, out, **FEW)
    assert done.history == trained.history and not (out / training.STATE).exists()
    assert checkpoint.read(out).sha256 == checkpoint.read(trained.folder).sha256
    monkeypatch.setattr(training, "_stage", lambda *_: pytest.fail("a step was trained again"))
    again = train(sources, out, **FEW)
    assert (again.history, again.parameters, again.skipped) == (trained.history, trained.parameters, trained.skipped)


def test_another_seed_gives_other_weights_which_can_be_asked(trained, tmp_path):
    other = train([Source(small_index(), questions())], tmp_path / "other", **FEW, seed=7)
    assert checkpoint.read(other.folder).sha256 != checkpoint.read(trained.folder).sha256
    asked = wb.method(f"gfm_rag[checkpoint={trained.folder}]", Index.open(small_index().folder))
    assert asked.retrieve("Who designed the bridge over the river at Vennick?", k=3).passages


def test_a_damaged_state_and_another_training_are_refused(trained, tmp_path, monkeypatch):
    source, out = [Source(small_index())], tmp_path / "out"
    out.mkdir()
    (out / training.STATE).write_bytes(b"damaged")
    with pytest.raises(DataError, match=r"is damaged.*delete it"):
        train(source, out, **FEW)
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda *_: 1 / 0)
    (out / training.STATE).unlink()
    checkpoint.save(out / training.STATE, {"key": "another", "history": []})
    with pytest.raises(SettingError, match="stopped training on other data"):
        train(source, out, **FEW)
    with pytest.raises(SettingError, match="holds another checkpoint"):
        train(source, trained.folder, **FEW)


def test_what_cannot_be_trained_is_refused(tmp_path):
    with pytest.raises(SettingError, match="no index was given to train on"):
        train([], tmp_path / "out")
    with pytest.raises(SettingError, match="device='tpu' is unknown"):
        train([small_index()], tmp_path / "out", **FEW, device="tpu")
    with pytest.raises(SettingError, match="kinds='song' is unknown"):
        train([small_index()], tmp_path / "out", kinds=("song",))
    with pytest.raises(DataError, match="nothing to train on"):
        train([small_index()], tmp_path / "none", **{**FEW, "completion": 0, "made": 0})


def test_the_course_is_kept_beside_the_checkpoint(trained):
    opened = Trained.open(trained.folder)
    assert opened.history == trained.history and opened.parameters == trained.parameters
    assert [(one.stage, one.step) for one in opened.history] == [
        ("completion", 0), ("completion", 2), ("made", 0), ("made", 2), ("made", 4), ("made", 6),
        ("supported", 0), ("supported", 2), ("supported", 4),
    ]  # fmt: skip
    assert opened.picture._repr_png_().startswith(b"\x89PNG")
    assert re.search(r"made +6 ", repr(opened)) and "<table" in opened._repr_html_()
    config = json.loads((trained.folder / "config.json").read_text())
    assert config["training"]["settings"]["seed"] == 1024
    with pytest.raises(DataError, match="only a checkpoint made by"):
        Trained.open(trained.folder.parent)


def test_other_weights_under_the_same_name_are_another_method(trained, tmp_path):
    folder = tmp_path / "mine"

    def key(seed: int, spec: str) -> str:
        checkpoint.write(folder, checkpoint.untrained(training.Shape(256, 8, 2), seed).network, "hash")
        return of_method(wb.method(spec.format(folder), small_index())).key

    for spec in ("gfm_rag[checkpoint={}]", "bdtr[backbone=gfm_rag[checkpoint={}]]"):
        assert key(0, spec) == key(0, spec) != key(1, spec)
    described = of_method(wb.method("dense", small_index())).description
    assert "weights" not in described, "keys of methods without weights stay as they are"


def test_the_command_line_trains(trained, tmp_path):
    few = [f"--set={name}={value}" for name, value in FEW.items() if name != "progress"]
    asked = [str(Path(wb.load("meridian").folder) / "questions.jsonl")]
    command = ["train", "gfm", str(small_index().folder), "--out", str(tmp_path / "mine"), "-q", *asked, *few]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["parameters"] == trained.parameters and set(said["stages"]) == {"completion", "made", "supported"}
    assert checkpoint.read(tmp_path / "mine").sha256 == checkpoint.read(trained.folder).sha256, "as the function does"
    assert (tmp_path / "mine" / "training.png").exists()
    kinds = CliRunner().invoke(app, ["train", "gfm", str(small_index().folder), "-o", str(tmp_path), "--set=kinds=a+b"])
    assert kinds.exit_code == 1 and "kinds='a' is unknown" in " ".join(kinds.output.split())
    other = CliRunner().invoke(app, ["train", "bert", str(small_index().folder), "-o", str(tmp_path)])
    assert other.exit_code == 1 and "choose gfm" in " ".join(other.output.split())


@pytest.mark.slow
def test_training_makes_it_five_times_as_good_as_no_training(tmp_path):
    """On held-out samples of the same graph: the acceptance of the specification."""
    settings = {"width": 32, "layers": 3, "completion": 0, "made": 150, "supported": 0, "samples": 300, "check": 50}
    done = train([small_index()], tmp_path / "learnt", **settings, progress=False)
    first, *_, last = done.stages["made"]
    assert last.mrr > 5 * first.mrr
