"""Rule bodies of Youtu-GraphRAG's agent: the hops of a question as sub-questions, and what the evidence still lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.language.questions import Hop, analysis_of
from workbench.language.schema_terms import LONGEST, SchemaTerms, unique
from workbench.rules.answering import short_answer
from workbench.rules.bdtr import bridged, first_untried, normal
from workbench.rules.reasoning import Link, links
from workbench.steps import reflect as reflection
from workbench.steps import sub_questions as decomposition
from workbench.steps.final_answer import UNKNOWN
from workbench.text import storable


def sub_questions(value: decomposition.Input) -> decomposition.Output:
    """The hops that name something, by themselves, then the question, which holds those that name nothing. A question
    of one hop stays as it is."""
    question = " ".join(storable(value.question)[:LONGEST].split())
    if not question:
        return decomposition.Output(sub_questions=["?"])
    chain = links(question, ())
    named = [link.query for link in chain if link.names] if len(chain) > 1 else []
    asked = [*unique(named)[: value.most - 1], value.question]
    return decomposition.Output(sub_questions=asked, involved_types=_involved(question, value))


def reflect(value: reflection.Input) -> reflection.Output:
    """The sentence in which the newest link was read, then the answer if all links are grounded, else the first query
    not tried yet: a hop that is missing, or the question with what its inner hops found. Where all were tried, the
    search ends without an answer."""
    chain = links(value.question, value.passages)
    grounded = [link for link in chain if link.grounded]
    said = grounded[-1].candidates[0].sentences[-1] if grounded else ""
    return reflection.Output(reply=f"{said} {_decision(value, chain)}".strip())


def _decision(value: reflection.Input, chain: list[Link]) -> str:
    missing = [link for link in chain if not link.grounded]
    answer = "" if missing else short_answer(value.question, value.passages).answer
    if answer:
        return f"{reflection.ANSWER} {answer}"
    before = (reflection.reading(thought).query for thought in value.thoughts)
    tried = {normal(query) for query in (value.question, value.query, *value.searched, *before)}
    query = first_untried(_queries(value, missing), tried, "")
    return f"{reflection.QUERY} {query}" if query else f"{reflection.ANSWER} {UNKNOWN}"


def _queries(value: reflection.Input, missing: Iterable[Link]) -> Iterator[str]:
    missing = list(missing)
    yield from (link.query for link in missing if link.names)
    yield from bridged(value.question, links(value.question, value.passages), ())


def _involved(question: str, value: decomposition.Input) -> decomposition.InvolvedTypes:
    """The names of the schema that words of the hops evoke, the types of what is asked for and of the names."""
    hops = list(_hops(analysis_of(question).asked))
    words = unique(word for hop in hops for word in (*hop.words, hop.head))
    kinds = unique((*words, *(hop.wants for hop in hops)))
    types = SchemaTerms([("", value.entity_types, (), "")])
    evoked = [name for word in kinds for name in types.types(word)]
    evoked += [kind for _, kind in value.named if kind in value.entity_types]
    return decomposition.InvolvedTypes(
        entity_types=unique(evoked),
        relations=_evoked(value.relations, words),
        attributes=_evoked(value.attributes, words),
    )


def _evoked(labels: Iterable[str], words: Iterable[str]) -> list[str]:
    terms = SchemaTerms([(label, (), (), "") for label in labels])
    spelled = {" ".join(label.replace("_", " ").replace("-", " ").split()): label for label in labels}
    return unique(spelled.get(found, found) for word in words for found in terms.relations(word))


def _hops(hop: Hop) -> Iterator[Hop]:
    yield hop
    for inner in hop.inner:
        yield from _hops(inner)
