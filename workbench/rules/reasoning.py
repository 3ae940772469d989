"""The chain of a question as links, each with its candidates, and the rule bodies that read them:

    reasoning before an answer   `stepwise_answer`, `sparql_answer`
    BDTR                         what to search for next, the chain so far, and the passages that support it
    IRCoT, GCoT, ITER-RETGEN, ToG   what is said of the chain between two retrievals
    Youtu-GraphRAG               the hops of a question as sub-questions, and what the evidence still lacks

`stepwise_answer` and `sparql_answer` answer with `answering.short_answer`. They differ in when they abstain: a query
has no solution where a variable on the way has no reliable binding, while steps may still be combined where one of them
found nothing. In the mode `open` neither does while there is any value to give. Between two retrievals, a thought
states the last fact and asks for the next, a missing piece only asks, a generation only states, a direction names where
to look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from workbench.language.entity_types import LONGEST, SchemaTerms, unique
from workbench.language.pipeline import content_words, parse
from workbench.language.questions import Analysis, Hop, analyse, analysis_of
from workbench.language.relations import spoken, stem
from workbench.language.spans import pages
from workbench.rules.answering import ENOUGH, KEPT, Passages, chain, short_answer
from workbench.rules.hops import Candidate
from workbench.rules.patterns import write
from workbench.steps import dual_thoughts as thoughts
from workbench.steps import exploring
from workbench.steps import next_thought as thinking
from workbench.steps import reflect as reflection
from workbench.steps import search_or_answer as searching
from workbench.steps import sub_questions as decomposition
from workbench.steps.answer import Input as AnswerInput
from workbench.steps.final_answer import CUE, UNKNOWN
from workbench.steps.final_answer import Output as Reply
from workbench.text import storable

BREADTH = 3  # values of a hop that are followed


@dataclass(frozen=True)
class Link:
    """One hop of the chain: what is `asked` of which `names`, in words, and its `candidates`, best first.

    `names` are those of the question and, after them, the values of the inner hops; `last` is the hop whose answer is
    the question's."""

    relation: str
    names: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    last: bool = False

    @property
    def value(self) -> str:
        return self.candidates[0].text if self.candidates else ""

    @property
    def grounded(self) -> bool:
        """Whether the best value is reliable."""
        return bool(self.candidates) and self.candidates[0].confidence >= ENOUGH

    @property
    def query(self) -> str:
        """The hop as a query of its own."""
        return " ".join([*self.names, self.relation]).strip()


def links(question: str, passages: Passages) -> list[Link]:
    """The hops of a question, inner ones first, resolved in the passages as far as they go."""
    return list(_links_of(question, tuple((title, text) for title, text in passages)))


@lru_cache(KEPT)
def _links_of(question: str, passages: tuple[tuple[str, str], ...]) -> tuple[Link, ...]:
    analysis = analyse(question, [title for title, _ in passages])
    if analysis.kind == "none":
        return ()
    read = pages(passages)
    return tuple(link for hop in _tops(analysis) for link in _links(hop, question, analysis, read, last=True))


def _tops(analysis: Analysis) -> list[Hop]:
    """The hops that stand beside each other: of a comparison its sides."""
    if analysis.direction and analysis.sides:
        about = tuple(word for word in (analysis.dimension, *analysis.asked.words) if word)
        return [Hop(about, analysis.wants, analysis.head, side.names if not side.words and not side.inner else (),
                    () if not side.words and not side.inner else (side,)) for side in analysis.sides]  # fmt: skip
    return [analysis.asked]


def _links(hop: Hop, question: str, analysis: Analysis, read, last: bool = False) -> Iterator[Link]:
    before = []
    for inner in hop.inner:
        below = list(_links(inner, question, analysis, read))
        yield from below
        before.append(below[-1])
    values = tuple(link.value for link in before if link.value)
    candidates = chain(hop, read, analysis.names, 0 if last else 1)[:BREADTH] if read else ()
    candidates = tuple(replace(candidate, page=None) for candidate in candidates)  # a page holds its parse
    yield Link(_surface(hop, question), (*hop.names, *values), candidates, last)


def _surface(hop: Hop, question: str) -> str:
    """The words of a hop as they stand in the question: "bear" as "born"."""
    stems = {stem(word) for word in hop.words}
    (doc,) = parse([question])
    words = [token.text for token in doc if stems & {stem(token.text), stem(token.lemma_), stem(spoken(token))}]
    return " ".join(dict.fromkeys(words)) or " ".join(hop.words)


