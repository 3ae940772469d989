"""A chat model that says what the rules would: real prompts, replies as a model writes them, tokens counted as cl100k.

`Imitated` is for figures of what is asked and metered, never for results: what it answers is the rules'. A `wordy` one
thinks aloud before each answer for which the Step leaves room, so that its replies are several times as long. A
`sparing` one leaves out about a third of every list, so that methods and layers go other ways than with the rules.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel

from workbench import tokens
from workbench.llm.call import Reply, Request
from workbench.llm.chat import ChatEngine
from workbench.llm.engine import by_rule
from workbench.llm.step import Step
from workbench.steps import catalogue, entity_relations, graph_records

ALOUD = (
    "Let me go through this with care. I look at what is given first, then at what is asked, and then at what follows "
    "from the one for the other; whatever is not stated there, I leave out."
)
CUED = ("answer", "verify_claim")  # prose that ends in a line with a cue, so a thought may stand before it


class Imitated(ChatEngine):
    def __init__(
        self,
        name: str = "openai:gpt-4o-mini",
        *,
        wordy: bool = False,
        sparing: bool = False,
        concurrency: int = 1,
        **options: Any,
    ):
        super().__init__(name, self._reply, concurrency=concurrency, **options)
        self.wordy, self.sparing, self._asked = wordy, sparing, dict[str, tuple[Step, Any]]()

    def request(self, step: Step, value: Any) -> Request:
        made = super().request(step, value)
        self._asked[made.key] = self._asked[made.messages[-1]["content"]] = (step, value)
        return made

    def asked(self, request: Request) -> tuple[Step, Any]:
        """The Step of a request, and its input. A second request after a copy has a line below the same text."""
        return self._asked.get(request.key) or self._asked[request.messages[-1]["content"].rpartition("\n\n")[0]]

    def _reply(self, request: Request) -> Reply:
        step, value = self.asked(request)
        (result,) = by_rule(step, [value])
        if result.failure:
            raise AssertionError(f"the rules give {step.name} nothing to say: {result.failure}")
        return self.reply(request, _spared(result.value) if self.sparing else result.value)

    def reply(self, request: Request, output: BaseModel) -> Reply:
        """The output as a model would write it, in answer to a request."""
        step, _ = self.asked(request)
        text = said(step.name, output)
        if self.wordy and (step.read is None or step.name in CUED):
            aloud = f"{ALOUD}\n{text}"
            text = aloud if tokens.count(aloud) <= request.max_tokens else text
        written, limit = tokens.count(text), request.max_tokens
        prompt = sum(tokens.count(message["content"]) for message in request.messages)
        if written <= limit:
            return Reply(text, "stop", prompt, written)
        return Reply(tokens.cut(text, limit), "length", prompt, limit)


def _spared(output: BaseModel) -> BaseModel:
    lists = {name: value for name, value in output if isinstance(value, list) and len(value) > 1}
    kept = {name: [one for one in value if zlib.crc32(repr(one).encode()) % 3] for name, value in lists.items()}
    return output.model_copy(update={name: value or lists[name][:1] for name, value in kept.items()})


def said(step: str, output: BaseModel) -> str:
    """What a model would write to be read as this output: JSON, or the form that the prompt asks for."""
    if catalogue()[step].read is None:
        return output.model_dump_json()
    return _PROSE[step](output)


def _field(name: str) -> Callable[[Any], str]:
    return lambda output: str(getattr(output, name))


def _thought(name: str) -> Callable[[Any], str]:
    return lambda output: f"Thought: {output.thought}\nAnswer: {getattr(output, name) or 'unknown'}"


def _profile(output: entity_relations.Output) -> str:
    rows = [("entity", one.name, one.type, one.description) for one in output.entities]
    rows += [("relation", one.source, one.target, ", ".join(one.keywords), one.description) for one in output.relations]
    return _lines(rows, entity_relations.FIELD, entity_relations.END)


def _lines(rows: Sequence[Sequence[str]], field: str, end: str) -> str:
    return "\n".join([*(field.join(" ".join(part.split()) for part in row) for row in rows), end])


def _records(output: graph_records.Output) -> str:
    sign = graph_records.FIELD
    rows = [('"entity"', one.name, one.type, one.description) for one in output.entities]
    rows += [
        ('"relationship"', one.source, one.target, one.description, f"{one.strength:g}") for one in output.relationships
    ]
    return f"\n{graph_records.RECORD}\n".join(f"({sign.join(row)})" for row in rows) + f"\n{graph_records.END}"


def _schema(output: Any) -> str:
    attributes: dict[str, list[str]] = {}
    for one in output.attributes:
        attributes.setdefault(one.entity, []).append(f"{one.type}: {one.value}")
    whole = {"attributes": attributes, "triples": output.triples, "entity_types": output.entity_types}
    return json.dumps(whole, ensure_ascii=False)


def _ratings(output: Any) -> str:
    return "\n".join(
        f"{one.number} ({one.name}): {one.score}" + (f" | {one.reason}" if one.reason else "") for one in output.ratings
    )


_PROSE: dict[str, Callable[[Any], str]] = {
    "answer": _thought("answer"),
    "answer_briefly": _field("reply"),
    "classify_question": lambda output: json.dumps({"label": output.kind}),
    "entity_relations": _profile,
    "essay_answer": _field("reply"),
    "fuse_descriptions": _field("description"),
    "graph_records": _records,
    "judge_answer": lambda output: json.dumps({"label": str(output.verdict)}),
    "knowledge_answer": _field("reply"),
    "missing_evidence": _field("thought"),
    "next_thought": lambda output: output.thought or "Nothing is missing.",
    "rate_neighbours": _ratings,
    "reflect": _field("reply"),
    "schema_extraction": _schema,
    "shorten_answer": _field("reply"),
    "sparql_answer": _field("reply"),
    "stepwise_answer": _field("reply"),
    "summarise": _field("summary"),
    "verify_claim": lambda output: f"Thought: {output.thought}\nAnswer: {output.label}",
    "write_article": _field("text"),
    "write_article_paper": _field("text"),
}
