"""What a method gives, in a form that outlives changes of shape: rankings, scores, answers and the course of the trace,
without keys, hashes, prompts and seconds.

    python tests/contract/canonical.py      write results.jsonl anew, after a change that is meant

Scores count to five significant digits. Processors differ in the last bits, so items of the same score may change
places, and at the end of a list one may stand for another of its score. UMAP makes other clusters of other last bits,
so summaries are clustered by principal components (`PORTABLE`)."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.index import Index
from workbench.testing.contract import OVER_HASHES
from workbench.testing.data import HashEncoder
from workbench.trace import Trace

HERE = Path(__file__).parent
RESULTS = HERE / "results.jsonl"
TYPED = HERE.parent / "domains" / "railways"
K = 10
SHOWN = 10  # entities, facts, paths and reports of an evidence that are compared
SAME = 1e-4  # of a score: a difference in the sixth digit, which may round to the next fifth one
PORTABLE = {"summaries": {"reduction": "pca"}}  # settings of layers that are the same on any processor
PASSAGES = (  # over Meridian by rules
    "dense", "bm25", "hipporag2", "hipporag2[profile=released]", "hipporag2[profile=paper]", "catrag",
    "catrag[profile=released]", "raptor", "raptor[mode=traversal]", "graphrag", "graphrag[community=true]", "lightrag",
    "lightrag[mode=hybrid]", "lightrag[mode=naive]", "lightrag[profile=early,mode=hybrid]", "pathrag",
    "pathrag[profile=paper]", "dotrag", "ket_rag", "ket_rag[profile=released]", "ket_rag[profile=thesis]", "youtu",
    "youtu[profile=released]", OVER_HASHES["gfm_rag"], "ircot", "ircot[profile=original]", "irgs", "gcot", "tog",
    "think_on_graph", "graph_cot", "bdtr", "bdtr[profile=paper]", "none", "long_context[tokens=2000]", "rrf", "rerank",
    "hipporag1", "agentic", "linearrag", "linearrag[profile=paper]", "e2graphrag", "g_retriever",
)  # fmt: skip
GRAPH = ("dotrag", "dotrag[profile=paper]", "lightrag[mode=hybrid]", "pathrag", "ball", "ball[hops=2]", "hipporag2")
QUESTIONS = {"meridian": ("mer-q02", "mer-q03"), "railways": ("railways-03", "railways-14")}

Row = dict[str, Any]


def rows(meridian: Index, railways: Index) -> Iterator[Row]:
    """What each method gives for each question, with the answer of the reader `direct`."""
    for index, specs in ((meridian, PASSAGES), (railways, GRAPH)):
        name = index.manifest["data"]["name"]
        asked = {one.id: one for one in wb.load(name if name == "meridian" else TYPED).questions}
        rules = wb.engine("rules")
        reader = wb.reader("direct", rules)
        for spec in specs:
            method = wb.method(spec, index, rules)
            for question in QUESTIONS[name]:
                trace = Trace()
                evidence = method.retrieve(asked[question].question, K, trace=trace)
                answer = reader.read(asked[question].question, evidence, trace=trace)
                found = {**canonical(evidence), "answer": answer.text, "abstained": answer.abstained}
                yield {"data": name, "method": spec, "question": question, **found, "trace": course(trace)}


def canonical(evidence: wb.Evidence) -> Row:
    context = evidence.context
    tables = ("entities", "relations", "sources", "chunks", "paths")
    return {
        "scale": evidence.scale,
        "passages": [[one.id, _digits(score)] for one, score in evidence.passages],
        "entities": [[one.name, _digits(score)] for one, score in evidence.entities[:SHOWN]],
        "facts": [[" | ".join(one.members), _digits(score)] for one, score in evidence.facts[:SHOWN]],
        "paths": [[" > ".join((*one.nodes, *one.relations)), _digits(score)] for one, score in evidence.paths[:SHOWN]],
        "reports": [[one.title or one.text[:60], _digits(score)] for one, score in evidence.reports[:SHOWN]],
        "selected": evidence.selected,
        "fallback": evidence.fallback,
        "context": context and {"layout": context.layout, **{name: len(getattr(context, name)) for name in tables}},
    }


def course(trace: Trace) -> list[list[Any]]:
    """Of each event the parent, the kind, the step, what it says in plain values (of lists their lengths), and whether
    it scores something: how much may depend on the last bits, where items are cut between equals."""
    return [
        [event.parent, event.kind, event.step, _plain(event.inputs), _plain(event.outputs), bool(event.scores)]
        for event in trace.events
    ]


def _plain(values: Mapping[str, Any]) -> Row:
    kept = {}
    for name, value in values.items():
        if isinstance(value, float):
            kept[name] = _digits(value)
        elif isinstance(value, list | tuple | dict):
            kept[name] = len(value)
        elif value is None or isinstance(value, bool | int) or len(str(value)) <= 80:
            kept[name] = value
    return kept


def _digits(number: float) -> float:
    return float(f"{number:.5g}")


def differences(before: Any, now: Any, at: str = "") -> Iterator[str]:
    """Where two rows differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in before.keys() | now.keys():
            if name in before and name in now:
                yield from differences(before[name], now[name], f"{at}.{name}".lstrip("."))
            else:
                yield f"{at}.{name}: {'gone' if name in before else 'new'}"
    elif _ranked(before) and _ranked(now):
        yield from (f"{at}: {said}" for said in _otherwise(before, now))
    elif isinstance(before, list) and isinstance(now, list):
        if len(before) != len(now):
            yield f"{at}: {len(before)} entries became {len(now)}"
        for number, pair in enumerate(zip(before, now)):
            yield from differences(*pair, f"{at}[{number}]")
    elif not (before == now or (_number(before) and _number(now) and _same(before, now))):
        yield f"{at}: {before!r} became {now!r}"


def _ranked(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, list) and len(one) == 2 and isinstance(one[0], str) and _number(one[1]) for one in value
    )


def _otherwise(before: Sequence[Sequence], now: Sequence[Sequence]) -> Iterator[str]:
    """How a ranking differs from another but for the order of equal scores."""
    if len(before) != len(now):
        yield f"{len(before)} items became {len(now)}"
        return
    last = before[-1][1] if before else 0.0
    for place, ((name, score), (other, scored)) in enumerate(zip(before, now)):
        before_at = [had for one, had in before if one == other] or [last]
        if not _same(score, scored):
            yield f"at place {place}, {name!r} had {score}, and {other!r} has {scored}"
        elif not any(_same(had, scored) for had in before_at):
            yield f"{other!r} had {before_at[0]} and has {scored}"


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=SAME, abs_tol=1e-6)


def built(folder: Path) -> tuple[Index, Index]:
    """(Meridian, the typed graph), by rules and with the hash encoder, whose vectors are the same on any processor."""

    def build(data: wb.data.Dataset, place: str, *layers: str) -> Index:
        return Index.build(
            data, wb.engine("rules"), folder / place, encoder=HashEncoder(), layers=["typed", *layers],
            settings=PORTABLE if layers else {}, progress=False,
        )  # fmt: skip

    return build(wb.load("meridian"), "meridian", "summaries"), build(wb.load(TYPED), "railways")


def recorded() -> list[Row]:
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(*built(Path(place))))
    RESULTS.write_text(text, encoding="utf-8")
