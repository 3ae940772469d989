"""Reproduces a paper's table in one call: the data, the indexes, the runs, and the paper's cells beside ours. What
exists already is kept, so the same call resumes where it stopped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench import published
from workbench.analyses.judging import judge_check, win_rate
from workbench.data import Dataset, load, registry
from workbench.encoding import encoder as known_encoder
from workbench.errors import SettingError
from workbench.evaluation.asking import path_questions
from workbench.evaluation.evaluate import evaluate
from workbench.evaluation.grid import grid
from workbench.evaluation.pairs import DIMENSIONS, by_comparison, wins
from workbench.evaluation.run import Run
from workbench.index import Index
from workbench.index.building import closure, is_current
from workbench.index.index import place_of
from workbench.index.layer import Build
from workbench.index.store import Store
from workbench.llm.deferrals import Deferrals
from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.engine import engine as known_engine
from workbench.measures import needs_reader
from workbench.methods import method
from workbench.papers.figures import MEAN
from workbench.papers.placing import row_of_model
from workbench.papers.recipes import Recipe, layers_of, models_of, recipes, slug, tables_of
from workbench.papers.tables import Tables, judged_pairs, tables
from workbench.places import home
from workbench.reading import reader
from workbench.records import Question
from workbench.spread import Workers, over

SEED = 0  # of generated questions


@dataclass(frozen=True)
class Engines:
    """The engines of a table: for the index and the methods, for answers, and for judging. By default one for all."""

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
    wanted = with_engines(source, table, rows)
    _check_judge(wanted, table, source)
    with over(cluster):
        for engines, recipe in standing_in(wanted, data):
            loaded = loaded_as(recipe.source if data is None else data, recipe.options)
            if not loaded.questions and not recipe.generated:
                raise SettingError(f"{loaded.name} has no questions; add a questions.jsonl to it")
            by_rules = isinstance(engines.steps, RulesEngine)
            with deferrals:
                index = _index(
                    recipe, loaded, engines, encoder or (None if by_rules else recipe.encoder), place, progress
                )
                questions = list(loaded.questions or _generated(recipe, index, engines, place, progress))[:limit]
                given = {"k": recipe.k, "workers": workers, "repeats": repeats, "progress": progress}
                made = {str(run.folder): run for run in _runs(recipe, index, questions, engines, place, given)}
                if data is not None:
                    stands_for |= dict.fromkeys(made, recipe.data)
                runs |= made
    deferrals.end()
    result = tables(paper, runs.values(), stands_for=stands_for)
    cells, stated = (cell for cell in result.cells if cell.table == table), result.stated["table"] == table
    result = replace(result, cells=tuple(cells), stated=result.stated[stated])
    notes = (*left_to_others(source, table, rows), *_unmeasured(source, result, [*runs.values()]))
    return replace(result, notes=(*result.notes, *notes))


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
    given = [Engines.of(engine, reader, judge) for reader in several(reader_engine) or [None]]
    if "models" not in source.terms:
        if len(given) > 1:
            raise SettingError(f"{source.name} has no rows of different models; give only one reader engine")
        return [(None, given[0])]
    rows: dict[str, Engines] = {}
    for engines in given:
        called = row_of_model(source.terms, engines.reader.name)["called"]
        if called in rows:
            two = f"{rows[called].reader.name} and {engines.reader.name}"
            raise SettingError(f"{two} would both fill the rows of {called}; give one engine for each model")
        of_row = len(given) > 1 and source.terms["engines"].get("method") == "row"
        rows[called] = replace(engines, steps=engines.reader) if of_row else engines
    return list(rows.items())


def several(engines: Engine | str | Sequence[Engine | str] | None) -> list[Engine | str]:
    if engines is None:
        return []
    return list(engines) if isinstance(engines, list | tuple) else [engines]


def left_to_others(source: published.Paper, table: str, rows: Rows) -> Iterator[str]:
    """Which rows no engine was given for."""
    if left := [called for called in models_of(source, table) if called not in dict(rows)]:
        yield (
            f"Rows of {', '.join(left)} are left out: no engine that answers is this model. Give one for each "
            "(reader_engine=[…, …], --reader-engine twice)."
        )


def _unmeasured(source: published.Paper, result: Tables, runs: Sequence[Run]) -> Iterator[str]:
    """Why a table stays empty although its runs are done."""
    if any(cell.run for cell in result.cells):
        return
    judged = [judgements for *_, judgements in judged_pairs(source, result.measurements) if judgements]
    if judged and not any(wins(judgements, DIMENSIONS[0]) for judgements in judged):
        failed = sum(len(by_comparison(judgements)) for judgements in judged)
        yield (
            f"Nothing of this table was measured: the judge failed on all {failed:,} pairs of answers, in the files "
            "that the notes above name. The same call asks it again."
        )
        return
    if {cell.data for cell in result.cells} == {MEAN}:
        yield "Nothing of this table was measured: it has means over data sets, of which not all were run."
        return
    names = ", ".join(dict.fromkeys(cell.measure for cell in result.cells))
    data = ", ".join(dict.fromkeys(run.config["data"]["name"] for run in runs))
    yield f"Nothing of this table was measured: {names} need gold that the questions of {data} do not have."


Assignments = list[tuple[Engines, Recipe]]


def with_engines(source: published.Paper, table: str, rows: Rows) -> Assignments:
    """The recipes of a table for the rows that engines are given for."""
    pairs = [(engines, recipe) for called, engines in rows for recipe in recipes(source, table, called)]
    if not pairs and recipes(source, table):
        raise SettingError(
            f"table {table!r} of {source.name} has no rows of {', '.join(str(called) for called, _ in rows)}, whose "
            f"engine answers; it needs one of {', '.join(models_of(source, table))}"
        )
    if not pairs:
        by = source.terms.get("analyses", {}).get(table)
        by = f"; {by} fills it" if by else ""
        raise SettingError(
            f"nothing runs for table {table!r} of {source.name}: it holds no scores of methods over questions{by}; "
            f"choose one of {', '.join(tables_of(source))}"
        )
    return pairs


def standing_in(pairs: Assignments, data: Dataset | str | Path | None) -> Assignments:
    """The recipes of the first data set alone, where others stand in for it."""
    return [(engines, recipe) for engines, recipe in pairs if data is None or recipe.data == pairs[0][1].data]


def loaded_as(data: Dataset | str | Path, options: Mapping[str, Any]) -> Dataset:
    """`options` are of the paper's own data, by name."""
    if isinstance(data, Dataset):
        return data
    return load(data, **(options if registry.find(str(data)) else {}))


