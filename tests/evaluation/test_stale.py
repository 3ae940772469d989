"""What is asked anew when something changes: exactly the rows that it decides, and no run has rows of two versions.

Code is changed as a user changes it: a notebook cell is run again, a module is edited and reloaded."""

from __future__ import annotations

import json
import linecache
import sys
import textwrap
from dataclasses import replace

import pytest
from tiny import EXTRACTIONS, TinyEncoder

import workbench as wb
from workbench import source
from workbench.data import Extraction
from workbench.errors import SettingError
from workbench.evaluation import identity
from workbench.evaluation.plan import Plan
from workbench.evaluation.run import Run
from workbench.index import Index
from workbench.llm import Result
from workbench.llm.meter import Meter
from workbench.steps import fact_filter

METHOD = """
from dataclasses import dataclass
from workbench.methods.base import Method
from workbench.records import Evidence, ranked

SIGN = 1

def ordered(passages):
    return list(passages)

class Own(Method):
    "An order of one's own."
    name, paper, scale = "own", "none", "1/rank"
    asked = 0

    @dataclass(frozen=True)
    class Settings:
        weight: float = 1.0

    def search(self, question, k, trace):
        type(self).asked += 1
        best = ordered(self.index.passages.passages)[:k]
        return Evidence(question, self.label, self.scale, ranked(best, [1 / (row + SIGN) for row in range(len(best))]))
"""


class Cells:
    """A notebook's namespace: cells are run in it, one after the other."""

    def __init__(self):
        self.names = {"__name__": "__main__"}

    def run(self, cell: str) -> None:
        name = f"<cell {hash(cell)}>"
        linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
        exec(compile(textwrap.dedent(cell), name, "exec"), self.names)

    def __getitem__(self, name):
        return self.names[name]


class Scripted:
    """A model that says the same to everything, and counts what it is asked."""

    workers = 1

    def __init__(self, name="scripted"):
        self.name, self.meter, self.asked = name, Meter(), []

    def run(self, step, inputs, *, trace=None):
        self.asked += [step.name] * len(inputs)
        if step.name == "fact_filter":
            return [Result(step.output(facts=[list(fact) for fact in value.facts[:1]])) for value in inputs]
        if step.name == "judge":
            return [Result(step.output(verdict="correct", reason="")) for _ in inputs]
        return [Result(step.output(thought="", answer="Orsby", abstained=False)) for _ in inputs]


class Evaluation:
    """Evaluates into one folder, and says which rows were asked for."""

    def __init__(self, tiny, index, folder):
        self.questions, self.index, self.folder, self.asked = tiny.questions, index, folder, []
        self.run: Run | None = None

    def __call__(self, *methods, questions=None, engine=None, reader="direct", **settings) -> list[tuple[str, str]]:
        """The (question, method) of the rows that were asked anew."""
        self.asked.clear()
        chosen = [wb.method(one, self.index, engine) if isinstance(one, str) else one for one in methods]
        reader = wb.reader(reader, engine, index=self.index) if isinstance(reader, str) else reader
        self.run = wb.evaluate(
            questions or self.questions, chosen, reader, self.folder, progress=False, **settings
        )  # fmt: skip
        _one_version(self.folder)
        return list(self.asked)


def _one_version(folder):
    """Every row is of the method and the reader that run.json names, and no piece of code has two hashes."""
    run, known = Run(folder), {}
    for row in run.rows:
        question = next(one for one in run.questions if one.id == row["question_id"])
        keys = run.config["methods"][row["method"]]["key"], (run.config["reading"] or {}).get("key")
        assert row["key"] == wb.evaluation.identity.row_key(*keys, question)
    for units in json.loads((folder / "sources.json").read_text()).values():
        for unit, code in units.items():
            assert known.setdefault(unit, code) == code, unit


@pytest.fixture
def asked(tiny, tiny_index, tmp_path, monkeypatch):
    evaluation, ask = Evaluation(tiny, tiny_index, tmp_path / "run"), Plan.ask

    def noted(plan, question, name, repeat):
        evaluation.asked.append((question.id, name))
        return ask(plan, question, name, repeat)

    monkeypatch.setattr(Plan, "ask", noted)
    return evaluation


def all_of(*methods):
    return [(question, method) for question in ("q1", "q2", "q3") for method in methods]


# -- nothing changes --------------------------------------------------------------------------------------------------


