"""Notebook 02: checks that a tree of communities is as its numbers say, and whether its agent helped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from workbench.analyses.construction_cost import ConstructionCost, construction_cost
from workbench.data import Dataset
from workbench.evaluation.run import Run
from workbench.evaluation.verdict import Verdict
from workbench.index import Index
from workbench.lessons.sentences import answered, helped, state_run
from workbench.llm.worked import Ask
from workbench.methods.youtu.routed import Routes, Searched
from workbench.methods.youtu.routed import routed as routed
from workbench.notebooks.lab import Absent, Lab
from workbench.operators.groupings import Agreement, compare
from workbench.operators.knowledge_tree import KnowledgeTree
from workbench.operators.regrouping import Division, Weighing, changes, moved, offered, other, rows_of
from workbench.records import Answer, Passage, Question
from workbench.settings import parse_spec
from workbench.views.drawing import Map
from workbench.views.tree_map import community_map, overview_map, palette_of
from workbench.views.tree_widget import Tree

MEASURES = ("recall@5", "all_gold@5")
MU = 0.3  # confidence from which a type is admitted here
STRUCTURE, BAR = (0.1, 0.3, 0.5, 0.7, 0.9), 0.1  # weights of relations; a lower bar of similarity between centres


def levels(index: Index) -> pd.DataFrame:
    """How much the tree holds, level by level."""
    counts = {
        "4 communities": len(index.tree.communities),
        "3 keywords": sum(len(community.keywords) for community in index.tree.communities),
        "2 entities": len(index.schema_graph.names),
        "2 triples": len(index.schema_graph.labels),
        "1 attributes": len(index.schema_graph.attributes),
    }
    return pd.DataFrame({"level": list(counts), "nodes": list(counts.values())}).set_index("level")


def merges(index: Index) -> pd.DataFrame:
    """The pairs of parts that were considered, those that merged first, and what decided each."""
    names = index.schema_graph.names
    rows = [
        (merge.cluster, merge.round, names[merge.left[0]], names[merge.right[0]], merge.overlap, merge.cosine,
         merge.difference, merge.size, merge.reason)
        for merge in sorted(index.tree.merges, key=lambda merge: not merge.merged)
    ]  # fmt: skip
    columns = ["cluster", "round", "part with", "and part with", "relations alike", "cosine", "Δ", "members", "outcome"]
    return pd.DataFrame(rows, columns=columns)


def weights(knowledge: KnowledgeTree) -> pd.DataFrame:
    """The same entities under other weights of their relations, and under a lower bar between centres."""
    weighing, division, rows = Weighing(knowledge), Division.built(knowledge), []
    names = knowledge.graph.names
    for weight in STRUCTURE:
        for bar in sorted({weighing.own.merge_threshold, BAR}):
            regrouped = weighing.weigh(weighing.adjusted(struct_weight=weight, merge_threshold=bar))
            now = Division.built(regrouped)
            alike = compare(division.grouping(names), now.grouping(names, "weighed")).rand
            away = int(moved(division, now).sum())
            rows.append((weight, bar, len(now.names), away, len(changes(division, now)), alike))
    columns = ["relations", "similar from", "communities", "moved", "merged or split", "Rand"]
    return pd.DataFrame(rows, columns=columns)


def agreements(knowledge: KnowledgeTree) -> dict[str, Agreement]:
    """The communities beside each other grouping that the index offers, by its name."""
    mine = Division.built(knowledge).grouping(knowledge.graph.names)
    others = {name: other(knowledge, name) for name in offered(knowledge)}
    # A small corpus may have no cluster, and so no entity in common with the tree.
    shared = {name: grouping for name, grouping in others.items() if mine.group_of.keys() & grouping.group_of.keys()}
    return {name: compare(mine, grouping) for name, grouping in shared.items()}


def agreed(agreements: Mapping[str, Agreement]) -> pd.DataFrame:
    """A row for each other grouping."""
    rows = [
        (name, agreement.groups[1], agreement.entities, agreement.rand, agreement.nmi, *agreement.purity)
        for name, agreement in agreements.items()
    ]
    columns = ["grouping", "groups", "entities", "adjusted Rand", "NMI", "purity of the tree", "purity of the other"]
    return pd.DataFrame(rows, columns=columns).set_index("grouping")


def differences(agreements: Mapping[str, Agreement]) -> pd.DataFrame:
    """The groups in which they differ most."""
    rows = [
        (name, split.grouping, split.title, split.size, split.apart)
        for name, each in agreements.items()
        for split in each.splits
    ]
    return pd.DataFrame(rows, columns=["beside", "of", "group", "entities", "apart"])


def gained(index: Index) -> pd.DataFrame:
    """The types that passages asked for and the seed lacked; none where the data bring the graph."""
    rows = [
        (type_.kind, type_.name, type_.confidence, type_.admitted, len(type_.passages), ", ".join(type_.passages[:3]))
        for type_ in index.schema_graph.evolution
    ]
    columns = ["kind", "name", "confidence", "admitted", "passages", "first asked for by"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values(["admitted", "passages"], ascending=False, ignore_index=True)


def grown(lab: Lab, passages: int = 40) -> Index:
    """The tree of the first passages, read as text: extraction asks for the types that the schema lacks. The bar is
    low, so that a type that one passage asks for is admitted (`MU`)."""
    part = Dataset(f"{lab.data.name}-part", tuple(lab.index.passages.passages[:passages]), (), ())
    return Index.build(
        part, lab.maker, keep=True, layers=("schema_graph", "tree"), settings={"schema_graph": {"mu": MU}}
    )


def cost(index: Index, spec: str) -> ConstructionCost:
    """What the tree of an index costs to build, measured or foreseen."""
    return construction_cost(index, [parse_spec(spec)[0]], beside=[])


def only_by(run: Run | Absent, measure: str = "recall@5") -> pd.DataFrame | Absent:
    """The questions of a run on which methods differ, with the measure of each."""
    if not run:
        return run
    scores = pd.DataFrame({name: run.scores(measure, name) for name in run.methods})
    differing = scores[scores.nunique(axis=1) > 1]
    texts = {question.id: question.question for question in run.questions}
    return differing.assign(question=[texts[name] for name in differing.index]).rename_axis(measure)


def saved(lab: Lab, run: Run | Absent) -> Tree | Absent:
    """The trees of a run, from its folder."""
    return run and Tree(run.folder, lab.data.questions, index=lab.index)


def maps(knowledge: KnowledgeTree) -> dict[str, Map]:
    """The maps of all communities, beside Leiden's, and of the largest community."""
    division, names = Division.built(knowledge), knowledge.graph.names
    leiden = {"leiden": rows_of(other(knowledge, "leiden"), names)}
    palettes = {"map": ("type", {}), "leiden": ("leiden", leiden)}
    drawings = {
        name: overview_map(knowledge, division, palette_of(knowledge, division, *colours))
        for name, colours in palettes.items()
    }
    return drawings | ({"largest": community_map(knowledge, 0)} if knowledge.tree.communities else {})


