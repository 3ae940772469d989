"""Questions for a corpus that has none, written by a model.

    path_questions(index, engine, out)      from paths of three hops to their ends (DotRAG, on UltraDomain)
    persona_questions(data, engine, out)    5 users × 5 tasks × 5 questions (GraphRAG's and LightRAG's evaluations)

`out` is a folder: `questions.jsonl` has the questions as any data folder has them, `made.json` says how they were made.
A stopped call asks no model twice, since what it answered is recorded. Questions by rules are forms that were filled in
(`rules/summarising.py`); their ids and `made.json` say so."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from workbench.data import Dataset
from workbench.errors import EngineError, SettingError
from workbench.index import Index
from workbench.index.journal import is_rules, lines, maker
from workbench.index.store import write_atomically
from workbench.index.typed import TypedLayer
from workbench.language.pipeline import content_words
from workbench.llm.engine import Engine
from workbench.llm.engine import engine as known_engine
from workbench.llm.step import Step
from workbench.records import Question
from workbench.steps import corpus_questions, retrying

HOPS = 3
PATHS, EACH = 20, 5  # of the paper: 100 questions of a data set
USERS = TASKS = 5  # with 5 questions each: 125
TRIES = 2_000  # walks for a path that may be asked about
SPARE = 3  # how many times as many paths are tried as are wanted
SAID = 300  # characters of a description in a request
TITLES = 40  # that a request names
RETRIES = 2


def path_questions(
    index: Index,
    engine: Engine | str,
    out: str | Path,
    *,
    paths: int = PATHS,
    each: int = EACH,
    seed: int = 0,
    apart: bool = True,
    progress: bool = True,
) -> tuple[Question, ...]:
    """`each` questions on each of so many random paths of three hops, whose answer is the end of the path.

    A path is a walk over the layer `typed` without repeats, from a node drawn evenly. With `apart`, no two neighbours
    share a word, the end shares none with the start and is not next to it, so that the question has three hops; the
    paper says nothing of such a condition. A reply is
    checked (`steps/corpus_questions.py`) and asked for again twice; then another path is drawn. Raises
    :class:`SettingError` for a graph without enough paths, :class:`EngineError` if too many replies do not fit."""
    engine, folder, typed = known_engine(engine), _folder(out), index.typed
    walks, accepted, failed = _walks(typed, seed, apart), [], ""
    for _ in range(SPARE):
        drawn = [shown_path(typed, walk, each) for _, walk in zip(range(paths - len(accepted)), walks)]
        if not drawn and not accepted:
            break
        results = retrying.ask_in_groups(
            engine, corpus_questions.PATH, drawn, corpus_questions.path_flaw, RETRIES, label="questions on paths",
            progress=progress,
        )  # fmt: skip
        for value, result in zip(drawn, results):
            failed = result.failure or failed
            accepted += [(value, result.value.questions)] if result.value else []
        if len(accepted) == paths or len(drawn) < paths - len(accepted):
            break
    if len(accepted) < paths:
        if failed:
            raise EngineError(
                f"{engine.name} wrote questions for {len(accepted)} of {paths} paths of {index.name}; what did not fit "
                f"last: {failed}. Ask another model, or fewer paths (paths={max(1, len(accepted))})"
            )
        names = " with names that do not give each other away" if apart else ""
        raise SettingError(
            f"the graph of {index.name} has {len(accepted)} paths of {HOPS} hops{names}, and {paths} "
            f"are wanted: use a larger corpus, or fewer (paths={max(1, len(accepted))})"
        )
    prefix = _prefix(index.name, engine)
    questions = [
        Question(f"{prefix}path{at:02}-{number}", pair.question, value.names[-1:], "path", HOPS, start=value.names[:1])
        for at, (value, pairs) in enumerate(accepted, 1)
        for number, pair in enumerate(pairs, 1)
    ]
    made = {
        "by": "paths",
        "paths": [list(value.names) for value, _ in accepted],
        "each": each,
        "seed": seed,
        "apart": apart,
    }
    return _written(folder, [corpus_questions.PATH], questions, engine, made)


def persona_questions(
    data: Dataset,
    engine: Engine | str,
    out: str | Path,
    *,
    users: int = USERS,
    tasks: int = TASKS,
    each: int = EACH,
    progress: bool = True,
) -> tuple[Question, ...]:
    """`users` × `tasks` × `each` questions that need much of the corpus and have no gold answer. The model first names
    users and tasks from the description of the data and some of its titles, then the questions of each task. Raises
    :class:`EngineError` if a reply does not fit after two retries; what was written stays."""
    engine, folder = known_engine(engine), _folder(out)
    description = (data.schema.description if data.schema else "") or data.name
    titles = _titles(data)
    personas_input = corpus_questions.PersonasInput(description, titles, users, tasks)
    step, flaw_of = corpus_questions.PERSONAS, corpus_questions.personas_flaw
    (personas,) = retrying.ask(engine, step, [personas_input], flaw_of, RETRIES)
    if personas.value is None:
        raise EngineError(
            f"{engine.name} named no users and tasks for {data.name} ({personas.failure}); ask another model"
        )
    inputs = {
        (u, t): corpus_questions.TasksInput(description, titles, user.user, task, each)
        for u, user in enumerate(personas.value.users, 1)
        for t, task in enumerate(user.tasks, 1)
    }
    results = retrying.ask_in_groups(
        engine, corpus_questions.TASKS, list(inputs.values()), corpus_questions.tasks_flaw, RETRIES,
        label="questions of tasks", progress=progress,
    )  # fmt: skip
    if failed := [result.failure for result in results if result.failure]:
        raise EngineError(
            f"{engine.name} wrote no questions for {len(failed)} of {len(inputs)} tasks of {data.name}; the first: "
            f"{failed[0]}. The same call asks for these alone"
        )
    questions = [
        Question(f"{_prefix(data.name, engine)}user{u}-task{t}-{number}", text, (), "persona")
        for (u, t), result in zip(inputs, results)
        for number, text in enumerate(result.value.questions, 1)
    ]
    made = {"by": "personas", "users": personas.value.model_dump()["users"], "each": each}
    steps = [corpus_questions.PERSONAS, corpus_questions.TASKS]
    return _written(folder, steps, questions, engine, made)


def shown_path(typed: TypedLayer, walk: Sequence[int], many: int = EACH) -> corpus_questions.PathInput:
    """A path, rows of entities, as the Step sees it."""
    names, types = ([of[row] for row in walk] for of in (typed.names, typed.types))
    lines = [f"{typed.names[row]} ({typed.types[row]}): {_short(typed.descriptions[row])}" for row in walk]
    lines += [
        _short(typed.relation_descriptions[relation]) or _triple(typed, relation)
        for a, b in pairwise(walk)
        for relation in typed.between(a, b)
    ]
    return corpus_questions.PathInput(tuple(names), tuple(types), "\n".join(lines), many)


def _walks(typed: TypedLayer, seed: int, apart: bool) -> Iterator[tuple[int, ...]]:
    """Paths that may be asked about, each once, until `TRIES` walks in a row give none."""
    chance, adjacency, seen = random.Random(seed), typed.adjacency, set()
    words = [content_words(name) for name in typed.names]

    def near(row: int) -> list[int]:
        return adjacency.indices[adjacency.indptr[row] : adjacency.indptr[row + 1]].tolist()

    missed = 0
    while typed.names and missed < TRIES:
        walk = [chance.randrange(len(typed.names))]
        while len(walk) <= HOPS and (left := [row for row in near(walk[-1]) if row not in walk]):
            walk.append(chance.choice(left))
        if (
            len(walk) == HOPS + 1
            and tuple(walk) not in seen
            and (not apart or (_is_fit([words[row] for row in walk]) and walk[-1] not in near(walk[0])))
        ):
            seen.add(tuple(walk))
            missed = 0
            yield tuple(walk)
        else:
            missed += 1


def _is_fit(words: Sequence[set[str]]) -> bool:
    """Whether the names of a path, as content words, do not give each other away."""
    ends = (words[0], words[-1])
    return all(ends) and not any(a & b for a, b in (*pairwise(words), ends))


def _written(
    folder: Path, steps: Sequence[Step], questions: list[Question], engine: Engine, made: dict[str, Any]
) -> tuple[Question, ...]:
    """Write how the questions were made, and they themselves."""
    made_with = made | {"made_by": maker(engine, *steps), "n": len(questions)}
    write_atomically(folder / "made.json", json.dumps(made_with, indent=1) + "\n")
    write_atomically(folder / "questions.jsonl", lines(map(asdict, questions)))
    return tuple(questions)


def _folder(out: str | Path) -> Path:
    folder = Path(out).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _prefix(name: str, engine: Engine) -> str:
    return f"{name}-{'rules-' * is_rules(engine)}"


def _titles(data: Dataset) -> tuple[str, ...]:
    """Some titles of the passages, or the beginnings of those without, spread over the corpus."""
    titles = list(dict.fromkeys(passage.title or _short(passage.text, 80) for passage in data.passages))
    step = max(1, len(titles) / TITLES)
    return tuple(titles[int(at * step)] for at in range(min(TITLES, len(titles))))


def _short(text: str, characters: int = SAID) -> str:
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[:characters].rstrip()}…"


def _triple(typed: TypedLayer, relation: int) -> str:
    source, target = typed.names[typed.sources[relation]], typed.names[typed.targets[relation]]
    return f"{source} - {typed.labels[relation] or ', '.join(typed.keywords[relation])} - {target}"
