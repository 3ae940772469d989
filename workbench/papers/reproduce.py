"""A table of a paper by one call: the data, the indexes, the runs, and the paper's cells beside ours. Everything that
exists already is kept: the same call goes on where it was stopped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from workbench import published
from workbench.analyses.judging import PLANTED, judge_check, win_rate
from workbench.data import Dataset, load, registry
from workbench.encoding import encoder as known_encoder
from workbench.errors import DataError, SettingError
from workbench.evaluation.asking import path_questions
from workbench.evaluation.estimate import Estimate, Unasked, estimate_build, estimate_run, prompt_tokens
from workbench.evaluation.evaluate import evaluate
from workbench.evaluation.grid import grid
from workbench.evaluation.pairs import DIMENSIONS, by_comparison, wins
from workbench.evaluation.run import Run, varies
from workbench.index import Index
from workbench.index.building import closure, place_of_layer, use
from workbench.index.index import place_of
from workbench.index.layer import Build
from workbench.index.store import Store
from workbench.index.usage import ARTICLES
from workbench.llm.deferrals import Deferrals
from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.engine import engine as known_engine
from workbench.llm.meter import money
from workbench.measures import needs_reader
from workbench.methods import method
from workbench.papers import figures
from workbench.papers.condition import of_data
from workbench.papers.placing import row_of_model
from workbench.papers.recipes import Recipe, models_of, recipes, slug, tables_of
from workbench.papers.tables import Tables, judged_pairs, tables
from workbench.places import home
from workbench.reading import reader
from workbench.records import Question, Record
from workbench.spread import Workers, over
from workbench.steps import judge_pair

AMOUNTS = ("calls", "prompt_tokens", "completion_tokens", "dollars", "dollars_in_batches", "hours")
ANSWER = 300  # tokens of an answer in full, and of a judgement: assumed
BUNDLED, COUNTED = "meridian", 5  # stands in for data that are not on this machine; so many questions are counted
SAMPLE, ASKED = 40, 8  # passages of the small index on which a plan counts prompts, and questions of each method


@dataclass(frozen=True)
class Engines:
    """Who is asked: for the index and the methods, for answers, and to judge them. By default one for all."""

    steps: Engine
    reader: Engine
    judge: Engine

    @classmethod
    def of(cls, steps: Engine | str, reader: Engine | str | None = None, judge: Engine | str | None = None) -> Engines:
        steps = known_engine(steps)
        return cls(steps, known_engine(reader or steps), known_engine(judge or steps))


def reproduce(
    paper: str,
    table: str,
    engine: Engine | str = "rules",
    *,
    reader_engine: Engine | str | Sequence[Engine | str] | None = None,
    judge: Engine | str | None = None,
    data: Dataset | str | Path | None = None,
    encoder: str | None = None,
    limit: int | None = None,
    out: str | Path | None = None,
    workers: int | None = None,
    repeats: int = 1,
    cluster: Workers | str | None = None,
    progress: bool = True,
) -> Tables:
    """The table with our numbers: gets the data, builds the indexes, runs methods and readers, and compares.

    `reader_engine`: several where the paper tells rows apart by model (`engines_by_row`); rows of a model that none of
    them is are not run.

    `data` stands in for all data sets of the table: its numbers fill the column of the first, and are not comparable.
    `encoder` is by default the paper's, or where it does not say one, that of the bundled indexes; with rules for all
    Steps, always the latter. `limit`: only so many questions. `repeats`: how often each is asked (`evaluate`). Indexes
    and runs are kept in `out`, by default `tables/<paper>`, and shared by the tables of a paper; an index of the data
    that stands in its usual place is used if a build would make the same. `cluster`
    spreads builds and rows over processes. Raises :class:`SettingError` for a table that nothing runs for."""
    source = published.paper(paper)
    rows = engines_by_row(source, engine, reader_engine, judge)
    place = Path(out or home() / "tables" / paper)
    runs, deferrals = dict[str, Run](), Deferrals()
    stands_for: dict[str, str] = {}
    wanted = _recipes(source, table, rows)
    _check_judge(wanted, table, source)
    with over(cluster):
        for asked, recipe, loaded in _with_data(wanted, data):
            _check_questions(recipe, loaded)
            with deferrals:
                index = _index(recipe, loaded, asked, _encoder(recipe, asked, encoder), place, progress)
                questions = list(loaded.questions or _generated(recipe, index, asked, place, progress))[:limit]
                given = {"k": recipe.k, "workers": workers, "repeats": repeats, "progress": progress}
                made = {str(run.folder): run for run in _runs(recipe, index, questions, asked, place, given)}
                if data is not None:
                    stands_for |= dict.fromkeys(made, recipe.data)
                runs |= made
    deferrals.end()
    found = tables(paper, runs.values(), stands_for=stands_for)
    cells, stated = (cell for cell in found.cells if cell.table == table), found.stated["table"] == table
    found = replace(found, cells=tuple(cells), stated=found.stated[stated])
    notes = (*_left_to_others(source, table, rows), *_unmeasured(source, found, [*runs.values()]))
    return replace(found, notes=(*found.notes, *notes))


Rows = Sequence[tuple[str | None, Engines]]


def engines_by_row(
    source: published.Paper,
    engine: Engine | str,
    reader_engine: Engine | str | Sequence[Engine | str] | None = None,
    judge: Engine | str | None = None,
) -> Rows:
    """The models that make rows of a paper, as it calls them, each with the engines that fill them; one None for a
    paper whose rows are of no model. Where every Step is asked of a row's own model, several engines each do all.

    Raises :class:`SettingError` for several engines of the same rows."""
    given = [Engines.of(engine, one, judge) for one in _several(reader_engine) or [None]]
    if "models" not in source.terms:
        if len(given) > 1:
            raise SettingError(f"{source.name} has no rows of different models; give one engine that answers")
        return [(None, given[0])]
    rows: dict[str, Engines] = {}
    for one in given:
        called = row_of_model(source.terms, one.reader.name)["called"]
        if called in rows:
            two = f"{rows[called].reader.name} and {one.reader.name}"
            raise SettingError(f"{two} would both fill the rows of {called}; give one engine for each model")
        of_row = len(given) > 1 and source.terms["engines"].get("method") == "row"
        rows[called] = replace(one, steps=one.reader) if of_row else one
    return list(rows.items())


def _several(engines: Engine | str | Sequence[Engine | str] | None) -> list[Engine | str]:
    if engines is None:
        return []
    return list(engines) if isinstance(engines, list | tuple) else [engines]


def _left_to_others(source: published.Paper, table: str, rows: Rows) -> Iterator[str]:
    """Which rows no engine was given for."""
    if left := [called for called in models_of(source, table) if called not in dict(rows)]:
        yield (
            f"Rows of {', '.join(left)} are left out: no engine that answers is this model. Give one for each "
            "(reader_engine=[…, …], --reader-engine twice)."
        )


def _unmeasured(source: published.Paper, found: Tables, runs: Sequence[Run]) -> Iterator[str]:
    """Why a table stays empty although its runs are done."""
    if any(cell.run for cell in found.cells):
        return
    judged = [said for *_, said in judged_pairs(source, found.measurements) if said]
    if judged and not any(wins(said, DIMENSIONS[0]) for said in judged):
        failed = sum(len(by_comparison(said)) for said in judged)
        yield (
            f"Nothing of this table was measured: the judge failed on all {failed:,} pairs of answers, in the files "
            "that the notes above name. The same call asks it again."
        )
        return
    if {cell.data for cell in found.cells} == {figures.MEAN}:
        yield "Nothing of this table was measured: it has means over data sets, of which not all were run."
        return
    names = ", ".join(dict.fromkeys(cell.measure for cell in found.cells))
    data = ", ".join(dict.fromkeys(run.config["data"]["name"] for run in runs))
    yield f"Nothing of this table was measured: {names} need gold that the questions of {data} do not have."


@dataclass(frozen=True, repr=False)
class TablePlan(Record):
    """What a table will take. `frame`: a row for each build, and for each method and reader over each data set."""

    paper: str
    table: str
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()


def plan(
    paper: str,
    table: str,
    engine: Engine | str = "rules",
    *,
    reader_engine: Engine | str | Sequence[Engine | str] | None = None,
    judge: Engine | str | None = None,
    data: Dataset | str | Path | None = None,
    limit: int | None = None,
    repeats: int = 1,
) -> TablePlan:
    """What `reproduce` will take, before anything is asked: calls, tokens, dollars and hours of each build and of each
    method with each reader, over all repeats.

    No model is asked. The prompts are counted on an index of a few passages that rules write; retrieved passages are as
    many as in the run itself, so the prompts are as long. Nothing is downloaded: for a data set that is not on this
    machine, prompts are counted on the bundled one, and the numbers scaled to the sizes that the paper states."""
    source, rows, notes = published.paper(paper), [], []
    answering = [_unasked(one) for one in _several(reader_engine)]
    asks = engines_by_row(source, _unasked(engine), answering, judge and _unasked(judge))
    built = set[tuple[str, str, str]]()
    for asked, recipe in _standing_in(_recipes(source, table, asks), data):
        wanted, scales = limit, (1.0, 1.0)
        if data is not None:
            loaded = _load(data, recipe.options)
        else:
            loaded, said = at_hand(recipe, BUNDLED)
            notes += said
            if loaded.name != recipe.source:
                few = replace(loaded, questions=loaded.questions[:COUNTED])
                (loaded, scales), wanted = scaled(source, recipe, few, limit), None
                notes += said_of_scales(source, recipe, loaded)
        key = (recipe.data, recipe.variant, asked.steps.name)
        mine = [] if key in built else [times(of_build(recipe, loaded, asked.steps), scales[0])]
        built.add(key)  # once for the rows of all models
        by = f", {asked.reader.name}" if len(asks) > 1 else ""
        runs = of_runs(recipe, loaded, asked, wanted)
        mine += [{**times(times(row, repeats), scales[1]), "reader": f"{row['reader']}{by}"} for row in runs]
        if recipe.pairs:
            mine.append(times(of_judging(recipe, loaded, asked, wanted, repeats), scales[1]))
            notes.append(f"Judging: each pair in both orders, answers of {ANSWER} tokens and as long a reply assumed.")
        rows += [{**row, "data": loaded.name if data is not None else recipe.source} for row in mine]
        if not loaded.questions and recipe.generated:
            notes.append(f"{loaded.name} has no questions yet: what writing and answering them takes is not in it.")
    notes += _left_to_others(source, table, asks)
    return TablePlan(paper, table, pd.DataFrame(rows), tuple(dict.fromkeys(notes)))


def at_hand(recipe: Recipe, data: Dataset | str | None) -> tuple[Dataset | None, list[str]]:
    """The paper's data set if it is on this machine, else the one that stands in for it, and what is to be said."""
    try:
        return load(recipe.source, offline=True, **recipe.options), []
    except DataError:
        get = f"{recipe.source} is not on this machine: wb.load({recipe.source!r}) gets it, or says how."
    if data is None:
        return None, [get, "So nothing can be counted; give a data set that stands in for it: data='meridian'."]
    stand_in = data if isinstance(data, Dataset) else load(data)
    if not stand_in.questions:
        return None, [get, f"{stand_in.name} has no questions on which prompts could be counted."]
    return stand_in, [get]


