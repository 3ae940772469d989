"""How strongly random walks drift into hubs, and how each mechanism of CatRAG changes this (CatRAG, arXiv 2602.01965,
the analysis of hub bias on 100 random questions of MuSiQue).

Strength is the weighted degree in the static graph, whatever a question edits; the numbers of one walk are those of
`operators.walk_distribution`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from workbench.analyses.base import Analysis, frame_of
from workbench.display import tqdm
from workbench.errors import SettingError
from workbench.evaluation.evaluate import asked_for
from workbench.evaluation.significance import compared, corrected, mean_of
from workbench.index import Index
from workbench.llm.engine import Engine
from workbench.methods import method
from workbench.methods.base import Method
from workbench.operators import walk_distribution as hubs
from workbench.records import Question
from workbench.settings import parse_spec, spec_of

MEASURES = ("strength", "share_top", "share_all")
MECHANISMS = ("anchoring", "dynamic_weights", "key_facts")
STATIC = "static graph"


@dataclass(frozen=True, slots=True, repr=False)
class HubBias(Analysis):
    """Rows, one per method: n (questions with a walk), strength (mean S_ppr over the ten best entity nodes), share_top
    and share_all (mean share of the probability on super hubs, over these ten and over all phrases), expected
    (share_all of a walk without a question), no_walk (questions with a dense ranking instead), impaired (questions with
    failed requests). The last row is the static graph alone, without a question: probability in proportion to strength.

    `differences`: method, against, measure, n, value, baseline, difference, low, high (95 %, paired bootstrap), p
    (paired randomisation test), p_holm (corrected over the table). `walks`: the numbers of each question and method,
    None without a walk."""

    differences: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    walks: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)

    def tables(self) -> dict[str, pd.DataFrame]:
        more = {"Paired differences": frame_of(self.differences)} if self.differences else {}
        return {"": self.frame(), **more}


def hub_bias_specs(spec: str = "catrag", baseline: str = "hipporag2") -> list[str]:
    """The SPECs: the baseline, the method, the method without each of its mechanisms, and without all three.

    >>> hub_bias_specs("catrag[filter=identity]")[2]
    'catrag[filter=identity,anchoring=false]'
    """
    name, settings = parse_spec(spec)
    without = [(mechanism,) for mechanism in MECHANISMS] + [MECHANISMS]
    fewer = [spec_of(name, settings | dict.fromkeys(mechanisms, False)) for mechanisms in without]
    return list(dict.fromkeys([baseline, spec, *fewer]))


def run_hub_bias(
    questions: Iterable[Question],
    index: Index,
    engine: Engine | None = None,
    *,
    spec: str = "catrag",
    baseline: str = "hipporag2",
    progress: bool = True,
) -> HubBias:
    """`hub_bias` of a method with and without each mechanism, against the baseline and against the whole method."""
    methods = [method(hub_bias_spec, index, engine) for hub_bias_spec in hub_bias_specs(spec, baseline)]
    return hub_bias(questions, methods, [method.label for method in methods[:2]], progress=progress)


def hub_bias(
    questions: Iterable[Question],
    methods: Mapping[str, Method] | Sequence[Method],
    against: Sequence[str] | None = None,
    *,
    progress: bool = True,
) -> HubBias:
    """The hub bias of the walks of methods over one index, and its paired differences `against` some of them, by
    default the first. Raises :class:`SettingError` for a method without `walk_distribution`."""
    selected, named = asked_for(questions, methods, None, by="hub_bias")
    graph = _graph_of(named)
    against = list(named)[:1] if against is None else list(against)
    if unknown := [label for label in against if label not in named]:
        raise SettingError(f"against={unknown[0]!r} is not among the methods {', '.join(named)}")
    walks = tuple(_walks(selected, named, progress))
    expected = hubs.hub_bias(graph.strength, graph.strength)
    rows = [_row(label, [walk for walk in walks if walk["method"] == label], expected) for label in named]
    rows.append({**_row(STATIC, (), expected), **_numbers(expected)})
    differences = corrected(list(_differences(walks, list(named), against)))
    notes = tuple(_notes(named, rows))
    return HubBias("Hub bias", tuple(rows), notes, differences, walks, draw="hub_bias")


def _graph_of(methods: Mapping[str, Method]):
    """The graph that all methods walk over."""
    for label, other in methods.items():
        if not hasattr(other, "walk_distribution"):
            raise SettingError(f"{label} has no walk; hub_bias needs `walk_distribution`, as hipporag2 and catrag have")
    first, *others = methods.values()
    if any(other.index is not first.index and other.index.graph != first.index.graph for other in others):
        raise SettingError(
            "the methods use indexes with different graphs, whose node strengths are not comparable; pass methods of "
            "one index"
        )
    return first.index.graph


def _walks(questions: Sequence[Question], methods: Mapping[str, Method], progress: bool) -> Iterator[dict[str, Any]]:
    with tqdm(total=len(questions) * len(methods), desc="walks", unit="walk", disable=not progress) as bar:
        for label, method in methods.items():
            for question in questions:
                walk = method.walk_distribution(question.question)
                bias = walk.hubs if walk.pagerank else None
                yield {"question_id": question.id, "method": label, **_numbers(bias), "fallback": walk.fallback}
                bar.update()


def _numbers(bias: hubs.HubBias | None) -> dict[str, float | None]:
    return {measure: getattr(bias, measure, None) for measure in MEASURES}


def _row(label: str, walks: Sequence[Mapping[str, Any]], expected: hubs.HubBias) -> dict[str, Any]:
    walked = [walk for walk in walks if walk["strength"] is not None]
    return {
        "method": label, "n": len(walked),
        **{measure: mean_of(walk[measure] for walk in walked) for measure in MEASURES},
        "expected": expected.expected, "no_walk": len(walks) - len(walked),
        "impaired": sum(bool(walk["fallback"]) for walk in walked),
    }  # fmt: skip


def _differences(
    walks: Sequence[Mapping[str, Any]], labels: Sequence[str], against: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Each pair of methods once."""
    for at, base in enumerate(against):
        for label in labels:
            if label == base or label in against[:at]:
                continue
            for measure in MEASURES:
                comparison = compared(_scores(walks, label, measure), _scores(walks, base, measure))
                comparison.pop("mcnemar", None)
                if comparison:
                    yield {"method": label, "against": base, "measure": measure, **comparison}


def _scores(walks: Sequence[Mapping[str, Any]], label: str, measure: str) -> dict[str, float]:
    mine = (walk for walk in walks if walk["method"] == label and walk[measure] is not None)
    return {walk["question_id"]: walk[measure] for walk in mine}


def _notes(methods: Mapping[str, Method], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if any(engine.name == "rules" and method.steps for method in methods.values() for engine in method.engines):
        yield "Made with rules, not with a language model."
    yield "Strength and super hubs (the strongest 1 % of phrases) are those of the static graph, not of edited edges."
    yield "The paper does not say over which nodes it takes the share on super hubs, so both readings are shown."
    for row in rows:
        if row.get("no_walk"):
            yield f"{row['method']}: {row['no_walk']:,} questions have a dense ranking and no walk; they are left out."
        if row.get("impaired"):
            yield f"{row['method']}: requests failed for {row['impaired']:,} questions, whose walks are counted."
