"""Layer `communities`: groups of entities that the facts join closely, within one another, and a report on each
(Microsoft GraphRAG).

The entity graph is undirected: an edge joins two phrases that a fact joins, and weighs the strengths that profiles
give their relations or, without any, the number of passages that state such facts. Reports are written from the finest
level up, by the Step `community_report`: each on the relationships inside its community, those of well-connected
entities first; where these are too many, reports on its parts stand in for what is inside these parts.

Reports cost money: those that stand are reused by their context (`journal.py`). Without an engine the rules write what
is missing; `made_by` names everyone who wrote. A report that failed is counted and left out of the contexts above it;
the next build of the layer retries it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from pydantic import Field

from workbench import tokens
from workbench.index import leiden
from workbench.index.facts import FactsLayer
from workbench.index.journal import Journal, counts, maker, read, reusable_of_models, write_lines
from workbench.index.layer import Build, Layer
from workbench.index.passages import PassagesLayer
from workbench.index.profiles import Phrased, phrased
from workbench.index.store import map_vectors, read_columns, rows_of, write_rows
from workbench.index.vectors import encode_to
from workbench.records import Entity
from workbench.settings import Number, Positive, validated
from workbench.steps import reporting
from workbench.text import text_hash

LONGEST = 500  # tokens of a description in a context, as many as the released code has words in one
NAME = 50  # tokens of a name in a context
LEAST = 2000  # tokens of a context, so that one relationship with both its ends always fits
_NUMBER = pa.int32()
_COMMUNITIES = pa.schema({
    "id": _NUMBER, "level": _NUMBER, "parent": _NUMBER, "members": pa.list_(_NUMBER), "whole": pa.bool_(),
})  # fmt: skip
_ENTITIES = pa.schema(dict.fromkeys(("name", "type", "description"), pa.string()))


@validated
class Settings:
    """Defaults of the released code, but for `use_lcc`, which is true there: many entities of a corpus of
    short passages lie outside the largest component, and would have no community.

    `max_size` members, beyond which a community is split; `resolution`, `randomness`, `iterations` (negative: until
    nothing changes) and `seed` of Leiden. Communities of `min_members` or more get a report, written from at most
    `report_tokens` tokens. `descriptions`: an entity is described by its `profiles`, where it has none by up to
    `described_by` of its facts; always by its `facts`; or by its name alone (`none`)."""

    max_size: Positive = 10
    resolution: Annotated[Number, Field(gt=0)] = 1.0
    randomness: Annotated[Number, Field(gt=0)] = 0.001
    iterations: int = 1
    seed: int = 0xDEADBEEF
    use_lcc: bool = False
    min_members: Positive = 3
    report_tokens: Annotated[int, Field(ge=LEAST, title="whole number of tokens")] = 8000
    descriptions: Literal["profiles", "facts", "none"] = "profiles"
    described_by: Positive = 10


class Community(NamedTuple):
    """`members` are phrase rows; `parent` is -1 at level 0, the coarsest; `whole`: too large, but without parts."""

    id: int
    level: int
    parent: int
    members: tuple[int, ...]
    whole: bool


class EntityGraph(NamedTuple):
    """pairs    int (m, 2): phrase rows that at least one fact joins, smaller first, sorted
    weights  float (m,)
    of_fact  int (n_f,): the pair that a fact joins, -1 where its ends are one phrase
    degrees  int (n_e,): neighbours of a phrase
    """

    pairs: np.ndarray
    weights: np.ndarray
    of_fact: np.ndarray
    degrees: np.ndarray

    @classmethod
    def of(cls, facts: FactsLayer, profiles: Phrased | None = None) -> EntityGraph:
        n = len(facts.phrases)
        ends = np.sort(np.c_[facts.subjects, facts.objects], axis=1)
        apart = ends[:, 0] != ends[:, 1]
        pairs, joined = np.unique(ends[apart], axis=0, return_inverse=True)
        of_fact = np.full(len(ends), -1)
        of_fact[apart] = joined.ravel()
        stated = of_fact[facts.stated[1]]
        weights = np.bincount(stated[stated >= 0], minlength=len(pairs)).astype(float)
        for row, strength in _strengths(facts, profiles, pairs):
            weights[row] = strength
        return cls(pairs, weights, of_fact, np.bincount(pairs.ravel(), minlength=n))

    @property
    def ranks(self) -> np.ndarray:
        """Combined degree per pair, int (m,): how well connected both ends are together."""
        return self.degrees[self.pairs].sum(axis=1)


def _strengths(facts: FactsLayer, profiles: Phrased | None, pairs: np.ndarray) -> Iterator[tuple[int, float]]:
    """(pair, sum of its strengths) for the pairs whose profiles give any; only positive numbers count."""
    for row, (first, other) in enumerate(pairs.tolist() if profiles is not None else ()):
        weights = [profile.weight for profile in profiles.between(facts.phrases[first], facts.phrases[other])]
        given = [weight for weight in weights if weight is not None and 0 < weight < float("inf")]
        if given:
            yield row, sum(given)


class CommunitiesLayer(Layer):
    """communities   list[Community], each at its id, coarsest level first
    entities      list[Entity], one per phrase; `entity_vectors` float32 (n_e, d), of "name: description"
    reports       dict, community id → reporting.Report; `report_ids` its keys, ascending, and `report_vectors`
                  float32 (len(reports), d), of title, summary and findings
    failures      dict, community id → why it has no report
    """

    kind = "communities"
    inputs = ("passages", "facts")
    with_given = ("profiles",)
    steps = (reporting.REPORT,)

    @classmethod
    def build(cls, folder: Path, build: Build, settings: Settings, old: CommunitiesLayer | None) -> dict:
        facts: FactsLayer = build.layers["facts"]
        profiles = phrased(facts, build.layers.get("profiles"))
        graph = EntityGraph.of(facts, profiles)
        tune = ("max_size", "resolution", "randomness", "iterations", "seed", "use_lcc")
        clusters = leiden.hierarchy(
            len(facts.phrases), graph.pairs, graph.weights, **{name: getattr(settings, name) for name in tune}
        )
        communities = [Community(*cluster._replace(members=tuple(cluster.members.tolist()))) for cluster in clusters]
        entities = _entities(facts, profiles, graph, settings)
        contexts = _Contexts(communities, entities, graph, _relationships(facts, profiles, graph), settings)
        shares = _shares(communities, facts, build.layers["passages"])
        reports = _write_reports(folder, contexts, shares, build, old)
        good = [row.report for row in reports if row.report is not None]
        encode_to(folder / "entities.npy", list(map(entity_text, entities)), build, "entities")
        encode_to(folder / "reports.npy", [report.content for report in good], build, "reports")
        write_rows(folder / "communities.parquet", communities, _COMMUNITIES)
        write_rows(folder / "entities.parquet", ((e.name, e.type, e.description) for e in entities), _ENTITIES)
        made = counts(reports)
        return {
            "levels": np.bincount([c.level for c in communities]).tolist() if communities else [],
            "whole": sum(c.whole for c in communities),
            "largest_whole": max((len(c.members) for c in communities if c.whole), default=0),
            "reports": len(good),
            "failures": made["failures"],
            "made_by": made["made_by"],
            "encoder": build.encoder.name,
        }

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.communities = [Community(*row) for row in rows_of(read_columns(folder / "communities.parquet"))]
        self.entities = [Entity(*row) for row in rows_of(read_columns(folder / "entities.parquet"))]
        self.written = read(folder / "reports.jsonl", _Report.of_row)
        self.reports = {row.id: row.report for row in self.written if row.report is not None}
        self.failures = {row.id: row.failure for row in self.written if row.report is None}
        self.report_ids = list(self.reports)
        self.entity_vectors = map_vectors(folder / "entities.npy")
        self.report_vectors = map_vectors(folder / "reports.npy")
        for vectors, texts in ((self.entity_vectors, self.entities), (self.report_vectors, self.reports)):
            if len(vectors) != len(texts):
                raise ValueError(f"{len(vectors)} vectors for {len(texts)} texts")

    def encoded(self) -> Iterator[tuple[list[str], np.ndarray]]:
        yield list(map(entity_text, self.entities)), self.entity_vectors
        yield [report.content for report in self.reports.values()], self.report_vectors

    @property
    def levels(self) -> int:
        return len(self.metadata["levels"])

    @cached_property
    def of_phrase(self) -> dict[int, list[int]]:
        """Phrase row → ids of its communities, coarsest first; a phrase outside the largest component may have none."""
        by_member = defaultdict(list)
        for community in self.communities:
            for member in community.members:
                by_member[member].append(community.id)
        return dict(by_member)

    @cached_property
    def heights(self) -> list[int]:
        """Per community how many layers of communities it stands on, itself counted: 1 where it has no parts."""
        heights = [1] * len(self.communities)
        for community in reversed(self.communities):  # parts come after the communities that contain them
            if community.parent >= 0:
                heights[community.parent] = max(heights[community.parent], heights[community.id] + 1)
        return heights

    def rolled_up(self, level: int) -> list[int]:
        """Ids of the communities that hold each entity once: the finest of it that is no finer than `level`."""
        parents = {community.parent for community in self.communities if community.level <= level}
        return [c.id for c in self.communities if c.level <= level and c.id not in parents]

    def __repr__(self) -> str:
        return f"CommunitiesLayer({len(self.communities):,} communities, {len(self.reports):,} reports)"


def entity_text(entity: Entity) -> str:
    """What is encoded for an entity."""
    return f"{entity.name}: {entity.description}" if entity.description else entity.name


def mentions(facts: FactsLayer, passages: int) -> sp.csr_array:
    """1 where a fact of the passage holds the phrase, (n_e, passages)."""
    passage, fact = facts.stated
    ends, twice = np.r_[facts.subjects[fact], facts.objects[fact]], np.r_[passage, passage]
    stated = sp.coo_array((np.ones(len(ends)), (ends, twice)), shape=(len(facts.phrases), passages)).tocsr()
    stated.data[:] = 1.0
    return stated


def text_units(communities: Sequence[Community], mentioned: sp.csr_array) -> sp.csr_array:
    """Where a passage (column) mentions a member of a community (row of `communities`): how many, (c, passages)."""
    rows = np.repeat(np.arange(len(communities)), np.array([len(c.members) for c in communities], dtype=np.int64))
    members = np.array([member for c in communities for member in c.members], dtype=np.int64)
    shape = (len(communities), mentioned.shape[0])
    return (sp.coo_array((np.ones(len(rows)), (rows, members)), shape=shape).tocsr() @ mentioned).tocsr()


def _shares(communities: list[Community], facts: FactsLayer, passages: PassagesLayer) -> np.ndarray:
    """Passages that mention a community, relative to the most of its level, float (c,)."""
    counts = np.diff(text_units(communities, mentions(facts, len(passages.passages))).indptr)
    most = defaultdict(int)
    for community, count in zip(communities, counts.tolist()):
        most[community.level] = max(most[community.level], count)
    return counts / np.array([most[community.level] for community in communities]) if communities else counts


# -- descriptions of entities and relationships ---------------------------------------------------------------------


def _entities(facts: FactsLayer, profiles: Phrased | None, graph: EntityGraph, settings: Settings):
    """One Entity per phrase. Its facts with its best connected neighbours come first."""
    profiles_of = [profiles.of(phrase) if profiles is not None else () for phrase in facts.phrases]
    stated: dict[int, list[str]] = defaultdict(list)
    if settings.descriptions != "none":
        ranks = np.append(graph.ranks, 0)[graph.of_fact]  # a fact about a single phrase joins no pair
        for fact in np.argsort(-ranks, kind="stable").tolist():
            for end in {int(facts.subjects[fact]), int(facts.objects[fact])}:
                if len(stated[end]) < settings.described_by:
                    stated[end].append(_fact_words(facts, fact))
    entities = []
    for row, (phrase, profiles_here) in enumerate(zip(facts.phrases, profiles_of)):
        name = next((profile.name for profile in profiles_here if profile.name), phrase)
        kind = ", ".join(dict.fromkeys(profile.type for profile in profiles_here if profile.type))
        written = " ".join(dict.fromkeys(profile.description for profile in profiles_here if profile.description))
        if settings.descriptions != "profiles" or not written:
            written = "; ".join(stated[row])
        entities.append(Entity(name, kind, written))
    return entities


def _relationships(facts: FactsLayer, profiles: Phrased | None, graph: EntityGraph) -> list[str]:
    """A text per pair of the graph: the descriptions of its profiles, or else its facts."""
    stated: list[list[str]] = [[] for _ in graph.pairs]
    for fact, pair in enumerate(graph.of_fact.tolist()):
        if pair >= 0:
            stated[pair].append(_fact_words(facts, fact))
    texts = []
    for (first, other), sentences in zip(graph.pairs.tolist(), stated):
        between = profiles.between(facts.phrases[first], facts.phrases[other]) if profiles is not None else ()
        written = dict.fromkeys(profile.description for profile in between if profile.description)
        texts.append(" ".join(written) or "; ".join(sentences))
    return texts


def _fact_words(facts: FactsLayer, fact: int) -> str:
    return " ".join(facts.facts[fact])


# -- reports ---------------------------------------------------------------------------------------------------------


class _Report(NamedTuple):
    """A line of `reports.jsonl`: `context` is the hash of what the report was written from."""

    id: int
    context: str
    made_by: str
    failure: str | None
    report: reporting.Report | None

    key = property(attrgetter("context"))
    defects = ()  # the file does not record them

    def row(self) -> dict[str, Any]:
        return {**self._asdict(), "report": self.report and self.report.model_dump()}

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> _Report:
        return cls(**{**row, "report": row["report"] and reporting.Report(**row["report"])})


class _Contexts:
    """What the reports are written from."""

    def __init__(
        self,
        communities: list[Community],
        entities: list[Entity],
        graph: EntityGraph,
        relationships: list[str],
        settings: Settings,
    ):
        self.communities, self.entities, self.graph, self.relationships = communities, entities, graph, relationships
        self.budget = settings.report_tokens
        self.wanted = [community.id for community in communities if len(community.members) >= settings.min_members]
        self._parts: dict[int, list[Community]] = defaultdict(list)
        for community in communities:
            self._parts[community.parent].append(community)
        self._ranks = graph.ranks

    def levels(self) -> list[list[int]]:
        """Ids of the communities that get a report, by level, finest first."""
        by_level = defaultdict(list)
        for id in self.wanted:
            by_level[self.communities[id].level].append(id)
        return [by_level[level] for level in sorted(by_level, reverse=True)]

    def inside(self, ids: list[int]) -> dict[int, np.ndarray]:
        """Pairs within each community, of one level, best connected first."""
        groups = [np.array(self.communities[id].members) for id in ids]
        pairs_inside = leiden.inside(len(self.graph.degrees), self.graph.pairs, groups)
        return {id: pairs[np.argsort(-self._ranks[pairs], kind="stable")] for id, pairs in zip(ids, pairs_inside)}

    def input(
        self, id: int, pairs: np.ndarray, share: float, reports: dict[int, reporting.Report]
    ) -> reporting.Community:
        """Where a community does not fit, the reports on its parts, largest first, stand in for the relationships
        within these, one by one, until it fits or there are no more."""
        parts = [part for part in self._parts[id] if part.id in reports]
        standing: list[reporting.Report] = []
        table = self._table(id, pairs, standing)
        while table.full and parts:
            part = parts.pop(0)
            standing.append(reports[part.id])
            pairs = pairs[~np.isin(self.graph.pairs[pairs], part.members).all(axis=1)]
            table = self._table(id, pairs, standing)
        return table.input(share)

    def _table(self, id: int, pairs: np.ndarray, reports: list[reporting.Report]) -> _Table:
        """Reports, then relationships with their ends before them, as many as fit; entities that no fact joins."""
        table = _Table(self.budget)
        for report in reports:
            table.add(report=report)
        for pair in pairs.tolist():
            ends = [self.entities[end] for end in self.graph.pairs[pair].tolist()]
            if not table.add(ends, self.relationships[pair]):
                return table
        if not len(pairs) and not reports:
            for member in self.communities[id].members:
                table.add([self.entities[member]])
        return table


class _Table:
    """Records as lines, numbered from 1 in the order in which they came, within a budget of tokens. `full`: something
    did not fit. Lines end in a line feed and begin with a number or a name, so that their tokens add up."""

    heads = {
        "reports": "-----Reports-----\n",
        "entities": "-----Entities-----\nid|entity|description\n",
        "relationships": "-----Relationships-----\nid|source|target|description\n",
    }

    def __init__(self, budget: int):
        self.left = budget - sum(tokens.count(head + "\n") for head in self.heads.values())
        self.full = False
        self.lines: dict[str, list[str]] = {name: [] for name in self.heads}
        self.entities: dict[str, tuple[str, str]] = {}
        self.relationships: list[tuple[str, str, str]] = []
        self.reports: list[tuple[str, str]] = []

    def add(self, ends: Sequence[Entity] = (), relationship: str = "", report: reporting.Report | None = None) -> bool:
        """Add new entities and the relationship between two, or a report; all of it or nothing."""
        new = {
            end.name: (one_line(end.name, NAME), one_line(end.description))
            for end in ends
            if end.name not in self.entities
        }
        lines = {name: [] for name in self.heads}
        for at, (name, description) in enumerate(new.values(), len(self.entities) + 1):
            lines["entities"].append(f"{at}|{name}|{description}\n")
        if relationship:
            cells = (*(one_line(end.name, NAME) for end in ends), one_line(relationship))
            lines["relationships"].append("|".join((str(len(self.relationships) + 1), *cells)) + "\n")
        if report is not None:
            lines["reports"].append(f"{report.content}\n\n")
        cost = sum(tokens.count(line) for some in lines.values() for line in some)
        if cost > self.left:
            self.full = True
            return False
        self.left -= cost
        for name, some in lines.items():
            self.lines[name] += some
        self.entities |= new
        self.relationships += [cells] if relationship else []
        self.reports += [(report.title, report.summary)] if report is not None else []
        return True

    def input(self, share: float) -> reporting.Community:
        parts = [self.heads[name] + "".join(lines) for name, lines in self.lines.items() if lines]
        return reporting.Community(
            "\n".join(parts).strip(),
            tuple(self.entities.values()),
            tuple(self.relationships),
            tuple(self.reports),
            float(share),
        )


def one_line(text: str, longest: int = LONGEST) -> str:
    """A cell of a table: one line without the separator of cells, of at most `longest` tokens.

    >>> one_line("a |\tb\u2028c")
    'a / b c'
    """
    line = " ".join(text.split()).replace("|", "/")
    return line if len(line.encode("utf-8", "replace")) <= longest else tokens.cut(line, longest)


def _write_reports(
    folder: Path, contexts: _Contexts, shares: np.ndarray, build: Build, old: CommunitiesLayer | None
) -> list[_Report]:
    """A line for each community that is to have a report, by id, also on disk. Written finest level first."""
    engine, before = build.writer, old.written if old else ()
    made_by = maker(engine, reporting.REPORT)
    journal = Journal(made_by, before, reusable=reusable_of_models, progress=build.progress)
    written: dict[int, _Report] = {}
    reports: dict[int, reporting.Report] = {}
    for ids in contexts.levels():
        inside = contexts.inside(ids)
        inputs = {id: contexts.input(id, inside[id], shares[id], reports) for id in ids}
        keys = {id: text_hash(value.context) for id, value in inputs.items()}
        id_of = {key: id for id, key in keys.items()}

        def write(group: dict[str, reporting.Community], id_of: dict[str, int] = id_of) -> Iterator[_Report]:
            for key, result in zip(group, engine.run(reporting.REPORT, list(group.values()))):
                yield _Report(id_of[key], key, journal.made_by, result.failure, result.value)

        answers = journal.ask(
            {key: inputs[id] for id, key in keys.items()}, write, "report on communities", unit="report"
        )
        written |= {id: answers[key]._replace(id=id) for id, key in keys.items()}
        reports |= {id: written[id].report for id in ids if written[id].report is not None}
    rows = [written[id] for id in sorted(written)]
    write_lines(folder / "reports.jsonl", (row.row() for row in rows))
    return rows