def stepwise_answer(value: AnswerInput) -> Reply:
    """A line for each hop with what was found for it, then the answer. Where paths are complete, their ends alone."""
    if value.ends:
        return _reply([], ", ".join(value.ends))
    answer = short_answer(value.question, value.passages, value.mode).answer
    return _reply(_lines(links(value.question, value.passages), bool(answer)), answer)


def sparql_answer(value: AnswerInput) -> Reply:
    """The query, if patterns can express it, what the hops of the question are bound to, and the answer. A hop without
    a binding ends the chain: the rules abstain. Where paths are complete, their ends alone."""
    if value.ends:
        return _reply([], ", ".join(value.ends))
    chain, query = links(value.question, value.passages), write(value.question, [title for title, _ in value.passages])
    bound = all(link.grounded for link in chain if not link.last)
    tried = bound or value.mode == "open"
    answer = short_answer(value.question, value.passages, value.mode).answer if tried else ""
    return _reply([query] * bool(query) + list(_lines(chain, bool(answer))), answer)


def _reply(lines: Iterable[str], answer: str) -> Reply:
    """In the form that the prompts ask of a model."""
    return Reply(reply="\n".join([*lines, f"{CUE} {answer or UNKNOWN}"]))


def _lines(chain: Sequence[Link], answered: bool) -> Iterator[str]:
    for number, link in enumerate(chain, 1):
        is_known = link.grounded or (link.last and answered and link.candidates)
        value = f"{link.value} (“{link.candidates[0].sentences[-1]}”)" if is_known else "not in the context"
        yield f"{number}. {link.query}: {value}"


SUPPORTS = 0.6  # share of the words of a step that a passage must hold to support it


def dual_thoughts(value: thoughts.Input) -> thoughts.Output:
    """fast: the first hop that was not asked for yet, by itself. slow: the question with what its inner hops found."""
    question, chain = value.question, links(value.question, value.passages)
    tried = {normal(query) for pair in value.before for query in pair} | {normal(question)}
    fast = first_untried((link.query for link in chain), tried, question)
    slow = first_untried(bridged(question, chain, value.passages), tried, question)
    return thoughts.Output(fast=fast, slow=slow)


def fast_thought(value: thoughts.Input) -> thoughts.FollowUp:
    return thoughts.FollowUp(query=dual_thoughts(value).fast)


def slow_thought(value: thoughts.Input) -> thoughts.FollowUp:
    return thoughts.FollowUp(query=dual_thoughts(value).slow)


def reasoning_chain(value: thoughts.ChainInput) -> thoughts.Chain:
    """The sentences in which the hops were read, as far as they are grounded, and what links them."""
    grounded = [link for link in links(value.question, value.passages) if link.grounded]
    steps = list(dict.fromkeys(sentence for link in grounded for sentence in link.candidates[0].sentences))
    bridges = list(dict.fromkeys(link.value for link in grounded if not link.last))
    chain = "; ".join(f"{link.query}: {link.value}" for link in grounded)
    return thoughts.Chain(
        chain=chain or "no hop of the question is answered by the documents", steps=steps, bridges=bridges
    )


def concluding_thoughts(value: thoughts.Input) -> thoughts.Conclusion:
    """Both at once, from the same documents."""
    chain = reasoning_chain(thoughts.ChainInput(value.question, value.passages))
    return thoughts.Conclusion(**dual_thoughts(value).model_dump(), **chain.model_dump())


def verify(value: thoughts.VerifyInput) -> thoughts.Supporting:
    """The passages that hold most words of a step; one is enough for a step."""
    words_of = [content_words(f"{title} {text}") for title, text in value.passages]
    supporting = set()
    for wanted in map(content_words, value.steps):
        shares = [len(wanted & words) / len(wanted) if wanted else 0.0 for words in words_of]
        if shares and max(shares) >= SUPPORTS:
            supporting.add(shares.index(max(shares)) + 1)
    return thoughts.Supporting(documents=sorted(supporting))