def tables(
    index: Index, agreements: Mapping[str, Agreement], routes: Routes, **more: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """The tables of the notebook by name."""
    return {"levels": levels(index), "merges": merges(index), "agreement": agreed(agreements),
            "differences": differences(agreements), "routes": taken(routes), "rounds": rounds(routes),
            **more}  # fmt: skip


def taken(routes: Routes) -> pd.DataFrame:
    """For each route of each search: the triples that it brought, those that fusion kept, and those among them that no
    other route brought."""
    rows = [line for search in routes.searches for line in _taken(search)]
    return pd.DataFrame(rows, columns=["query", "origin", "route", "brought", "kept", "kept by it alone"])


def _taken(search: Searched) -> Iterator[tuple]:
    by_route = {route.route: {fact[:3] for fact in route.triples} for route in search.routes}
    fused = {fact[:3] for fact in search.triples}
    for name, facts in by_route.items():
        rest = set().union(*(other for route, other in by_route.items() if route != name))
        yield search.query, search.origin, name, len(facts), len(facts & fused), len((facts & fused) - rest)


def rounds(routes: Routes) -> pd.DataFrame:
    """The agent's rounds."""
    rows = [(round.number, round.thought, round.query, round.answer, round.stopped) for round in routes.rounds]
    return pd.DataFrame(rows, columns=["round", "thought", "next query", "answer", "ended"]).set_index("round")


def verdict(
    title: str,
    knowledge: KnowledgeTree,
    passages: Sequence[Passage],
    routes: Routes,
    *,
    run: Run | None = None,
    saved: Tree | None = None,
    failed: Answer | None = None,
    ask: Ask | None = None,
) -> Verdict:
    """What must hold of any data and engine, with the numbers of this run.

    * Communities are a partition: no entity is in two, keywords and centres are members, and every entity of a passage
      leads back to it.
    * Every merge is allowed by its own numbers, and detection with the settings of the index finds the same again.
    * Fusion keeps nothing that no route brought.
    * The question that one search leaves open ends as its `ask` says.
    * No question of the `run` failed, and its traces, `saved`, end in the rankings of its rows."""
    verdict, tree = Verdict(title), knowledge.tree
    division, weighing = Division.built(knowledge), Weighing(knowledge)
    mine = division.grouping(knowledge.graph.names)
    members = [row for community in tree.communities for row in community.members]
    strangers = sum(
        not {community.centre, *community.keywords} <= set(community.members) for community in tree.communities
    )
    elsewhere = int((Division.built(weighing.weigh(weighing.own)).groups != division.groups).sum())
    unplaced = sum(_unplaced(knowledge, passage) for passage in passages[:500])
    verdict.none("entities in more than one community", len(members) - len(set(members)))
    verdict.none("keywords and centres that are no members", strangers)
    verdict.none("entities that do not lead back to their passage", unplaced)
    verdict.none("merges that their own numbers do not allow", _unlike(knowledge, weighing))
    verdict.none("entities that detection with the index's settings puts elsewhere", elsewhere)
    verdict.check("agreement of the communities with themselves", compare(mine, mine).rand, "1", lambda n: n == 1)
    verdict.none("kept triples that no route brought", sum(map(_unsourced, routes.searches)))
    if failed and ask:
        ended = failed.text or "(abstained)"
        verdict.check("the failure ends as was written", ended, ask.answer, lambda answer: answer == ask.answer)
    if run and saved:
        rankings = {row["question_id"]: row["ranking"] for row in run.rows if row["method"] == run.methods[-1]}
        read = {name: saved.ask(name, run.methods[-1]) for name in rankings}
        differing = sum([list(pair) for pair in read[name].ranking] != ranking for name, ranking in rankings.items())
        verdict.none("saved traces with another ranking than the run's", differing)
        state_run(verdict, run)
    for name, agreement in agreements(knowledge).items():
        verdict.state(**{f"{name}: rand": agreement.rand, f"{name}: nmi": agreement.nmi})
    verdict.state(communities=len(tree.communities), unnamed=len(tree.failures), rounds=len(routes.rounds))
    verdict.state(question=routes.question, ended=routes.stopped)
    return verdict


def seen(question: Question, answer: Answer, routes: Routes, knowledge: KnowledgeTree, run: Run | None) -> str:
    """Two sentences: how the question went through the tree, and whether the agent's searches helped."""
    entities, made = len(knowledge.graph.names), len(knowledge.tree.communities)
    searches = 1 + sum(bool(round.query) for round in routes.rounds)
    took = f"{searches} rounds of search" if searches > 1 else "one round of search"
    ending = f"{question.question!r} {answered(question, answer.text)}, after {took} in a tree of {entities:,} entities"
    return f"{ending} and {made:,} communities.\n{helped(run, MEASURES)}"


def _unplaced(knowledge: KnowledgeTree, passage: Passage) -> int:
    """Entities of a passage whose own place does not lead back to it."""
    here = knowledge.passage(passage.id)
    return sum(passage.id not in knowledge.entity(row).passages for row, *_ in here.entities)


def _unlike(knowledge: KnowledgeTree, weighing: Weighing) -> int:
    """Merges that contradict their numbers."""
    relations, meanings = weighing.own.weights
    return sum(
        merge.merged != (merge.reason == "merged")
        or (
            merge.merged
            and round(relations * merge.overlap + meanings * merge.cosine, 6) < weighing.own.merge_threshold
        )
        for merge in knowledge.tree.merges
    )


def _unsourced(search: Searched) -> int:
    """Triples that fusion kept and no route of the query brought."""
    return len({fact[:3] for fact in search.triples} - {fact[:3] for route in search.routes for fact in route.triples})