def test_nothing_changed_and_nothing_is_asked_or_written(asked, tiny):
    assert asked("hipporag2", "dense") == all_of("hipporag2", "dense")
    assert Run(asked.folder).questions == tiny.questions
    before = {path: path.stat().st_mtime_ns for path in asked.folder.rglob("*.json*")}
    assert asked("hipporag2", "dense") == [] and asked.run.notes == ()
    assert {path: path.stat().st_mtime_ns for path in asked.folder.rglob("*.json*")} == before


def test_a_layer_that_is_not_used_changes_nothing(asked):
    asked("hipporag2", "dense")
    asked.index = asked.index.ensure(["summaries", "typed", "communities"], progress=False)
    assert asked("hipporag2", "dense") == []


def test_another_process_finds_the_same_code(asked, tiny):
    """Whatever was imported, asked or cached before."""
    import os
    import subprocess

    asked("hipporag2", "dense")
    script = f"""
        import sys
        from tiny import TinyEncoder, tiny_dataset
        import workbench as wb
        index = wb.Index.open({str(asked.index.folder)!r}, TinyEncoder())
        methods = [wb.method(name, index) for name in ("hipporag2", "dense")]
        methods[0].retrieve = None  # nothing may be asked
        wb.evaluate(tiny_dataset().questions, methods, wb.reader("direct", index=index), {str(asked.folder)!r})
    """
    places = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": places, "PYTHONHASHSEED": "7"}
    before = (asked.folder / "results.jsonl").read_bytes()
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], env=environment, check=True, capture_output=True)
    assert (asked.folder / "results.jsonl").read_bytes() == before and not (asked.folder / "before").exists()


# -- code of a notebook -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "unit"),
    [
        ("[:k]", "[::-1][:k]", "Own.search"),
        ("weight: float = 1.0", "weight: float = 2.0", "Own.Settings.weight"),
    ],
)
def test_a_cell_that_was_edited_and_run_again(asked, old, new, unit):
    cells = Cells()
    cells.run(METHOD)
    assert asked(cells["Own"](asked.index), "dense") == all_of("own", "dense")
    cells.run(METHOD)  # the same cell, run again
    assert asked(cells["Own"](asked.index), "dense") == []
    was = [row["ranking"] for row in asked.run.rows if row["method"] == "own"]
    cells.run(METHOD.replace(old, new))
    assert asked(cells["Own"](asked.index), "dense") == all_of("own")
    (note,) = asked.run.notes
    assert note.startswith("3 rows of own were asked again, because ") and unit in note
    (before,) = (asked.folder / "before").iterdir()
    earlier = Run(before)
    assert [row["ranking"] for row in earlier.rows] == was and earlier.methods == ["own"]
    assert earlier.trace("q1", "own") and earlier.context(earlier.rows[0])


def test_a_step_of_a_notebook_has_a_prompt_hash_and_counts(asked):
    cell = (
        METHOD
        + """
from pydantic import BaseModel
from workbench.llm import Step
from workbench.rules import register

class Said(BaseModel):
    facts: list[list[str]]

def prompt(value):
    return [{"role": "user", "content": f"Sort. {value}"}]

SORT = Step("sort", Said, prompt)
register(SORT, lambda value: Said(facts=[]))

class Asking(Own):
    name = "asking"

    def search(self, question, k, trace):
        (result,) = self.engine.run(SORT, [question], trace=trace)
        return super().search(question, k, trace)
"""
    )
    cells, engine = Cells(), Rules()
    cells.run(cell)
    assert asked(cells["Asking"](asked.index, engine), engine=engine) == all_of("asking")
    said = asked.run.config["prompts"]["sort"]
    assert said == f"sort v1 {cells['SORT'].prompt_hash}" and len(cells["SORT"].prompt_hash) == 12
    assert asked(cells["Asking"](asked.index, engine), engine=engine) == []
    cells.run(cell.replace("facts=[]", "facts=[[]]"))
    assert asked(cells["Asking"](asked.index, engine), engine=engine) == all_of("asking")
    cells.run(cell.replace("facts=[]", "facts=[[]]").replace("Sort.", "Order."))
    assert asked(cells["Asking"](asked.index, engine), engine=engine) == [], "the rules are not asked in words"


class Rules(wb.engine("rules").__class__):
    """The rules, by a class of the user's own."""


