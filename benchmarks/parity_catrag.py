"""CatRAG against the official code, question by question and for each of its variants.

    python benchmarks/parity_catrag.py SHARED [--index indexes/musique-parity] [--reference FILE]

SHARED is a folder with `datasets/musique-train-100` and `reference/catrag_musique50.json` (rankings of the official
code, whose requests a table answered); FILE is another file of that form. The same table answers here. Settings are
those of the reference: profile `released`, identity filter, ASCII phrases. Prints agreement per variant as JSON.

Where two phrases tie at the fifth place, the official choice hangs on the interpreter's hash seed; the fact seeds of
these questions come from the reference.
"""

import argparse
import json
import re
from pathlib import Path

import numpy as np

import workbench as wb
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.methods.catrag import CatRAG
from workbench.steps import named_entities, rate_neighbours

SETTINGS = "profile=released,filter=identity,tolerance=1e-11"
VARIANTS = {
    "catrag": "",
    "no_anchoring": ",anchoring=false",
    "no_dynamic_weights": ",dynamic_weights=false",
    "no_key_fact": ",key_facts=false",
    "none_of_three": ",anchoring=false,dynamic_weights=false,key_facts=false",
}


class Table(RulesEngine):
    """Answers as the reference's stub did: entities from its table, scores from its table or its rule."""

    def __init__(self, reference: dict):
        super().__init__()
        self._stop = set(reference["stub_rule"]["stop_words"])
        self._questions = {one["question"]: one for one in reference["questions"]}

    def run(self, step, inputs, *, trace=None):
        answers = {named_entities.OF_QUESTION.name: self._entities, rate_neighbours.STEP.name: self._ratings}
        answer = answers.get(step.name)
        return [answer(value) for value in inputs] if answer else super().run(step, inputs, trace=trace)

    def _entities(self, value) -> Result:
        return Result(named_entities.Output(named_entities=self._questions[value.question]["stub"]["entities"]))

    def _ratings(self, value) -> Result:
        known = {(seed, end): score for seed, end, score, _ in self._questions[value.question]["stub"]["edge_scores"]}
        ratings = [
            rate_neighbours.Rating(
                number=number, name=one.name, score=known.get((value.entity, one.name), self._score(value, one))
            )
            for number, one in enumerate(value.neighbours, 1)
        ]
        return Result(rate_neighbours.Output(ratings=ratings))

    def _score(self, value, neighbour) -> int:
        words = self._words(neighbour.name).union(*(self._words(fact[1]) for fact in neighbour.facts))
        shared = (self._words(value.question) & words) - self._words(value.entity)
        many = len(set(neighbour.facts))
        return (2, min(6, 3 + many), min(9, 6 + many), 10)[min(3, len(shared))]

    def _words(self, text: str) -> set[str]:
        return set(re.findall("[a-z0-9]+", text.lower())) - self._stop


class Tied(CatRAG):
    """Takes the fact seeds of tied questions from the reference."""

    seeds: dict[str, list] = {}  # question → its seeds in the variant
    question = ""

    def walk_distribution(self, question, trace=None):
        self.question = question
        return super().walk_distribution(question, trace)

    def seed_phrases(self, kept, trace):
        if not (seeds := self.seeds.get(self.question)):
            return super().seed_phrases(kept, trace)
        rows = self._facts.phrase_row
        return [(rows[phrase], weight) for phrase, weight, kind, _ in seeds if kind == "fact"]


def measure(shared: Path, folder: Path, reference: Path) -> dict:
    data = wb.load(shared / "datasets" / "musique-train-100")
    index = wb.Index.build(data, wb.engine("rules"), folder, settings={"facts": {"normalise": "ascii"}})
    official = json.loads(reference.read_text())
    engine, results = Table(official), {}
    for name, changed in VARIANTS.items():
        method = wb.method(f"catrag[{SETTINGS}{changed}]", index, engine)
        method.__class__ = Tied
        method.seeds = {one["question"]: one["variants"][name]["seeds"] for one in official["questions"]
                        if one["tie_at_fact_cut"]}  # fmt: skip
        results[name] = [compared(one, one["variants"][name], method) for one in official["questions"]]
    results["hipporag2"] = [
        compared(one, one["variants"]["hipporag2"], wb.method("hipporag2[filter=identity,tolerance=1e-11]", index))
        for one in official["questions"]
    ]
    rows = [row for rows in results.values() for row in rows]
    return {
        "questions": len(official["questions"]),
        "top5_equal": float(np.mean([row["top5_equal"] for row in rows])),
        "variants": {name: summary(rows) for name, rows in results.items()},
        "differing": [{"variant": name, **row} for name, rows in results.items() for row in rows
                      if not row["top5_equal"] or row.get("edges_equal") is False],
    }  # fmt: skip


def compared(question: dict, official: dict, method) -> dict:
    """One question: rankings, scores, seeds, changed edges."""
    evidence = method.retrieve(question["question"], k=len(official["ranking"]))
    ours, scores = [passage for passage, _ in evidence.ranking], dict(evidence.ranking)
    common = [(score, scores[one]) for one, score in zip(official["ranking"], official["scores"]) if one in scores]
    row = {
        "id": question["id"],
        "top5_equal": set(ours[:5]) == set(official["ranking"][:5]),
        "top5_order": ours[:5] == official["ranking"][:5],
        "top20_order": ours == official["ranking"],
        "largest_relative_difference": max(abs(a - b) / max(a, 1e-12) for a, b in common),
    }
    if "seeds" in official:
        seeds = {entity.name: weight for entity, weight in evidence.entities}
        theirs = {name: weight for name, weight, *_ in official["seeds"]}
        row["seeds_equal"] = seeds.keys() == theirs.keys() and bool(
            np.allclose([seeds[name] for name in theirs], list(theirs.values()), rtol=1e-5)
        )
    if "scored_seeds" in official:
        ours = {event.inputs["seed"]: dict(event.scores) for event in evidence.trace.find("rate neighbours")}
        theirs = {one["seed"]: dict(map(tuple, one["scored"])) for one in official["scored_seeds"]}
        row["ratings_equal"] = ours == {seed: theirs[seed] for seed in theirs}
    if "edges" in official:
        edges = evidence.trace.find("edit edges")[0].outputs["edges"]
        theirs = together(official["edges"])
        ours = together(edges)
        row["edges_equal"] = ours.keys() == theirs.keys() and all(
            np.allclose(ours[pair], theirs[pair], rtol=1e-5) for pair in theirs
        )
    return row


def together(edges) -> dict:
    """Parallel edges as one, with the sums of their weights; synonym and relation edges of a pair are one edge of the
    walk."""
    found: dict = {}
    for source, target, _, before, after in edges:
        old = found.get((source, target), (0.0, 0.0))
        found[source, target] = (old[0] + before, old[1] + after)
    return found


def summary(rows: list[dict]) -> dict:
    names = [name for name in rows[0] if name not in ("id", "largest_relative_difference")]
    shares = {name: float(np.mean([row[name] for row in rows])) for name in names}
    return shares | {"largest_relative_difference": max(row["largest_relative_difference"] for row in rows)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--index", type=Path, default=Path("indexes/musique-parity"))
    parser.add_argument("--reference", type=Path)
    given = parser.parse_args()
    reference = given.reference or given.shared / "reference" / "catrag_musique50.json"
    print(json.dumps(measure(given.shared, given.index, reference), indent=1))