def _check_judge(pairs: Assignments, table: str, source: published.Paper) -> None:
    """Before anything is built: rules cannot compare answers."""
    if any(recipe.pairs and engines.judge.name == RulesEngine.name for engines, recipe in pairs):
        raise SettingError(
            f"table {table!r} of {source.name} compares pairs of answers, and rules cannot judge which of two is "
            "better; pass a model as judge, such as judge='openai:gpt-4.1' (--judge openai:gpt-4.1)"
        )


def _generated(recipe: Recipe, index: Index, engines: Engines, place: Path, progress: bool) -> tuple[Question, ...]:
    """The questions of data that bring none, as the paper makes them."""
    how = recipe.generated
    folder = place / "questions" / slug(index.name, engines.steps.name, index.manifest["encoder"]["name"])
    options = {name: how[name] for name in ("paths", "each", "apart") if name in how}
    return path_questions(index, engines.steps, folder, **options, seed=SEED, progress=progress)


def _index(
    recipe: Recipe, loaded: Dataset, engines: Engines, encoder: str | None, place: Path, progress: bool
) -> Index:
    """The index that `workbench index` would build, if it is the same; else one of the paper's own, in `place`."""
    folder = place / "indexes" / slug(loaded.name, engines.steps.name, encoder, recipe.variant)
    kinds, settings = layers_of(recipe, loaded)
    if not Store(folder).read_manifest()["layers"] and _is_index_of(place_of(loaded), recipe, loaded, engines, encoder):
        return Index.open(place_of(loaded))
    return Index.build(
        loaded, engines.steps, folder, encoder=encoder, layers=kinds, settings=settings, progress=progress
    )


def _is_index_of(folder: Path, recipe: Recipe, loaded: Dataset, engines: Engines, encoder: str | None) -> bool:
    """Whether the index in a folder has all that a build for a recipe would make, by the keys of its layers, and
    nothing in these failed."""
    manifest = Store(folder).read_manifest()
    if not manifest["layers"] or manifest["data"]["name"] != loaded.name or not loaded.passages:
        return False
    build = Build(loaded, known_encoder(*filter(None, [encoder])), engines.steps, progress=False)
    brought = {"profiles"} if loaded.profiles is not None else set()
    return is_current(folder, build, closure({*layers_of(recipe, loaded)[0], *brought}), recipe.layers)


def _runs(
    recipe: Recipe,
    index: Index,
    questions: list,
    engines: Engines,
    place: Path,
    given: Mapping[str, Any],
) -> Iterator[Run]:
    """One run for each reader, over the same evidence, and one of the methods that no row reads; whatever engine
    answers, in one folder, where each reader is named with its own. Pairs of answers are judged in both orders, and
    some planted ones that are plainly worse; all of it stays in the folder of the run."""
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
            ranked = [measure for measure in recipe.measures if not needs_reader(measure)]
            runs["rankings"] = evaluate(questions, mine, None, folder / "rankings", measures=ranked, **given)
            continue
        readers = {f"{spec} by {engine.name}": reader(spec, engine, index=index) for spec in read_by}
        runs |= grid(questions, mine, readers, folder, measures=recipe.measures, judge=judge, **given).runs
    pairs = [(methods[a].label, methods[b].label) for a, b in recipe.pairs]
    options = {"keep": True, "progress": given["progress"]}
    for run in runs.values():
        for a, b in pairs:
            win_rate(run, a, run, b, run.questions, engines.judge, both_orders=True, **options)
        if pairs:
            judge_check(run, pairs[0][0], engines.judge, **options)
        yield run