def test_a_reader_of_a_notebook(asked):
    cell = """
        from workbench.reading.direct import Direct
        class Loud(Direct):
            name = "loud"
            def answer(self, *given):
                said = super().answer(*given)
                return said
    """
    cells = Cells()
    cells.run(cell)
    asked("hipporag2", "dense", reader=cells["Loud"]())
    cells.run(cell.replace("return said", "return __import__('dataclasses').replace(said, text=said.text.upper())"))
    assert asked("hipporag2", "dense", reader=cells["Loud"]()) == all_of("hipporag2", "dense")


def test_a_measure_of_a_notebook_is_taken_anew_and_nothing_is_asked(asked):
    cells = Cells()
    cells.run("def long(question, outcome): return float(len(outcome.answer))")
    asked("dense", measures=["f1", cells["long"]])
    first = asked.run.scores("long", "dense")
    cells.run("def long(question, outcome): return 2.0 * len(outcome.answer)")
    assert asked("dense", measures=["f1", cells["long"]]) == []
    assert asked.run.scores("long", "dense") == {one: 2 * value for one, value in first.items()}
    assert asked("dense", measures=["f1"]) == [] and asked.run.measures == ["f1"]
    assert Run(asked.folder).measures == ["f1", "long"], "what was measured stays"
    with pytest.raises(SettingError, match="a new name"):
        asked("dense", measures=[lambda question, outcome: 1.0])


# -- code of the package, and beside it -------------------------------------------------------------------------------


MODEL = Scripted()


@pytest.mark.parametrize(
    ("module", "engine", "asks"),
    [
        ("methods.hipporag2", None, "hipporag2"),
        ("methods.bm25", None, ""),
        ("methods.base", None, "hipporag2 dense"),
        ("operators.pagerank", None, "hipporag2"),
        ("index.facts", None, "hipporag2 dense"),  # which an index imports: coarse, and never wrong
        ("steps.fact_filter", MODEL, "hipporag2"),
        ("rules.choosing", None, "hipporag2"),
        ("rules.choosing", MODEL, ""),
        ("llm.parse", MODEL, "hipporag2"),
        ("llm.record", MODEL, ""),
        ("views.parts", None, ""),
        ("cli.app", None, ""),
        ("evaluation.run", None, ""),
        ("reading.direct", None, ""),
        ("measures.answers", None, ""),
    ],
)
def test_a_file_of_the_package_asks_again_what_depends_on_it(tiny_index, edit, module, engine, asks):
    methods = [wb.method(name, tiny_index, engine) for name in ("hipporag2", "dense")]
    before = {method.label: identity.of_method(method) for method in methods}
    edit(f"workbench.{module}")
    now = {method.label: identity.of_method(method) for method in methods}
    assert [name for name in now if before[name].key != now[name].key] == asks.split()
    for name in asks.split():
        assert source.changed(before[name].units, now[name].units) == [f"{module.replace('.', '/')}.py"]


@pytest.mark.parametrize(
    ("module", "reader", "engine", "differs"),
    [
        ("reading.direct", "direct", None, True),
        ("steps.answer", "direct", MODEL, True),
        ("rules.answering", "direct", None, True),
        ("rules.answering", "direct", MODEL, False),
        ("reading.compression.graph_walk", "direct[compress=graph-walk]", None, True),
        ("reading.structured", "direct", None, False),
        ("views.parts", "direct", None, False),
    ],
)
def test_a_file_of_the_package_and_a_reader(tiny_index, edit, module, reader, engine, differs):
    made = wb.reader(reader, engine, index=tiny_index)
    before = identity.of_reader(made).key
    edit(f"workbench.{module}")
    assert (identity.of_reader(made).key != before) is differs


def test_a_file_of_the_package_that_was_edited(asked, edit):
    asked("hipporag2", "dense")
    edit("workbench.methods.hipporag2")
    assert asked("hipporag2", "dense") == all_of("hipporag2")
    assert "because methods/hipporag2.py changed" in asked.run.notes[0]
    assert asked("hipporag2", "dense") == []


def test_a_rule_body_of_a_backbone_whose_engine_is_another(asked, edit):
    def both():
        backbone = wb.method("hipporag2", asked.index)
        return wb.methods.METHODS["irgs"](asked.index, Scripted(), backbone=backbone, iterations=1), backbone

    assert asked(*both()) == all_of(*(method.label for method in both()))
    assert asked(both()[0]) == [] and len(Run(asked.folder).rows) == 6, "the one by a model contradicts no rules"
    edit("workbench.rules.choosing")
    assert asked(*both()) == all_of(*(method.label for method in both()))


