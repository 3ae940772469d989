"""A check-up of a graph: its counts and shape next to those of published graphs, and warnings in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple
from unicodedata import east_asian_width

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from workbench import places
from workbench.encoding.similarity import top
from workbench.index import Index
from workbench.operators.walk_distribution import super_hubs
from workbench.records import Record
from workbench.text import apart, storable

PUBLISHED = places.PACKAGE / "published" / "graphs.csv"
SHOWN = 10  # hubs and examples that are listed
LONG = 12  # words from which on a phrase is a clause rather than a name
PRONOUNS = frozenset(
    ("he", "she", "it", "they", "we", "you", "this", "that", "these", "those", "him", "her", "them", "who", "which")
)


class Hub(NamedTuple):
    """`strength` is the weighted degree in the walk, `share` the part of all phrases' strength."""

    phrase: str
    strength: float
    share: float
    degree: int
    passages: int


class Components(NamedTuple):
    """Connected parts of a graph: how many, and the share of its nodes in the largest."""

    edges: str
    count: int
    largest: float


@dataclass(frozen=True, slots=True, repr=False)
class Checkup(Record):
    """`facts_by`: who extracted the facts. `measured`: numbers by name. `isolated`: ids of the first passages that
    state no fact. `warnings`: what looks wrong, why it matters, and what to do."""

    name: str
    measured: dict[str, float]
    hubs: tuple[Hub, ...]
    components: tuple[Components, ...]
    isolated: tuple[str, ...]
    warnings: tuple[str, ...]
    facts_by: tuple[str, ...] = ()

    def beside_published(self) -> pd.DataFrame:
        """This graph's counts and ratios next to those of published graphs; NaN if a source does not state them."""
        ours = {name: self.measured[name] for name in ("passages", "phrases", "facts", "synonyms")}
        first = pd.DataFrame([{"graph": storable(self.name), "source": "this index", **ours}])
        frame = pd.concat([first, published()])
        return frame.assign(
            facts_per_passage=frame["facts"] / frame["passages"],
            phrases_per_passage=frame["phrases"] / frame["passages"],
            synonyms_per_phrase=frame["synonyms"] / frame["phrases"],
        ).reset_index(drop=True)


@cache
def published() -> pd.DataFrame:
    """Counts of published graphs; `synonyms` are directed entries. The paper's extracted edges count as facts."""
    return pd.read_csv(PUBLISHED)


def checkup(index: Index) -> Checkup:
    """Check the graph of an index. Needs no engine and no encoder."""
    graph, facts, passages = index.graph, index.facts, index.passages.passages
    strength = graph.strength
    relations = np.diff(graph.undirected["relation"].indptr)[: graph.phrases]
    silent = np.setdiff1d(np.arange(len(passages)), facts.stated[0])
    total = strength.sum()
    hubs = tuple(
        Hub(facts.phrases[row], float(strength[row]), float(strength[row] / total) if total else 0.0,
            int(graph.degrees[row]), int(graph.passages_of[row]))
        for row in top(strength, SHOWN)
    )  # fmt: skip
    pairs = {kind: part.nnz // 2 for kind, part in graph.undirected.items()}
    words = [apart(phrase).split() for phrase in facts.phrases]
    measured = {
        "passages": len(passages),
        "phrases": graph.phrases,
        "facts": len(facts.facts),
        "synonyms": graph.synonym.nnz,
        **{f"{kind} pairs": count for kind, count in pairs.items()},
        "synonym share of edges": _share(pairs["synonym"], sum(pairs.values())),
        "median degree of a phrase": float(np.median(graph.degrees[: graph.phrases])) if graph.phrases else 0.0,
        "highest degree of a phrase": int(graph.degrees[: graph.phrases].max(initial=0)),
        "strength on the top 1 % of phrases": _share(strength[super_hubs(strength)].sum(), total),
        "passages without a fact": _share(len(silent), len(passages)),
        "phrases in one passage only": _share((graph.passages_of == 1).sum(), graph.phrases),
        "phrases joined to no other by a fact": _share((relations == 0).sum(), graph.phrases),
        "phrases that are pronouns": _share(sum(len(w) == 1 and w[0] in PRONOUNS for w in words), graph.phrases),
        f"phrases of more than {LONG} words": _share(sum(len(w) > LONG for w in words), graph.phrases),
    }
    components = tuple(_components(graph.undirected, graph.phrases))
    return Checkup(
        index.name,
        measured,
        hubs,
        components,
        tuple(passages[row].id for row in silent[:SHOWN]),
        (*index.warnings, *_warnings(measured, hubs, components)),
        index.facts_by,
    )


def _components(parts: dict[str, sp.csr_array], phrases: int) -> Iterator[Components]:
    among = {
        "facts, phrases only": parts["relation"][:phrases][:, :phrases],
        "facts and synonyms, phrases only": (parts["relation"] + parts["synonym"])[:phrases][:, :phrases],
        "all edges, with passages": parts["relation"] + parts["synonym"] + parts["context"],
    }
    for edges, matrix in among.items():
        count, label = connected_components(matrix, directed=False)
        yield Components(edges, int(count), _share(np.bincount(label).max(initial=0), matrix.shape[0]))


def _warnings(measured: dict[str, float], hubs: tuple[Hub, ...], components: tuple[Components, ...]) -> Iterator[str]:
    """Warnings by rules of thumb, whose limits the published graphs satisfy; none of a graph without facts, which the
    index itself warns of."""
    if not measured["facts"]:
        return
    if measured["passages without a fact"] > 0.05:
        yield (
            f"{measured['passages without a fact']:.0%} of the passages state no fact: a walk reaches them only "
            "through their own weak seed. See .isolated; tables, lists and fragments are the usual reason."
        )
    if measured["facts"] / measured["passages"] < 3:
        yield (
            f"{measured['facts'] / measured['passages']:.1f} facts a passage; published graphs have 9 to 12. Passages "
            "may be very short, or the extraction finds little."
        )
    if measured["synonym share of edges"] > 0.9:
        yield (
            f"{measured['synonym share of edges']:.0%} of the edges are synonyms; facts hardly count in a walk. A "
            "higher synonyms.threshold suits this encoder better."
        )
    if hubs and hubs[0].share > 0.03:
        yield (
            f"{hubs[0].phrase!r} alone has {hubs[0].share:.0%} of the strength of all phrases and draws walks of any "
            "question. Is it a name, or a word that the extraction should leave out?"
        )
    if short := [hub.phrase for hub in hubs if _width(hub.phrase) <= 2]:
        yield (
            f"{', '.join(map(repr, short))} among the hubs: a piece of names rather than a name, it joins passages "
            "that have nothing in common."
        )
    if components[-1].largest < 0.8:
        yield (
            f"The largest connected part holds {components[-1].largest:.0%} of the nodes, in {components[-1].count:,} "
            "parts: a walk cannot leave its part. The passages share few names, or name the same things differently."
        )
    if measured["phrases that are pronouns"] > 0.002:
        yield "Pronouns are nodes: passages that have nothing in common are joined by them. The extraction should name."
    if measured[f"phrases of more than {LONG} words"] > 0.1:
        share = measured[f"phrases of more than {LONG} words"]
        yield f"{share:.0%} of the phrases have more than {LONG} words: clauses, which no other passage will repeat."


def _width(phrase: str) -> int:
    """The number of letters; one of Chinese or Japanese script counts as two, because it conveys about as much."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in phrase)


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0
