"""Notebook 05: what it checks of an ablation of readers, and the two sentences that it ends in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from workbench import analyses
from workbench.analyses import Analysis
from workbench.analyses.diagnose import Diagnosis
from workbench.evaluation.grid import Grid
from workbench.evaluation.grid import grid as grid_of
from workbench.evaluation.verdict import Verdict
from workbench.index import Index
from workbench.lessons.sentences import over
from workbench.methods import method
from workbench.notebooks.lab import Lab
from workbench.records import Question
from workbench.settings import parse_spec
from workbench.sparql import facts_of
from workbench.text import clean, counted, wrapped
from workbench.views.ablator import Ablator

HEADLINE = ["accuracy", "f1", "abstained", "coverage", "coverage:read", "read_tokens"]
OF_PAPER = ("ket_rag", "lightrag")  # with their readers: the whole context, and what the released walk leaves of it
WALK = "compress=graph-walk[budget=4000,profile=released]"
PAPER_READERS = {"brief": "direct[prompt=brief,k=none]", "brief + GW 4000": f"direct[prompt=brief,k=none,{WALK}]"}


def readers(prompts: Sequence[str], budgets: Sequence[int], tokens: int) -> dict[str, str]:
    """The readers of the grid: each prompt over a whole and over shorter contexts, routing, and the executed query."""
    whole = f"k=none,budget={tokens}"
    specs = {prompt: f"direct[prompt={prompt},{whole}]" for prompt in prompts}
    for size in budgets:
        walk = f"compress=graph-walk[budget={size}]"
        specs |= {f"{prompt} + GW {size}": f"direct[prompt={prompt},{whole},{walk}]" for prompt in prompts}
    return specs | {"routing": f"direct[route=true,{whole}]", "executed": f"sparql-exec[budget={tokens}]"}


def read(
    lab: Lab, questions: Sequence[Question], specs: Sequence[str], readers: Mapping[str, str], place: Path
) -> Grid:
    """A grid by the maker, which resumes where it was stopped, and asks nothing again."""
    searchers = {spec: method(spec, lab.index, lab.maker) for spec in specs}
    return grid_of(questions, searchers, readers, place, k=50)


def of_paper(lab: Lab, questions: Sequence[Question], place: Path) -> Grid:
    """The grid of the paper's methods, whole and shortened by its own walk."""
    return read(lab, questions, OF_PAPER, PAPER_READERS, place)


def headline(grid: Grid) -> pd.DataFrame:
    """The means of the distinct readers of a grid."""
    return grid.distinct()[HEADLINE].round(2)


def reasoning_share(parts: Analysis) -> pd.DataFrame:
    """How many wrong answers of each configuration stood in the text that was read, and their share."""
    columns = ["reader", "method", "n", "reasoning", "reasoning_share", "reasoning_share_read"]
    return parts.frame()[columns].round(2)


def gold_read(ablator: Ablator) -> pd.DataFrame:
    """The lines of the context that was read which hold a gold answer, or are of a gold passage."""
    attempt, titles = ablator.attempt, {passage.id: passage.title for passage, _ in ablator.attempt.evidence.passages}
    marks = {answer: "an answer" for answer in attempt.question.answers}
    marks |= {titles[name]: "a gold passage" for name in attempt.question.support if titles.get(name)}
    lines = attempt.shown.text.splitlines()
    rows = [(at, clean(line, 300), f"{what}: {name}") for at, line in enumerate(lines, 1)
            for name, what in marks.items() if name.casefold() in line.casefold()]  # fmt: skip
    return pd.DataFrame(rows, columns=["line", "text", "holds"])


def tables(
    grid: Grid, parts: Analysis, diagnosis: Diagnosis, methods: Sequence[str], prompts: Sequence[str]
) -> dict[str, Analysis | pd.DataFrame]:
    """Analyses, which are drawn, and tables by name."""
    return {
        "decomposition": parts, "covered_only": analyses.covered_only(grid), "cost": analyses.cost_quality(grid),
        "by_kind": analyses.decomposition(grid, methods[:1], by=("type", "hops")).frame(),
        "diagnosis": diagnosis.frame(), "grid": grid.table().reset_index(), "compared": grid.compare(prompts[0]),
    }  # fmt: skip