def scaled(
    source: published.Paper, recipe: Recipe, stand_in: Dataset, limit: int | None = None
) -> tuple[Dataset, tuple[float | None, float | None]]:
    """What stands in for the data of a paper, without what it brings and theirs do not; and by what the costs of the
    index and of a run on it grow, None where the paper does not say how many there are."""
    counted = replace(stand_in, extractions={}, profiles=None)
    passages, questions = (of_data(source.terms[part], recipe.data) for part in ("passages", "questions"))
    wanted = min(filter(None, (questions, limit)), default=None)
    return counted, (
        passages / len(counted.passages) if passages and counted.passages else None,
        wanted / len(counted.questions) if wanted and counted.questions else None,
    )


def said_of_scales(source: published.Paper, recipe: Recipe, counted: Dataset) -> Iterator[str]:
    for part, here in (("questions", counted.questions), ("passages", counted.passages)):
        there = of_data(source.terms[part], recipe.data)
        if there:
            yield f"Counted on {counted.name} with {len(here):,} {part}, scaled to {there:,}."
        else:
            yield f"The paper does not say how many {part} {recipe.data} has, so what depends on them is not known."
    yield f"Texts of {counted.name} may be shorter or longer than the paper's: a rough estimate."


def _unasked(engine: Engine | str) -> Engine:
    spec = engine if isinstance(engine, str) else engine.name
    return RulesEngine() if spec == "rules" else Unasked(spec)