def bridged(question: str, chain: Sequence[Link], passages: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The question with what was found for its inner hops, the best of each first; then with titles."""
    values = [[candidate.text for candidate in link.candidates] for link in chain if not link.last]
    for rank in range(3):
        bridges = [names[rank] for names in values if rank < len(names)]
        if bridges:
            yield " ".join([question, *bridges])
    for title, _ in passages:
        yield f"{question} {title}"


def first_untried(queries: Iterable[str], tried: set[str], otherwise: str) -> str:
    """The first query whose normal form was not tried yet."""
    return next((query for query in queries if query.strip() and normal(query) not in tried), otherwise)


def normal(query: str) -> str:
    """The form in which queries are compared."""
    return " ".join(query.casefold().split())


MOST_WORDS = 99  # of a generation's reasoning


def next_thought(value: thinking.Input) -> thinking.Output:
    """The sentence in which the newest link was read, unless a thought before has it; then the next question, or the
    answer."""
    grounded = [link for link in links(value.question, value.passages) if link.grounded]
    newest = grounded[-1].candidates[0].sentences[-1] if grounded else ""
    newest = "" if any(newest in thought for thought in value.thoughts) else newest
    return thinking.Output(thought=f"{newest} {_next(value.question, value.passages)}".strip())


def missing_evidence(value: thinking.Input) -> thinking.Output:
    """The first link that is not grounded, as a question; or the answer."""
    return thinking.Output(thought=_next(value.question, value.passages))


def generation(value: thinking.GenerationInput) -> thinking.Generation:
    """The sentences in which the links were read, and the answer, each empty where nothing was found."""
    chain = links(value.question, value.passages)
    read = [sentence for link in chain if link.grounded for sentence in link.candidates[0].sentences]
    words = " ".join(dict.fromkeys(read)).split()
    answer = short_answer(value.question, value.passages).answer
    return thinking.Generation(reasoning=" ".join(words[:MOST_WORDS]), answer=answer)


def search_or_answer(value: searching.Input) -> searching.Output:
    """The sentences in which the links were read; then the answer if every link is grounded, or else the first of the
    hops, and of the question with what was found, that was not searched for."""
    chain = links(value.question, value.passages)
    read = [sentence for link in chain if link.grounded for sentence in link.candidates[0].sentences]
    notes = " ".join(text for text in dict.fromkeys(read) if not any(text in note for note in value.notes))
    answer = short_answer(value.question, value.passages).answer if chain and all(c.grounded for c in chain) else ""
    if answer:
        return searching.Output(notes=notes, answer=answer)
    tried = {normal(query) for query in (value.question, *value.queries)}
    open_hops = (link.query for link in chain if not link.grounded)
    query = first_untried((*open_hops, *bridged(value.question, chain, value.passages)), tried, "")
    return searching.Output(notes=notes, query=query)


def directions(value: exploring.DirectionsInput) -> exploring.DirectionsOutput:
    """A target for each link that is not grounded; sufficient if there is none. What comes first in the chain has the
    highest score, because the rest depends on it; a link of which no name is known yet is no direction, unless all are
    so."""
    chain = links(value.question, value.passages)
    missing = [link for link in chain if not link.grounded]
    chosen = ([link for link in missing if link.names] or missing)[: value.width]
    total = sum(range(1, len(chosen) + 1))
    targets = [
        exploring.Target(entity=" ".join(link.names), relation=link.relation, score=weight / total)
        for link, weight in zip(chosen, range(len(chosen), 0, -1))
    ]
    return exploring.DirectionsOutput(sufficient=bool(chain) and not missing, targets=targets)


def _next(question: str, passages: Passages) -> str:
    """The first link that is not grounded, as a question. If all are, the answer; or, where it cannot be read
    (of a yes-or-no question), the last link."""
    chain = links(question, passages)
    if not chain:
        return ""
    missing = [link for link in chain if not link.grounded]
    answer = "" if missing else short_answer(question, passages).answer
    return f"{thinking.CONCLUSION} {answer}" if answer else f"{[*missing, chain[-1]][0].query}?"


def sub_questions(value: decomposition.Input) -> decomposition.Output:
    """The hops that name something, by themselves, then the question, which holds those that name nothing. A question
    of one hop stays as it is."""
    question = " ".join(storable(value.question)[:LONGEST].split())
    if not question:
        return decomposition.Output(sub_questions=["?"])
    chain = links(question, ())
    named = [link.query for link in chain if link.names] if len(chain) > 1 else []
    questions = [*unique(named)[: value.most - 1], value.question]
    return decomposition.Output(sub_questions=questions, involved_types=_involved(question, value))


def reflect(value: reflection.Input) -> reflection.Output:
    """The sentence in which the newest link was read, then the answer if all links are grounded, else the first query
    not tried yet: a hop that is missing, or the question with what its inner hops found. Where all were tried, the
    search ends without an answer."""
    chain = links(value.question, value.passages)
    grounded = [link for link in chain if link.grounded]
    sentence = grounded[-1].candidates[0].sentences[-1] if grounded else ""
    return reflection.Output(reply=f"{sentence} {_decision(value, chain)}".strip())


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
    hops = list(analysis_of(question).asked.nested())
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
    return unique(spelled.get(relation, relation) for word in words for relation in terms.relations(word))