def test_the_wording_of_a_prompt_counts_where_a_model_is_asked(asked, monkeypatch):
    asked("hipporag2", "dense", engine=(engine := Scripted()))
    monkeypatch.setitem(fact_filter.STEP.__dict__, "prompt_hash", "another")
    engine.asked.clear()
    assert asked("hipporag2", "dense", engine=engine) == all_of("hipporag2")
    assert engine.asked.count("fact_filter") == 3 and "prompt of fact_filter changed" in asked.run.notes[0]


def test_a_measure_of_the_package(asked, edit, monkeypatch):
    from workbench.measures import answers

    asked("dense", measures=["f1", "em"])
    ems = asked.run.scores("em", "dense")
    monkeypatch.setattr(answers, "f1", lambda said, gold: 0.25)
    edit("workbench.measures.answers")
    assert asked("dense", measures=["f1", "em"]) == []
    assert set(asked.run.scores("f1", "dense").values()) == {0.25} and asked.run.scores("em", "dense") == ems


def test_shared_code_that_changed_puts_aside_what_is_not_asked_for(asked, edit):
    """Else the run would hold rows of two versions."""
    asked("hipporag2", "dense")
    edit("workbench.methods.base")
    assert asked("dense") == all_of("dense")
    whole = Run(asked.folder)
    assert whole.methods == ["dense"] and len(whole.rows) == 3
    assert any("rows of hipporag2, which was not asked for, were put aside" in note for note in asked.run.notes)
    assert sum(len(Run(one).rows) for one in (asked.folder / "before").iterdir()) == 6


# -- what the code works on -------------------------------------------------------------------------------------------


def test_settings_engines_and_layers(asked, tmp_path, tiny):
    asked("hipporag2", "dense")
    other = wb.method("hipporag2", asked.index, filter="identity")
    other.label = "hipporag2"
    assert asked(other, "dense") == all_of("hipporag2") and "settings" in asked.run.notes[0]
    fewer = {name: row for name, row in EXTRACTIONS.items() if name != "p5"}
    found = tuple(Extraction(one, tuple(names), tuple(facts), "by hand") for one, (names, facts) in fewer.items())
    asked("hipporag2", "dense")
    asked.index = Index.build(
        replace(tiny, extractions=(*found, Extraction("p5", (), (), "by hand"))), None, tmp_path / "other",
        encoder=TinyEncoder(), progress=False,
    )  # fmt: skip
    assert asked("hipporag2", "dense") == all_of("hipporag2") and "layers" in asked.run.notes[0]


def test_the_passages(asked, tiny):
    asked("hipporag2", "dense")
    passages = [replace(p, text=f"{p.text} Indeed.") if p.id == "p8" else p for p in tiny.passages]
    asked.index = Index.build(
        replace(tiny, passages=tuple(passages)), None, asked.index.folder, encoder=TinyEncoder(), progress=False
    )
    assert asked("dense") == all_of("dense")
    assert Run(asked.folder).methods == ["dense"], "rows over other passages are of another version, too"


def test_the_encoder(asked, tmp_path, tiny):
    class Other(TinyEncoder):
        name = "other"

        def encode(self, texts):
            return super().encode([text.upper() for text in texts])

    asked("hipporag2", "bm25")
    asked.index = Index.build(tiny, None, tmp_path / "other", encoder=Other(), progress=False)
    assert asked("hipporag2", "bm25") == all_of("hipporag2", "bm25"), "the passages' layer holds the vectors"


def test_the_text_of_a_question_and_its_gold(asked, tiny):
    asked("dense")
    first, second, third = tiny.questions
    changed = (replace(first, question="Which lake?"), replace(second, answers=("Quell",)), third)
    assert asked("dense", questions=changed) == [("q1", "dense")]
    assert asked.run.scores("accuracy", "dense") == Run(asked.folder).scores("accuracy", "dense")
    alone = Evaluation(tiny, asked.index, asked.folder.parent / "alone")
    alone("dense", questions=changed)
    assert [row["scores"] for row in asked.run.rows] == [row["scores"] for row in alone.run.rows]


# -- runs that grow ---------------------------------------------------------------------------------------------------


def same_always(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "timings.jsonl"
    }