def times(row: dict[str, Any], factor: float | None) -> dict[str, Any]:
    """A row of a plan with its amounts so many times; None where they, or the factor, are unknown."""
    return row | {name: None if row[name] is None or factor is None else row[name] * factor for name in AMOUNTS}


def of_build(recipe: Recipe, loaded: Dataset, engine: Engine) -> dict[str, Any]:
    """The row of a plan for the index."""
    kinds, _ = _layers(recipe, loaded)
    build = estimate_build(loaded, engine, SAMPLE, layers=kinds)
    what = f"index{f' for {recipe.variant}' if recipe.variant else ''}: {', '.join(kinds)}"
    return {"data": loaded.name, "what": what, "reader": "", **_cost(build)}


def of_runs(recipe: Recipe, loaded: Dataset, asked: Engines, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a plan for the methods, each with each reader."""
    import tempfile

    small = replace(loaded, passages=loaded.passages[:SAMPLE], questions=(), extractions={}, profiles=None)
    with tempfile.TemporaryDirectory() as folder:
        index = Index.build(small, RulesEngine(), folder, layers=_layers(recipe, small)[0], progress=False)
        questions = list(loaded.questions)[:limit]
        engine = asked.reader if recipe.answered else RulesEngine()
        for spec, read_by in recipe.read_by.items():
            for of in read_by or (None,):
                read = reader(of, engine, index=index) if of else None
                judge = asked.judge if recipe.judged and of else None
                made = [method(spec, index, asked.steps)]
                cost = estimate_run(questions, made, read, ASKED, judge=judge, k=recipe.k)
                yield {"data": loaded.name, "what": spec, "reader": of or "", **_cost(cost)}


def of_judging(
    recipe: Recipe, loaded: Dataset, asked: Engines, limit: int | None = None, repeats: int = 1
) -> dict[str, Any]:
    """The row of a plan for the pairs: both orders of each, in every repeat if answers can vary, and of those that are
    planted."""
    questions, judge = len(loaded.questions[:limit]), asked.judge
    judged = repeats if varies(f"{asked.steps.name}, {asked.reader.name}") else 1
    calls = 2 * (judged * len(recipe.pairs) * questions + min(PLANTED, questions))
    prompt = calls * (prompt_tokens(judge_pair.STEP, judge_pair.Input("", "", "")) + 2 * ANSWER)
    completion = calls * ANSWER
    return {
        "data": loaded.name, "what": "judge: pairs of answers", "reader": "", "calls": calls, "prompt_tokens": prompt,
        "completion_tokens": completion, "dollars": money(judge.name, prompt, completion),
        "dollars_in_batches": money(judge.name, prompt, completion, batch=True), "hours": None,
    }  # fmt: skip


def _cost(estimate: Estimate) -> dict[str, Any]:
    total = estimate.total

    def middle(value):
        return None if value is None else value.value

    seconds = middle(total.seconds)
    return {
        "calls": middle(total.calls), "prompt_tokens": middle(total.prompt_tokens),
        "completion_tokens": middle(total.completion_tokens), "dollars": middle(total.money),
        "dollars_in_batches": middle(total.batched), "hours": None if seconds is None else seconds / 3600,
    }  # fmt: skip


Asked = list[tuple[Engines, Recipe]]


def _recipes(source: published.Paper, table: str, rows: Rows) -> Asked:
    """The recipes of a table for the rows that engines are given for."""
    found = [(engines, recipe) for called, engines in rows for recipe in recipes(source, table, called)]
    if not found and recipes(source, table):
        raise SettingError(
            f"table {table!r} of {source.name} has no rows of {', '.join(str(called) for called, _ in rows)}, whose "
            f"engine answers; it needs one of {', '.join(models_of(source, table))}"
        )
    if not found:
        by = source.terms.get("analyses", {}).get(table)
        by = f"; {by} fills it" if by else ""
        raise SettingError(
            f"nothing runs for table {table!r} of {source.name}: it holds no scores of methods over questions{by}; "
            f"choose one of {', '.join(tables_of(source))}"
        )
    return found


def _standing_in(found: Asked, data: Dataset | str | Path | None) -> Asked:
    """The recipes of the first data set alone, where others stand in for it."""
    return [(asked, one) for asked, one in found if data is None or one.data == found[0][1].data]


def _with_data(found: Asked, data: Dataset | str | Path | None) -> Iterator[tuple[Engines, Recipe, Dataset]]:
    for asked, recipe in _standing_in(found, data):
        yield asked, recipe, _load(data if data is not None else recipe.source, recipe.options)


def _load(data: Dataset | str | Path, options: Mapping[str, Any]) -> Dataset:
    """`options` are of the paper's own data, by name."""
    if isinstance(data, Dataset):
        return data
    return load(data, **(options if registry.find(str(data)) else {}))


def _check_questions(recipe: Recipe, loaded: Dataset) -> None:
    if not loaded.questions and not recipe.generated:
        raise SettingError(f"{loaded.name} has no questions; add a questions.jsonl to it")


def _check_judge(found: Asked, table: str, source: published.Paper) -> None:
    """Before anything is built: rules cannot compare answers."""
    if any(recipe.pairs and engines.judge.name == RulesEngine.name for engines, recipe in found):
        raise SettingError(
            f"table {table!r} of {source.name} compares pairs of answers, and rules cannot judge which of two is "
            "better; pass a model as judge, such as judge='openai:gpt-4.1' (--judge openai:gpt-4.1)"
        )


def _generated(recipe: Recipe, index: Index, engines: Engines, place: Path, progress: bool) -> tuple[Question, ...]:
    """The questions of data that bring none, as the paper makes them."""
    how = recipe.generated
    folder = place / "questions" / slug(index.name, engines.steps.name, index.manifest["encoder"]["name"])
    asked = {name: how[name] for name in ("paths", "each", "apart") if name in how}
    return path_questions(index, engines.steps, folder, **asked, seed=SEED, progress=progress)


SEED = 0  # of generated questions


def _encoder(recipe: Recipe, engines: Engines, given: str | None) -> str | None:
    """By default the paper's, with a model."""
    return given or (None if isinstance(engines.steps, RulesEngine) else recipe.encoder)


def _index(
    recipe: Recipe, loaded: Dataset, engines: Engines, encoder: str | None, place: Path, progress: bool
) -> Index:
    """The index of `workbench index` where it is the same; else one of the paper's own, in `place`."""
    folder = place / "indexes" / slug(loaded.name, engines.steps.name, encoder, recipe.variant)
    kinds, settings = _layers(recipe, loaded)
    if not Store(folder).read_manifest()["layers"] and _stands(place_of(loaded), recipe, loaded, engines, encoder):
        return Index.open(place_of(loaded))
    return Index.build(
        loaded, engines.steps, folder, encoder=encoder, layers=kinds, settings=settings, progress=progress
    )


def _layers(recipe: Recipe, loaded: Dataset) -> tuple[list[str], dict[str, Mapping[str, Any]]]:
    """The layers to build, and the settings of those that have any; of articles only where some are written."""
    written = bool(loaded.triples and not loaded.passages)
    settings = {kind: said for kind, said in recipe.layers.items() if said and (written or kind != ARTICLES)}
    return [kind for kind in recipe.layers if kind != ARTICLES], settings


def _stands(folder: Path, recipe: Recipe, loaded: Dataset, engines: Engines, encoder: str | None) -> bool:
    """Whether the index in a folder has all that a build for a recipe would make, by the keys of its layers, and
    nothing in these failed."""
    store = Store(folder)
    manifest = store.read_manifest()
    if not manifest["layers"] or manifest["data"]["name"] != loaded.name or not loaded.passages:
        return False
    build = Build(loaded, known_encoder(*filter(None, [encoder])), engines.steps, progress=False)
    brought = {"profiles"} if loaded.profiles is not None else set()
    for kind in closure({*_layers(recipe, loaded)[0], *brought}):
        named = manifest["layers"].get(kind, {"key": None})
        place = place_of_layer(store, manifest, kind, build, recipe.layers.get(kind, {}))
        if place.stands is None or place.stands != named["key"] or named.get("failures"):
            return False
        use(store, kind, place.stands, build)
    return True


def _runs(
    recipe: Recipe,
    index: Index,
    questions: list,
    engines: Engines,
    place: Path,
    given: Mapping[str, Any],
) -> Iterator[Run]:
    """One run for each reader, over the same evidence, and one of the methods that no row reads; whatever engine
    answers, in one folder, where each reader is named with its own."""
    methods = {spec: method(spec, index, engines.steps) for spec in recipe.methods}
    encoder = index.manifest["encoder"]["name"]
    folder = place / "runs" / slug(index.name, engines.steps.name, encoder, str(recipe.k), recipe.variant)
    engine = engines.reader if recipe.answered else RulesEngine()  # rules, where no answer is looked at
    judge = engines.judge if recipe.judged else None
    alike: dict[tuple[str, ...], list[str]] = {}
    for spec, read_by in recipe.read_by.items():
        alike.setdefault(read_by, []).append(spec)
    runs = dict[str, Run]()
    for read_by, specs in alike.items():
        mine = [methods[spec] for spec in specs]
        if not read_by:
            ranked = [one for one in recipe.measures if not needs_reader(one)]
            runs["rankings"] = evaluate(questions, mine, None, folder / "rankings", measures=ranked, **given)
            continue
        readers = {f"{spec} by {engine.name}": reader(spec, engine, index=index) for spec in read_by}
        runs |= grid(questions, mine, readers, folder, measures=recipe.measures, judge=judge, **given).runs
    for run in runs.values():
        _judge(run, [(methods[a].label, methods[b].label) for a, b in recipe.pairs], engines.judge, given["progress"])
        yield run


def _judge(run: Run, pairs: Sequence[tuple[str, str]], judge: Engine, progress: bool) -> None:
    """Have the answers of each pair of methods judged in both orders, and some planted ones that are plainly worse; all
    of it stays in the folder of the run."""
    for a, b in pairs:
        win_rate(run, a, run, b, run.questions, judge, both_orders=True, keep=True, progress=progress)
    if pairs:
        judge_check(run, pairs[0][0], judge, keep=True, progress=progress)
