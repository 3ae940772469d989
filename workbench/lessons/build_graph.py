"""Notebook 01: whether the index and the retrieval are sound, and whether the graph helped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from workbench import errors
from workbench.evaluation.agreement import Agreement, compare_extractions
from workbench.evaluation.endings import Endings
from workbench.evaluation.evaluate import evaluate
from workbench.evaluation.run import Run
from workbench.evaluation.verdict import Verdict
from workbench.index import Index, chroma
from workbench.lessons.sentences import answered, decided, state_run
from workbench.methods import Method, method
from workbench.notebooks.lab import Absent, Lab
from workbench.operators.checkup import Checkup
from workbench.operators.neighbourhood import Subgraph
from workbench.operators.walk_distribution import WalkDistribution, walk_subgraph
from workbench.records import Answer, Evidence, Question
from workbench.text import counted
from workbench.views.index import facts_by

CURATED = "curated"
MEASURE = "all_gold@5"  # the reader reads five passages
_GRAPH = {
    "better": "The graph helped.",
    "worse": "The graph did harm.",
    "undecided": "So many questions do not decide whether the graph helps.",
    "": "These are too few questions to say whether the graph helped.",
}


def verdict(
    title: str,
    built: Index,
    evidence: Evidence,
    checkup: Checkup,
    *,
    run: Run | None = None,
    walk: WalkDistribution | None = None,
    fails: Endings | None = None,
) -> Verdict:
    """What any data set should pass: the index on disk is the one in memory and lacks nothing, a ranking is sorted, its
    trace has every stage, no question failed, and worked questions end as their files say. The counts, the means of the
    run and the hub bias of the walk are facts of the verdict, so that a regression run finds what moved."""
    checks, passages = Verdict(title), len(built.passages.passages)
    scores = [score for _, score in evidence.ranking]
    reopened = Index.open(built.folder)
    checks.check("the index opens again with the same graph", reopened.counts() == built.counts(), "true", bool)
    checks.check("passages without a fact", 1 - len(set(built.facts.stated[0])) / passages, "< 0.2", lambda n: n < 0.2)
    checks.none("failed extractions", built.manifest["layers"]["extractions"]["failures"])
    checks.check("scores fall along the ranking", scores == sorted(scores, reverse=True), "true", bool)
    checks.check("events in the trace", len(evidence.trace), "> 3", lambda n: n > 3)
    state_run(checks, run)
    if fails:
        checks.none("worked configurations that end otherwise", len(fails.otherwise))
    checks.state(**built.counts(), warnings=list(checkup.warnings))
    if walk and walk.pagerank:
        checks.state(**{f"hub bias, {name}": value for name, value in walk.hubs._asdict().items()})
    return checks


class Elsewhere(NamedTuple):
    """The same retrieval on the facts of another maker: its index, the run, and how far the facts agree."""

    index: Index
    run: Run
    agreement: Agreement


def on_other_facts(lab: Lab, run: Run | Absent, specs: Sequence[str]) -> Elsewhere | Absent:
    """Retrieval as in `run`, on facts by the rules where those of the lab are curated, else on the curated ones."""
    if not run or CURATED not in lab.data.offers:
        return Absent("The data bring no curated facts with questions, so facts of two makers cannot be compared.")
    curated = lab.index.extraction == CURATED
    second = Index.build(lab.data, lab.maker, extraction=None if curated else CURATED, keep=True)
    there = evaluate(run.questions, [method(spec, second, lab.maker) for spec in specs])
    if curated:
        return Elsewhere(second, there, compare_extractions(second, lab.index, (there, run)))
    return Elsewhere(second, there, compare_extractions(lab.index, second, (run, there)))


def beside(lab: Lab, elsewhere: Elsewhere | Absent, passages: Sequence[str]) -> pd.DataFrame | Absent:
    """What both makers state in these passages, side by side."""
    if not elsewhere:
        return Absent("There are facts of one maker alone.")
    both = {
        facts_by(built_index.facts_by): _stated(built_index, passages) for built_index in (lab.index, elsewhere.index)
    }
    return pd.DataFrame({name: pd.Series(facts, dtype=object) for name, facts in both.items()}).fillna("")


def _stated(index: Index, passages: Sequence[str]) -> list[str]:
    rows = {row for row, passage in enumerate(index.passages.passages) if passage.id in passages}
    stated = {fact for passage, fact in zip(*index.facts.stated) if passage in rows}
    return sorted(" – ".join(index.facts.facts[fact]) for fact in stated)


def walked(searcher: Method, question: str) -> tuple[WalkDistribution | Absent, Subgraph | Absent]:
    """The walk of a method and the picture of where it went."""
    if not hasattr(searcher, "walk_distribution"):
        return (Absent(f"{searcher.label} walks on no graph, so there is no walk to see."),) * 2
    walk = searcher.walk_distribution(question)
    return walk, walk_subgraph(walk, 20)


def deciding(walk: WalkDistribution | Absent, passages: Sequence[str]) -> pd.DataFrame | Absent:
    """The facts that lead from the seeds of a walk into these passages, by the weight of their seeds: what decides
    which passages the walk reaches."""
    if not (walk and walk.seeds and passages):
        return Absent("Without a walk and gold passages, no edge can be named that decided the ranking.")
    index, weight = walk.index, {walk.index.facts.phrases[row]: share for row, share in walk.seeds}
    rows = []
    for at, fact in zip(*index.facts.stated):
        subject, relation, object = index.facts.facts[fact]
        if (name := index.passages.passages[at].id) in passages:
            rows.append((subject, relation, object, name, max(weight.get(subject, 0), weight.get(object, 0))))
    columns = ["subject", "relation", "object", "stated in", "weight of its seed"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame[frame.iloc[:, 4] > 0].sort_values(columns[4], ascending=False, ignore_index=True).head(8)


def facts_in_chroma(
    built: Index, question: str, where: Mapping[str, Any] | None = None, k: int = 5
) -> pd.DataFrame | Absent:
    """The facts nearest to a question in the Chroma collection of an index, of those that fit a filter of Chroma's on
    `subject`, `relation` and `object`; by default, those of the subject of the nearest fact."""
    if not errors.has_extra("chroma"):
        return Absent(errors.lacking_extra("chroma"))
    vector = built.encode_query(question, "facts")
    where = where or {"subject": built.facts.facts[int((built.facts.fact_vectors @ vector).argmax())][0]}
    client = chroma.derive(built, ["facts"])
    collection = client.get_collection(chroma.collection_name(built, "facts"), embedding_function=None)
    nearest = collection.query(
        query_embeddings=[vector], where=dict(where), n_results=k, include=["metadatas", "distances"]
    )
    rows = pd.DataFrame(nearest["metadatas"][0], columns=["subject", "relation", "object"])
    return rows.assign(cosine=[round(1 - distance, 3) for distance in nearest["distances"][0]])


def chroma_agreement(built: Index, questions: Sequence[Question], k: int = 10) -> chroma.StoreAgreement | Absent:
    """How many of the k passages nearest to the questions by exact search Chroma finds."""
    if not errors.has_extra("chroma"):
        return Absent(errors.lacking_extra("chroma"))
    return chroma.agreement(built, [question.question for question in questions], k)


def seen(
    question: Question,
    answer: Answer,
    evidence: Evidence,
    dense: Evidence,
    built: Index,
    run: Run | None = None,
    elsewhere: Elsewhere | None = None,
) -> str:
    """Two sentences: what the graph did for the question, and over all questions of a run, whose first method is the
    baseline and whose second walks over the graph of `built`."""
    return f"{_question_sentence(question, answer, evidence, dense)}\n{_all(built, run, elsewhere)}"


def _question_sentence(question: Question, answer: Answer, evidence: Evidence, dense: Evidence) -> str:
    ends = f"the reading {answered(question, answer.text)}"
    if not question.support:
        return f"Without gold passages nothing says which ranking of {question.question!r} is better; {ends}."
    ours, theirs = (_last(ranked, question) for ranked in (evidence, dense))
    moved = "the same" if ours == theirs else "better" if ours < theirs else "worse"
    return (
        f"{question.question!r} rests on {counted(len(question.support), 'passage')}; {dense.method} has the last of "
        f"them on {_rank(theirs)} and {evidence.method} on {_rank(ours)}, which is {moved}; {ends}."
    )


def _last(evidence: Evidence, question: Question) -> float:
    """The rank of the last gold passage, infinite if one is missing."""
    ranks = {passage: rank for rank, (passage, _) in enumerate(evidence.ranking, 1)}
    return max(ranks.get(passage, float("inf")) for passage in question.support)


def _rank(rank: float) -> str:
    return "no rank" if rank == float("inf") else f"rank {rank:,.0f}"


def _all(built: Index, run: Run | None, elsewhere: Elsewhere | None) -> str:
    compared = run.compare(measures=[MEASURE]) if run else ()
    if not len(compared):
        return "Without questions with gold passages, whether the graph helped is not measured."
    row = compared.iloc[0]
    interval = f" [{row['low']:+.3f}, {row['high']:+.3f}]" if decided(row) else ""
    apart = f"a difference of {row['difference']:+.3f}{interval}"
    there = ""
    if elsewhere:
        there = f"; {elsewhere.run.table().loc[row['method'], MEASURE]:.3f} with {facts_by(elsewhere.index.facts_by)}"
    return (
        f"Over {counted(int(row['n']), 'question')}, {MEASURE} of {row['baseline']} is {row['baseline_value']:.3f} and "
        f"that of {row['method']} {row['value']:.3f} with {facts_by(built.facts_by)}, {apart}{there}. "
        f"{_GRAPH[decided(row)]}"
    )
