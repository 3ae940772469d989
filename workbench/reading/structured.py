"""Reader `structured`: entities, relations, paths and passages of the evidence in one context, and a short answer.

    paths      paths in words, then passages, as DotRAG reads them; for any method: facts are paths of one edge
    lightrag   blocks of JSON lines and a list of references (LightRAG, arXiv 2410.05779; lightrag-hku 1.5.7)
    tables     CSV; paths stand last, and of these the best, number 1, next to the question (PathRAG, arXiv 2502.14902)

Relations and paths are told by their descriptions, where the method's graph has them, else by the words of their
members. In `paths`, facts that are on no path follow the paths. Entities, relations and paths have shares of the
budget, each filled in the order of the evidence; passages have what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Literal

from workbench import tokens
from workbench.layouts import lightrag
from workbench.layouts.paths import PATHS, SOURCES, edge_in_words, in_words, numbered, sentence
from workbench.layouts.tables import COLUMNS, FENCE, head, row_of, table
from workbench.reading import base
from workbench.reading.render import Context
from workbench.records import Evidence, Passage, Triple
from workbench.settings import Budget, Share, validated

_BETWEEN = "\n\n"  # blocks


class Structured(base.ContextReader):
    """Reads at most `budget` tokens, of which `entities`, `relations` and `paths` are shares."""

    name = "structured"
    paper = "DotRAG (arXiv 2605.18760); LightRAG (arXiv 2410.05779); PathRAG (arXiv 2502.14902)"

    @validated
    class Settings(base.Settings):
        layout: Literal["lightrag", "tables", "paths"] = "paths"
        budget: Budget = 12_000
        entities: Share = 0.2
        relations: Share = 0.25
        paths: Share = 0.25

        def __post_init__(self):
            base.check_shares(self, "entities", "relations", "paths")

    def uncompressed(self, evidence: Evidence) -> Context:
        passages = tuple(passage for passage, _ in evidence.passages[: evidence.selected])
        before, write, after = LAYOUTS[self.settings.layout](self, evidence)
        left = self.settings.budget - sum(tokens.count(block + _BETWEEN) for block in before + after if block)
        many = _fitting(passages, write, left)
        text = _joined([*before, write(passages[:many]), *after])
        ends = dict.fromkeys(path.nodes[-1] for path, _ in evidence.paths if path.verdict == "complete")
        return Context(text, tokens.count(text), passages[:many], tuple(ends))

    def _block(self, name: str, head: str, lines: Iterable[str], tail: str = "", *, turned: bool = False) -> str:
        """As many lines as fit into a share of the budget, the last of them first if `turned`; empty if none does."""
        used, share = tokens.count(head + "\n") + tokens.count(tail + _BETWEEN), getattr(self.settings, name)
        cap = self.settings.budget * share
        fitting, _ = tokens.leading(lines, lambda line, _: tokens.count(line + "\n"), cap, used)
        return "\n".join([head, *(reversed(fitting) if turned else fitting), tail]).rstrip("\n") if fitting else ""


Layout = tuple[list[str], Callable[[Sequence[Passage]], str], list[str]]


def _lightrag(reader: Structured, evidence: Evidence) -> Layout:
    entities = (lightrag.line(entity=e.name, type=e.type, description=e.description) for e, _ in evidence.entities)
    relations = (lightrag.relation_line(f.subject, f.object, _description(f)) for f, _ in evidence.facts)
    before = [
        reader._block("entities", lightrag.ENTITIES, entities, lightrag.FENCE),
        reader._block("relations", lightrag.RELATIONS, relations, lightrag.FENCE),
    ]
    return before, lambda read: lightrag.chunks([(passage.title, passage.text) for passage in read]), []


def _tables(reader: Structured, evidence: Evidence) -> Layout:
    entities = (row_of(at, e.name, e.type, e.description) for at, (e, _) in enumerate(evidence.entities, 1))
    described = any(fact.description for fact, _ in evidence.facts)
    relations = (
        row_of(at, *fact.members, *([fact.description] if described else []))
        for at, (fact, _) in enumerate(evidence.facts, 1)
    )
    columns = ("id", "source", "relation", "target", *(["description"] if described else []))
    paths = (row_of(at, in_words(path)) for at, (path, _) in enumerate(evidence.paths, 1))
    before = [
        reader._block("entities", head("Entities", ("id", "entity", "type", "description")), entities, FENCE),
        reader._block("relations", head("Relationships", columns), relations, FENCE),
    ]
    after = [reader._block("paths", head("Paths", COLUMNS["paths"]), paths, FENCE, turned=True)]
    return before, lambda read: table("Sources", "sources", ((at, p.content) for at, p in enumerate(read, 1))), after


def _paths(reader: Structured, evidence: Evidence) -> Layout:
    hops = {frozenset(pair) for path, _ in evidence.paths for pair in pairwise(path.nodes)}
    others = (fact for fact, _ in evidence.facts if frozenset((fact.subject, fact.object)) not in hops)
    edges = (edge_in_words(fact.subject, fact.object, fact.description or f"{sentence(fact)}.") for fact in others)
    lines = numbered((*(in_words(path) for path, _ in evidence.paths), *edges))
    return [reader._block("paths", PATHS, lines)], _sources, []


def _sources(passages: Sequence[Passage]) -> str:
    return f"{SOURCES}\n" + "\n\n".join(passage.content for passage in passages) if passages else ""


LAYOUTS: dict[str, Callable[[Structured, Evidence], Layout]] = {
    "lightrag": _lightrag,
    "tables": _tables,
    "paths": _paths,
}


def _fitting(passages: Sequence[Passage], write: Callable[[Sequence[Passage]], str], budget: int) -> int:
    """How many of the first passages fit into `cap` tokens."""
    few, many = 0, len(passages)
    while few < many:
        middle = (few + many + 1) // 2
        fits = tokens.count(write(passages[:middle]) + _BETWEEN) <= budget
        few, many = (middle, many) if fits else (few, middle - 1)
    return few


def _description(fact: Triple) -> str:
    return fact.description or sentence(fact)


def _joined(blocks: Iterable[str]) -> str:
    return _BETWEEN.join(block for block in blocks if block)


class Essay(Structured):
    """`structured` with the prompt `essay`.

    It gives paragraphs in place of the shortest answer, which a judge compares in pairs (DotRAG, Tables 1 and 3). EM
    and F1 of them mean nothing, unless they are made short (`rewrite=true`)."""

    name = "essay"
    paper = "DotRAG (arXiv 2605.18760); LightRAG (arXiv 2410.05779)"

    @validated
    class Settings(Structured.Settings):
        prompt: base.Prompt = "essay"
