"""A model of a corpus in another language: it answers the Steps of layers, methods and readers from the gold graph and
what it is given.

Its replies are written and read as a chat model's are, and it knows a question only by the gold steps of it. What it is
not shown, it does not say: a reader gets an answer where every gold fact stands in its context."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from imitated import Imitated

from workbench.data import Dataset
from workbench.llm.call import Reply, Request
from workbench.steps import catalogue, textualising
from workbench.steps.final_answer import CUE, UNKNOWN
from workbench.steps.next_thought import CONCLUSION
from workbench.steps.reflect import QUERY

Fact = tuple[str, str, str]


class Oracle(Imitated):
    def __init__(self, data: Dataset):
        super().__init__("openai:scripted")
        self.facts = [(one.head, one.relation, one.tail) for one in data.graph.triples]
        self.stated = {one.id: [f for f, t in zip(self.facts, data.graph.triples) if one.id in t.passages]
                       for one in data.passages}  # fmt: skip
        self.types = {one.name: one.type for one in data.graph.entities}
        self.asked_of = {one.question: one for one in data.questions}
        self.texts = {one.id: one.text for one in data.passages}

    def _reply(self, request: Request) -> Reply:
        step, value = self.asked(request)
        made = getattr(self, step.name)(value)
        return self.reply(request, made if hasattr(made, "model_dump") else catalogue()[step.name].output(**made))

    # -- what it knows ------------------------------------------------------------------------------------------------

    def names(self, text: str) -> list[str]:
        """The entities that a text names, in its order, none within another."""
        found: dict[int, str] = {}
        for name in sorted(self.types, key=len, reverse=True):
            while (at := text.find(name)) >= 0:
                found[at] = name
                text = text[:at] + "\n" * len(name) + text[at + len(name) :]
        return list(dict.fromkeys(found[at] for at in sorted(found)))

    def path(self, question: str) -> list[Fact]:
        """The gold facts of a question, in order; of a question of its decomposition, that one; else those that a
        thought states."""
        for one in self.asked_of.values():
            answers = [step["answer"] for step in one.decomposition]
            facts = []
            for step in one.decomposition:
                filled = [_filled(part, answers, step["answer"]) for part in step["pattern"]]
                facts.append(tuple(filled))
                if question == _filled(step["question"], answers, ""):
                    return facts[-1:]
            if one.question in question:
                return facts
        return [fact for fact in self.facts if _said(fact) in question]

    def answer_of(self, question: str) -> str:
        known = next((one for text, one in self.asked_of.items() if text in question), None)
        return known.answers[0] if known else self.path(question)[0][2] if self.path(question) else ""

    def missing(self, question: str, text: str) -> list[Fact]:
        """The gold facts whose passage is not in a text, nor the fact itself."""
        shown = {fact for id, said in self.texts.items() if said in text for fact in self.stated[id]}
        flat = [line for line in text.splitlines()]
        return [f for f in self.path(question) if f not in shown and not any(all(p in ln for p in f) for ln in flat)]

    def found(self, question: str, text: str) -> str:
        """The answer, where the text holds all that it takes."""
        return "" if self.missing(question, text) or not self.path(question) else self.answer_of(question)

    def on_the_way(self, question: str, name: str) -> bool:
        return any(name in (fact[0], fact[2]) for fact in self.path(question))

    # -- extraction ---------------------------------------------------------------------------------------------------

    def _of(self, value: Any) -> list[Fact]:
        return self.stated.get(value.title, [])

    def named_entities(self, value):
        return {"named_entities": self.names(f"{value.title} {value.text}")}

    def question_entities(self, value):
        return {"named_entities": self.names(value.question)}

    def triples(self, value):
        return {"triples": [list(fact) for fact in self._of(value)]}

    def entity_relations(self, value):
        return {
            "entities": [self._entity(name) for name in self.names(f"{value.title} {value.text}")],
            "relations": [{"source": a, "target": b, "keywords": [r], "description": _said((a, r, b))}
                          for a, r, b in self._of(value)],
        }  # fmt: skip

    def graph_records(self, value):
        return {
            "entities": [self._entity(name) for name in self.names(f"{value.title} {value.text}")],
            "relationships": [{"source": a, "target": b, "description": _said((a, r, b)), "strength": 5}
                              for a, r, b in self._facts_in(value.text)],
        }  # fmt: skip

    def _facts_in(self, text: str) -> list[Fact]:
        return [fact for id, said in self.texts.items() if said in text for fact in self.stated[id]]

    def _entity(self, name: str) -> dict:
        told = [_said(fact) for fact in self.facts if name in (fact[0], fact[2])]
        return {"name": name, "type": self.types[name], "description": "; ".join(told) or name}

    def schema_extraction(self, value):
        named = self.names(f"{value.title} {value.text}")
        return {"triples": self._of(value), "entity_types": {name: self.types[name] for name in named}}

    # -- what layers ask ----------------------------------------------------------------------------------------------

    def fuse_descriptions(self, value):
        return {"description": "; ".join(value.fragments)}

    def curate_cluster(self, value):
        return {"groups": [{"canonical_label": one.label, "member_ids": [one.id]} for one in value.members]}

    def relabel_entities(self, value):
        known = {name for name, _ in value.types}
        kinds = {one.id: self.types.get(one.label) for one in value.entities}
        return {"entities": [{"id": id, "type": kind if kind in known else "unsure"} for id, kind in kinds.items()]}

    def summarise(self, value):
        return {"summary": " ".join(value.texts)[:60]}

    def summarise_entity(self, value):
        return {"summary": "; ".join(map(_said, value.facts))}

    def community_report(self, value):
        named = [name for name, _ in value.entities] or self.names(value.context)
        said = "; ".join(_said(fact) for fact in self.facts if fact[0] in named or fact[2] in named)
        finding = {"summary": named[0] if named else said[:20], "explanation": said}
        return {"title": "、".join(named[:3]) or "…", "summary": said, "rating": 5.0, "rating_explanation": "",
                "findings": [finding]}  # fmt: skip

    def name_communities(self, value):
        return {"communities": [{"id": one.id, "name": one.centre, "summary": " ".join(one.members)}
                                for one in value.communities]}  # fmt: skip

    def describe_entity(self, value: textualising.EntityInput):
        return {"type": value.type, "description": "; ".join(map(_said, value.triples)) or value.name}

    def describe_relations(self, value):
        return {"descriptions": [{"id": at, "description": _said(one)} for at, one in enumerate(value.triples, 1)]}

    # -- what methods ask ---------------------------------------------------------------------------------------------

    def keywords(self, value):
        return {"high_level": [r for _, r, _ in self.path(value.question)], "low_level": self.names(value.question)}

    def fact_filter(self, value):
        wanted = {tuple(part.casefold() for part in fact) for fact in self.path(value.question)}
        return {"facts": [list(one) for one in value.facts if tuple(part.casefold() for part in one) in wanted][:4]}

    def rate_neighbours(self, value):
        ways = [{part.casefold() for part in (a, b)} for a, _, b in self.path(value.question)]
        rated = []
        for number, one in enumerate(value.neighbours, 1):
            good = {one.name.casefold(), value.entity.casefold()} in ways
            rated.append({"number": number, "name": one.name, "score": 9 if good else 1})
        return {"ratings": rated}

    def choose_relations(self, value):
        near = {r for a, r, b in self.path(value.question) if value.entity in (a.casefold(), b.casefold())}
        choices = [{"number": at, "score": 0.9 if name in near else 0.1}
                   for at, (name, _) in enumerate(value.relations, 1)]  # fmt: skip
        return {"choices": sorted(choices, key=lambda one: -one["score"])[: value.width]}

    def choose_entities(self, value):
        ends = {part.casefold() for a, _, b in self.path(value.question) for part in (a, b)}
        return {"scores": [0.9 if name.casefold() in ends else 0.05 for name in value.entities]}

    def enough(self, value):
        known = {tuple(part.casefold() for part in one) for one in value.facts}
        return {"enough": all(tuple(p.casefold() for p in fact) in known for fact in self.path(value.question))}

    def graph_action(self, value):
        """Find the first name of the way, then read what states each fact, then finish."""
        path = self.path(value.question)
        wanted = [id for fact in path for id, facts in self.stated.items() if fact in facts]
        done = len(value.turns)
        if done < len(path):
            actions = [("find", self.names(_said(path[done]))[0], ""), ("read", wanted[done], "")]
        else:
            actions = [("finish", self.answer_of(value.question), "")]
        return {"thought": _said(path[min(done, len(path) - 1)]),
                "actions": [dict(zip(("action", "argument", "type"), one)) for one in actions]}  # fmt: skip

    def directions(self, value):
        missing = self.missing(value.question, _joined(value.passages))
        targets = [{"entity": a, "relation": r, "score": 0.9} for a, r, _ in missing]
        return {"sufficient": not missing, "targets": targets[: value.width]}

    def _thought(self, question: str, passages) -> str:
        missing = self.missing(question, _joined(passages))
        return f"{_said(missing[0])}." if missing else f"{CONCLUSION} {self.answer_of(question)}"

    def rank_passages(self, value):
        path = set(self.path(value.question))
        helps = [bool(path.intersection(self._facts_in(text))) for _, text in value.passages]
        return {"documents": sorted(range(1, len(helps) + 1), key=lambda number: not helps[number - 1])}

    def search_or_answer(self, value):
        text = "\n".join(text for _, text in value.passages)
        missing = self.missing(value.question, text)
        query = next((said for said in map(_said, missing) if said not in value.queries), "")
        return {"notes": "", "query": query, "answer": self.found(value.question, text)}

    def next_thought(self, value):
        return {"thought": self._thought(value.question, value.passages)}

    missing_evidence = next_thought

    def generation(self, value):
        return {"reasoning": self._thought(value.question, value.passages), "answer": self.answer_of(value.question)}

    def dual_thoughts(self, value):
        thought = self._thought(value.question, value.passages)
        return {"fast": thought, "slow": " ".join(map(_said, self.path(value.question)))}

    def reasoning_chain(self, value):
        path = self.path(value.question)
        bridges = [name for name in self.types if sum(name in fact for fact in path) > 1]
        return {"chain": " ".join(map(_said, path)), "steps": list(map(_said, path)), "bridges": bridges}

    def verify(self, value):
        gold = {id for fact in self.path(value.question) for id, facts in self.stated.items() if fact in facts}
        return {"documents": [at for at, (title, _) in enumerate(value.passages, 1) if title in gold]}

    def select_regions(self, value):
        anchors = [{"span": name, "description": name, "type": self.types[name]} for name in self.names(value.question)]
        return {"anchors": anchors, "topics": [value.question], "routing": 1 if anchors else 0}

    def dot_rules(self, value):
        path = self.path(value.question)
        kinds = {self.types[name] for a, _, b in path for name in (a, b) if name in self.types}
        return {"query_constraints": value.question, "intermediate_rules": list(map(_said, path[:-1])),
                "terminal_rules": list(map(_said, path[-1:])), "allowed_types": sorted(kinds),
                "initial_query": " ".join(map(_said, path))}  # fmt: skip

    def judge_paths(self, value):
        way, answer = {n for a, _, b in self.path(value.question) for n in (a, b)}, self.answer_of(value.question)
        verdicts = []
        for path in value.paths:
            label = "complete" if way <= set(path.nodes) else "partial" if set(path.nodes) <= way else "irrelevant"
            verdicts.append({"id": path.id, "label": label, "confidence": 0.9, "justification": path.nodes[-1],
                             "next_question": answer and value.question if label == "partial" else ""})  # fmt: skip
        return {"verdicts": verdicts}

    def fallback_query(self, value):
        return {"query": ""}

    def sub_questions(self, value):
        one = self.asked_of.get(value.question)
        answers = [step["answer"] for step in one.decomposition]
        return {"sub_questions": [_filled(step["question"], answers, "") for step in one.decomposition]}

    def reflect(self, value):
        missing = self.missing(value.question, f"{value.context}\n{_joined(value.passages)}")
        end = f"{QUERY} {_said(missing[0])}" if missing else f"{CONCLUSION} {self.answer_of(value.question)}"
        return {"reply": end}

    # -- what readers ask ---------------------------------------------------------------------------------------------

    def answer(self, value):
        found = self.found(value.question, value.context)
        thought = "; ".join(map(_said, self.path(value.question)))
        return {"thought": thought or value.question, "answer": found, "abstained": not found}

    def essay_answer(self, value):
        found = self.found(value.question, value.context)
        return {"reply": f"{found}. {'; '.join(map(_said, self.path(value.question)))}." if found else UNKNOWN}

    def stepwise_answer(self, value):
        steps = "\n".join(map(_said, self.path(value.question)))
        return {"reply": f"{steps}\n{CUE} {self.found(value.question, value.context) or UNKNOWN}"}

    def sparql_answer(self, value):
        lines = "\n".join(" ".join(f'"{p}"' if p[:1] != "?" else p for p in one) + " ." for one in self._query(value))
        return {"reply": f"SELECT {self._wanted(value)} WHERE {{\n{lines}\n}}\n"
                         f"{CUE} {self.found(value.question, value.context) or UNKNOWN}"}  # fmt: skip

    def write_patterns(self, value):
        rows = [dict(zip(("subject", "predicate", "object"), one)) for one in self._query(value)]
        return {"patterns": rows, "wanted": self._wanted(value), "compare": None}

    def _query(self, value) -> list[Fact]:
        """The gold steps as patterns: a step's answer is the variable ?x1, ?x2, …"""
        steps = self.asked_of[value.question].decomposition
        return [tuple(_variable(part, at) for part in one["pattern"]) for at, one in enumerate(steps, 1)]

    def _wanted(self, value) -> str:
        return f"?x{len(self.asked_of[value.question].decomposition)}"

    def global_map(self, value):
        told = [text for _, text in value.reports if any(_said(fact) in text for fact in self.path(value.question))]
        return {"points": [{"description": text[:300], "score": 80} for text in told]}

    def global_reduce(self, value):
        held = all(_said(fact) in value.context for fact in self.path(value.question))
        answer = self.answer_of(value.question) if held else ""
        return {"response": value.context[:100], "answer": answer, "abstained": not answer}


def _said(fact: Iterable[str]) -> str:
    return " ".join(fact)


def _variable(part: str, at: int) -> str:
    return f"?x{at}" if part == "?" else f"?x{part[1:]}" if part[:1] == "#" else part


def _joined(passages: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{title}\n{text}" for title, text in passages)


def _filled(text: str, answers: list[str], own: str) -> str:
    for number, answer in enumerate(answers, 1):
        text = text.replace(f"#{number}", answer)
    return text.replace("?", own) if own and text == "?" else text
