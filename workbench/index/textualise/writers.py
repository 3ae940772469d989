"""Who writes: the engine, whose texts are checked here, and the template for what it does not write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from workbench.data.graph import Schema
from workbench.index.textualise.facts import UNKNOWN, Facts, Shard
from workbench.index.textualise.markup import mentions, plain, shielded, topics, without_strangers
from workbench.language import verbalisation as template
from workbench.llm.engine import Engine, RulesEngine
from workbench.llm.step import Result, Step
from workbench.steps import describe_entity, describe_relations, write_article, write_article_paper

TEMPLATE = "template"
Row = dict[str, Any]


class Text(NamedTuple):
    """A row in a journal. All rows of a folder come from one engine (`folder.same_work`)."""

    made_by: str
    fields: Row

    key = property(lambda self: self.fields["id"])
    failure = property(lambda self: self.fields.get("failure"))
    defects = ()

    def row(self) -> Row:
        return self.fields


WORKBENCH = "workbench"
ARTICLES = {WORKBENCH: write_article.STEP, "paper": write_article_paper.STEP}  # profile → who writes an article


class Writers:
    """`articles`, `entities` and `relations` take a group of shards and yield a row with its id for each. A row with a
    `failure` holds what the template wrote instead."""

    def __init__(
        self, facts: Facts, schema: Schema, engine: Engine, template_above: int, attempts: int, profile: str = WORKBENCH
    ):
        self._step, self._paper = ARTICLES[profile], profile == "paper"
        self.facts, self.schema, self.engine = facts, schema, engine
        self.template_above, self.attempts = template_above, attempts
        self._rules = RulesEngine()

    @cached_property
    def _relations(self) -> template.Relations:
        """What the Steps are given of them, as it can stand in marked text."""
        return tuple((shielded(r.name), r.head, r.tail, shielded(r.definition)) for r in self.schema.relations)

    # -- articles -----------------------------------------------------------------------------------------------------

    def articles(self, group: Sequence[Shard]) -> Iterator[Row]:
        """Each mentions its topic and every name that it should, by its own words or by added sentences."""
        texts, failures = dict.fromkeys((shard.id for shard in group), ""), {}
        pending = list(group)
        for attempt in range(self.attempts):
            asked = [self._article(shard, texts[shard.id], attempt) for shard in pending]
            for shard, result in zip(pending, self._ask(self._step, pending, asked)):
                failures[shard.id] = result.failure
                if result.value:
                    # Of two the one that lacks less: a model that mends one name may lose another.
                    found = (result.value.text, texts[shard.id] or result.value.text)
                    texts[shard.id] = min(found, key=lambda text: len(self._lacking(shard, text)))
            pending = [shard for shard in pending if self._lacking(shard, texts[shard.id])]
            if not pending:
                break
        centrals = {shard.central for shard in group}
        around = {name: self.facts.neighbours(name, self.facts.rows[name]) | {name} for name in centrals}
        for shard in group:
            writer = self._writer(shard) if texts[shard.id] else TEMPLATE
            written = texts[shard.id] or self._by_template(shard)
            text, strangers = without_strangers(written, around[shard.central])
            added = self._added(shard, text)
            row = {"id": shard.id, "central": plain(shard.central), "text_marked": " ".join((text, *added))}
            row |= {"writer": writer, "repaired": bool(added), "hallucinated": strangers}
            yield row | _failed(None if texts[shard.id] else failures[shard.id])

    def _article(self, shard: Shard, earlier: str, attempt: int) -> write_article.Input:
        missing = tuple(sorted(self._lacking(shard, earlier))) if attempt else ()
        triples, kind = self.facts.of_rows(shard.rows), self.facts.types[shard.central]
        return write_article.Input(shard.central, kind, triples, self._relations, earlier, missing)

    def _by_template(self, shard: Shard) -> str:
        return template.article(shard.central, self.facts.of_rows(shard.rows), self._relations)

    def _lacking(self, shard: Shard, text: str) -> set[str]:
        lacking = self.facts.neighbours(shard.central, shard.rows) - mentions(text)
        return lacking if shard.central in topics(text) else lacking | {shard.central}

    def _added(self, shard: Shard, text: str) -> list[str]:
        """A sentence for each triple whose name is lacking; where only the topic is, the first triple's."""
        if not (lacking := self._lacking(shard, text)):
            return []
        rows = [row for row in shard.rows if self.facts.neighbours(shard.central, [row]) & lacking]
        triples = self.facts.of_rows(rows or shard.rows[:1])
        return [template.sentence(triple, self._relations, shard.central) for triple in triples]

    # -- entities -----------------------------------------------------------------------------------------------------

    def entities(self, group: Sequence[Shard], articles: Mapping[str, Row]) -> Iterator[Row]:
        """Of entities by their first shards: name, type, description. The relations settle the type; of the model's,
        only one that no relation can settle (MetaQA's `theme`) goes before. Under profile `paper` the model settles it
        (figure 6), and the relations where it names none of the schema's."""
        asked = [self._entity(shard, articles[shard.id]["text_marked"]) for shard in group]
        for shard, value, result in zip(group, asked, self._ask(describe_entity.STEP, group, asked)):
            kind, writer, text = value.type, self._writer(shard), result.value.description if result.value else ""
            if not text.strip():
                writer, text = TEMPLATE, template.description(value.name, value.triples, self._relations)
            elif result.value.type in (self._types if self._paper or kind == UNKNOWN else self._free_types):
                kind = result.value.type
            row = {
                "id": shard.id,
                "name": plain(shard.central),
                "type": kind,
                "description": plain(text),
                "writer": writer,
            }
            yield row | _failed(result.failure)

    def _entity(self, shard: Shard, article: str) -> describe_entity.Input:
        name = shard.central
        kind, types = self.facts.types[name], tuple((t.name, t.definition) for t in self.schema.entity_types)
        triples = self.facts.of_rows(self.facts.rows[name])
        return describe_entity.Input(name, article, kind, types, triples, self._relations)

    @cached_property
    def _types(self) -> set[str]:
        return {kind.name for kind in self.schema.entity_types}

    @cached_property
    def _free_types(self) -> set[str]:
        """Types that stand at no relation's end."""
        return self._types - {name for relation in self.schema.relations for name in (*relation.head, *relation.tail)}

    # -- relations ----------------------------------------------------------------------------------------------------

    def relations(self, group: Sequence[Shard], articles: Mapping[str, Row]) -> Iterator[Row]:
        """Of each triple of which a shard's entity is the subject: its row and a sentence that names both ends."""
        sentences: dict[str, dict[int, str]] = {shard.id: {} for shard in group}
        failures: dict[str, str | None] = {}
        pending = {shard: self.facts.stated_by(shard) for shard in group}
        for attempt in range(self.attempts):
            asked = [
                describe_relations.Input(
                    name=shard.central,
                    article=articles[shard.id]["text_marked"],
                    triples=self.facts.of_rows(rows),
                    relations=self._relations,
                    again=attempt > 0,
                )
                for shard, rows in pending.items()
            ]
            for shard, result in zip(list(pending), self._ask(describe_relations.STEP, list(pending), asked)):
                failures[shard.id] = result.failure
                sentences[shard.id] |= self._sentences(pending[shard], result)
                pending[shard] = [row for row in pending[shard] if row not in sentences[shard.id]]
            pending = {shard: rows for shard, rows in pending.items() if rows}
            if not pending:
                break
        for shard in group:
            left = [row for row in self.facts.stated_by(shard) if row not in sentences[shard.id]]
            writer = self._writer(shard) if sentences[shard.id] else TEMPLATE
            failure = None if sentences[shard.id] else failures[shard.id]
            for row in left:
                sentences[shard.id][row] = plain(template.sentence(self.facts.triples[row], self._relations))
            rows = sorted(sentences[shard.id].items())
            yield {"id": shard.id, "told": rows, "writer": writer, "repaired": len(left)} | _failed(failure)

    def _sentences(self, rows: Sequence[int], result: Result) -> dict[int, str]:
        """Row → sentence, where the reply has exactly one for its number, and that one names both ends."""
        replies = result.value.descriptions if result.value else []
        once = {number for number, times in Counter(one.id for one in replies).items() if times == 1}
        found = {rows[one.id - 1]: one.description for one in replies if one.id in once and 1 <= one.id <= len(rows)}
        subject_and_object = {row: {self.facts.triples[row][0], self.facts.triples[row][2]} for row in found}
        return {row: plain(text) for row, text in found.items() if subject_and_object[row] <= mentions(text)}

    # -- who writes ---------------------------------------------------------------------------------------------------

    def _hub(self, shard: Shard) -> bool:
        return len(self.facts.rows[shard.central]) > self.template_above

    def _writer(self, shard: Shard) -> str:
        return TEMPLATE if self.engine.name == self._rules.name or self._hub(shard) else self.engine.name

    def _ask(self, step: Step, shards: Sequence[Shard], inputs: Sequence[Any]) -> list[Result]:
        """One result per input; of hubs the template is asked."""
        results: dict[int, Result] = {}
        for engine, hubs in ((self._rules, True), (self.engine, False)):
            mine = [at for at, shard in enumerate(shards) if self._hub(shard) is hubs]
            if mine:
                results.update(zip(mine, engine.run(step, [inputs[at] for at in mine])))
        return [results[at] for at in range(len(inputs))]


def _failed(failure: str | None) -> Row:
    return {"failure": failure} if failure else {}