def test_methods_questions_and_measures_are_added(asked, tiny):
    assert asked("hipporag2", questions=tiny.questions[:2], measures=["recall@1"]) == [
        ("q1", "hipporag2"), ("q2", "hipporag2"),
    ]  # fmt: skip
    assert asked("hipporag2", measures=["recall@1"]) == [("q3", "hipporag2")]
    assert asked("hipporag2", "dense", measures=["recall@1"]) == all_of("dense")
    assert asked("hipporag2", "dense", measures=["recall@1", "f1", "coverage", "read", "recall@20"]) == []
    alone = Evaluation(tiny, asked.index, asked.folder.parent / "alone")
    alone("hipporag2", "dense", measures=["recall@1", "f1", "coverage", "read", "recall@20"])
    assert same_always(asked.folder) == same_always(alone.folder), "grown or made at once"
    part = asked("dense", questions=tiny.questions[1:], measures=["f1"])
    assert part == [] and len(asked.run.rows) == 2 and asked.run.measures == ["f1"]
    assert asked.run.config["questions"]["n"] == 2 and len(Run(asked.folder).rows) == 6


def test_without_a_reader_coverage_is_taken_of_the_ranked_passages(asked):
    asked("dense", reader=None, measures=["recall@1"])
    assert asked("dense", reader=None, measures=["recall@1", "coverage", "context_tokens"]) == []
    grown = asked.run.scores("coverage", "dense")
    alone = Evaluation(type("", (), {"questions": asked.questions}), asked.index, asked.folder.parent / "alone")
    alone("dense", reader=None, measures=["recall@1", "coverage", "context_tokens"])
    assert grown == alone.run.scores("coverage", "dense") and grown


def test_a_judge_is_added_and_it_alone_is_asked(asked):
    engine, judge = Scripted(), Scripted("judge")
    asked("dense", engine=engine)
    engine.asked.clear()
    assert asked("dense", engine=engine, judge=judge) == [] and engine.asked == []
    left = judge.asked.count("judge")
    assert left and asked.run.judge == "judge" and len(asked.run.scores("accuracy:thesis", "dense")) == 3
    assert any(event.kind == "EVALUATOR" for event in asked.run.trace("q1", "dense"))
    assert asked("dense", engine=engine, judge=judge) == [] and judge.asked.count("judge") == left
    alone = Evaluation(type("", (), {"questions": asked.questions}), asked.index, asked.folder.parent / "alone")
    alone("dense", engine=engine, judge=judge)
    assert asked.run.rows == alone.run.rows


def test_the_default_folder_is_that_of_the_conditions_that_rows_share(tiny, tiny_index, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))

    def folder(*methods, engine=None, reader="direct", n=3, **settings):
        reader = reader and wb.reader(reader, engine)
        chosen = [wb.method(name, tiny_index, engine) for name in methods]
        return wb.evaluate(tiny.questions[:n], chosen, reader, progress=False, **settings).folder

    first = folder("dense", "hipporag2")
    assert folder("hipporag2", "dense") == folder("bm25", n=1) == folder("dense", measures=["f1"]) == first
    others = [
        folder("dense", k=7), folder("dense", budget=50), folder("dense", trace="ids"), folder("dense", reader=None),
        folder("dense", reader="direct[k=2]"), folder("dense", engine=Scripted()),
    ]  # fmt: skip
    assert len({first, *others}) == 7
    assert folder("dense", "hipporag2", reader=None) == folder("dense", reader=None)


def test_identities_do_not_hang_on_what_was_asked_before(tiny_index, tiny):
    """Of every method and reader there is: no cache and no lazily made part counts."""
    from workbench.methods import METHODS
    from workbench.reading import READERS
    from workbench.testing.contract import OVER_HASHES

    index = tiny_index.ensure(["summaries", "communities", "typed", "skeleton", "keywords"], progress=False)
    methods = [wb.method(OVER_HASHES.get(name, name), index) for name in METHODS]
    readers = [wb.reader(name, index=index) for name in READERS if name != "global"]  # tiny has no report to read
    before = [identity.of_method(method) for method in methods], [identity.of_reader(reader) for reader in readers]
    for method in methods:
        evidence = method.retrieve(tiny.questions[0].question, 5)
    for reader in readers:
        reader.read(evidence.question, evidence)
    assert before == ([identity.of_method(one) for one in methods], [identity.of_reader(one) for one in readers])