def verdict(
    title: str,
    grid: Grid,
    again: Grid,
    parts: Analysis,
    diagnosis: Diagnosis,
    ablators: Sequence[Ablator],
    index: Index,
) -> Verdict:
    """What must hold of any data and engine, with the numbers of this run.

    * No question failed; no compressed context is longer than its budget, or holds an answer that the whole one lacks.
    * The outcomes of the questions (`parts`) add up, and each wrong answer has a cause (`diagnosis`).
    * All readers of a method read the same evidence, and the grid that was asked `again` is the same.
    * What the queries of the questions looked into (`shown`) were matched with was retrieved."""
    verdict = Verdict(title)
    rows = [row for run in grid.runs.values() for row in run.rows]
    verdict.none("failed questions", sum(row["failure"] is not None for row in rows))
    verdict.none("compressed contexts above their budget", sum(map(_too_long, rows)))
    gained = sum(row["scores"]["coverage:read"] == 1 and row["scores"]["coverage"] == 0 for row in rows)
    verdict.none("answers that are only in the compressed context", gained)
    verdict.none("outcomes that do not add up", sum(map(_unequal, parts.rows)))
    verdict.none("wrong answers without a cause", _wrong(diagnosis) - len(diagnosis.cases))
    verdict.none("evidence that readers of a method do not share", _unshared(rows))
    same = all(run.rows == again.runs[label].rows for label, run in grid.runs.items())
    verdict.check("a grid that is asked again is the same", same, "true", bool)
    verdict.none("matched facts that were not retrieved", sum(_unknown(ablator, index) for ablator in ablators))
    wrong, read, cut = _lost(grid)
    verdict.state(**{"wrong answers": wrong, "that stood in what was read": read, "that were cut by compression": cut})
    for number, ablator in enumerate(ablators, 1):
        tried = [_outcome(row) for row in ablator.tried().to_dict("records")]
        verdict.state(**{f"question {number}": ablator.answer.question, f"question {number} ends": tried})
    return verdict


def seen(grid: Grid, chain: Ablator, cut: Ablator) -> str:
    """What was seen, and whether a query or a shorter context helped. `chain`: a question asked with several prompts;
    `cut`: one read whole and compressed."""
    means = grid.table()
    answered = means["accuracy"].dropna()
    looked = f"Seen: {_sentence(chain)} {_sentence(cut)}"
    if answered.empty:
        return wrapped(looked, "Did it help? There are no gold answers, so nothing says which answers are right.")
    first, best = answered.index[0], answered.idxmax()
    wrong, read, cut = _lost(grid)
    many = sum(1 for row in grid.runs[first[0]].rows if row["method"] == first[1])
    reader = grid.runs[first[0]].config["reading"]["engine"]
    caution = " Rules do not tell prompts apart as a model does: set `engine`." if reader == "rules" else ""
    helped = (
        f"{over(many, f'answered by {reader}')}: the best of {len(answered)} configurations, "
        f"{' / '.join(best)}, is right on {answered[best]:.0%}, and {' / '.join(first)} on {answered[first]:.0%}; of "
        f"{counted(wrong, 'wrong answer')} {read:,} stood in what was read, and {cut:,} were cut by "
        f"compression.{caution}"
    )
    return wrapped(looked, helped)


# -- the parts of the verdict ------------------------------------------------------------------------------------------


def _too_long(row: Mapping[str, Any]) -> bool:
    """Whether a compressed context is above the budget that the label of its compressor names."""
    reading = row["reading"]
    if not (reading and reading["compressor"]):
        return False
    return reading["tokens"] > parse_spec(reading["compressor"])[1]["budget"]


def _unequal(row: Mapping[str, Any]) -> bool:
    """Whether the parts of a row of the decomposition do not add up to it."""
    parts = ("correct_covered", "lucky", "reasoning", "cut", "retrieval")
    return sum(row[part] or 0 for part in parts) != row["n"]


def _wrong(diagnosis: Diagnosis) -> int:
    scores = (row["scores"]["accuracy"] for row in diagnosis.run.rows)
    return sum(score < 1 for score in scores if score is not None)


def _unshared(rows: Sequence[Mapping[str, Any]]) -> int:
    """How many rankings there are beyond one for each question and method."""
    rankings = {(row["question_id"], row["method"], str(row["ranking"])) for row in rows}
    return len(rankings) - len({(row["question_id"], row["method"]) for row in rows})


def _unknown(ablator: Ablator, index: Index) -> int:
    """Facts that the shown query was matched with and that are not among those of the evidence."""
    bindings = ablator.proof.bindings if ablator.proof else ()
    matched = {match.fact.members for binding in bindings for match in binding.matches}
    return len(matched - {fact.members for fact in facts_of(ablator.attempt.evidence, index)})


# -- the parts of the sentences ----------------------------------------------------------------------------------------


def _sentence(ablator: Ablator) -> str:
    """What each setting made of a question."""
    tried = ablator.tried().drop_duplicates(["prompt", "compressed by"])
    return f"{ablator.answer.question!r} ends " + "; ".join(map(_outcome, tried.to_dict("records"))) + "."


def _outcome(row: Mapping[str, Any]) -> str:
    compressed = f", compressed by {row['compressed by']}" if row["compressed by"] else ""
    outcome = f" ({row['outcome']})" if row["outcome"] else ""
    return f"with {row['prompt']} over {row['tokens']:,} tokens{compressed} in {row['answer']}{outcome}"


def _lost(grid: Grid) -> tuple[int, int, int]:
    """Over all configurations: wrong answers, those that stood in what was read, and those that were cut."""
    scores = [row["scores"] for run in grid.runs.values() for row in run.rows]
    wrong = [score for score in scores if score["accuracy"] is not None and score["accuracy"] < 1]
    read = sum(row["coverage:read"] == 1 for row in wrong)
    return len(wrong), read, sum(row["coverage"] == 1 and row["coverage:read"] == 0 for row in wrong)
