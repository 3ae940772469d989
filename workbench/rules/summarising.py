"""Rule bodies that write: extracts instead of summaries, and templates of sentences instead of articles.

    summaries      `summarise`, `summarise_entity`, `fuse_descriptions`, `name_communities`
    articles       `write_article`, `write_article_paper`, `describe_entity`, `describe_relations`: the templates of
                   `language.verbalisation`
    reports        `community_report`: a title of the best-connected entities of a community, a summary of its first
                   relationships, findings from the reports on its parts and from what else joins its entities, and, for
                   a rating, its share of the passages; `global_map`: the sentences that share words with a question
    essays         `essay_answer`: the ends of the complete paths, then the sentences of the passages that share most
                   words with the question, in the order in which they stand
    questions      `path_questions`, `personas`, `task_questions`: forms that are filled in. They exercise what works
                   with questions and test no reasoning: the types on the way, and titles, are all that they say

All else is extracts, and labelled as such. It composes nothing, so no judgement of such an answer says anything of an
essay.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from workbench import tokens
from workbench.language import verbalisation
from workbench.language.pipeline import content_words
from workbench.steps import corpus_questions, reporting, summarising, textualising
from workbench.steps import name_communities as naming
from workbench.steps.answer import Input as AnswerInput
from workbench.steps.final_answer import UNKNOWN
from workbench.steps.final_answer import Output as Reply
from workbench.text import sentences as sentences_of
from workbench.text import titled

_NO_END = "".join(rf"(?<!\b{short}\.)" for short in ("[A-Z]", "Mr", "Mrs", "Ms", "Dr", "St", "No", "vs"))
_SENTENCE_END = re.compile(rf"(?<=[.!?…]){_NO_END}\s+|(?<=[。！？])|\n+")


def summarise(value: summarising.Texts) -> summarising.Summary:
    """The sentences that have most in common with all others."""
    return summarising.Summary(summary=central(value.texts, value.limit))


def summarise_entity(value: summarising.EntityInput) -> summarising.Summary:
    """The facts in their order, as far as they fit."""
    statements = [summarising.statement(fact) for fact in value.facts]
    return summarising.Summary(summary=" ".join(_fitting(statements, value.limit)))


def fuse_descriptions(value: summarising.Fragments) -> summarising.Description:
    """The distinct fragments in their order, as far as they fit; of the first its beginning where it does not fit by
    itself."""
    fitting = _fitting(value.fragments, value.limit)
    return summarising.Description(description=" ".join(fitting) or tokens.cut(" ".join(value.fragments), value.limit))


def name_communities(value: naming.Input) -> naming.Output:
    """Names of the centre, the shared type and relation; summaries of members and facts."""
    return naming.Output(communities=[_named(community) for community in value.communities])


def _named(community: naming.Community) -> naming.Named:
    shared = (community.centre, community.type, community.relation)
    parts = [text for text in map(naming.plain, shared) if text]
    others = [name for name in community.members if name != community.centre]
    more = community.size - 1 - len(others)
    listed = " and ".join([*([", ".join(others)] if others else []), *([f"{more} more"] if more > 0 else [])])
    sentences = [
        f"{community.size} members{f', most of type {community.type}' * bool(community.type)}.",
        f"{community.centre} is at the centre{f', with {listed}' * bool(listed)}.",
        *map(summarising.statement, community.facts),
    ]
    name = " - ".join(dict.fromkeys(parts)) or f"Community {community.id}"
    return naming.Named(id=community.id, name=name, summary=" ".join(sentences))


def central(texts: Sequence[str], limit: int) -> str:
    """The sentences nearest to the centroid of all, in their own order, up to `limit` cl100k tokens together.

    Sentences are compared by the content words they have, as unit vectors. One that does not fit is passed over; where
    the nearest does not fit by itself, its beginning is the extract.
    """
    sentences = list(dict.fromkeys(sentence for text in texts for sentence in _sentences(text)))
    if not sentences:
        return ""
    words = [content_words(sentence) for sentence in sentences]
    centroid = Counter()
    for words_of in words:
        for word in words_of:
            centroid[word] += 1 / math.sqrt(len(words_of))
    # fsum: the order of a set differs from process to process, and with it the last bits of a plain sum.
    nearness = [math.fsum(centroid[word] for word in words_of) / math.sqrt(len(words_of) or 1) for words_of in words]
    order = sorted(range(len(sentences)), key=lambda row: -nearness[row])
    chosen: list[int] = []
    for row in order:
        if tokens.count(" ".join(sentences[row] for row in sorted([*chosen, row]))) <= limit:
            chosen.append(row)
    return " ".join(sentences[row] for row in sorted(chosen)) or tokens.cut(sentences[order[0]], limit)


def _fitting(texts: Sequence[str], limit: int) -> list[str]:
    """The distinct texts that fit into `limit` tokens, with a space between them; one that does not fit is passed
    over."""
    fitting: list[str] = []
    for text in dict.fromkeys(texts):
        if tokens.count(" ".join((*fitting, text))) <= limit:
            fitting.append(text)
    return fitting


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def write_article(value: textualising.Topic) -> textualising.Article:
    return textualising.Article(text=verbalisation.article(value.topic, value.triples, value.relations))


write_article_paper = write_article


def describe_entity(value: textualising.EntityInput) -> textualising.EntityOutput:
    return textualising.EntityOutput(
        type=value.type, description=verbalisation.description(value.name, value.triples, value.relations)
    )


def describe_relations(value: textualising.RelationsInput) -> textualising.RelationsOutput:
    sentences = (verbalisation.sentence(triple, value.relations) for triple in value.triples)
    described = [textualising.Told(id=number, description=text) for number, text in enumerate(sentences, 1)]
    return textualising.RelationsOutput(descriptions=described)


NAMED = 3  # entities in a title
SUMMARISED = 5  # relationships, and reports, in a summary
FINDINGS = 5
EXPLAINED = 5  # relationships of a finding
POINTS = 20  # sentences that are worth telling


def community_report(value: reporting.Community) -> reporting.Report:
    """The rating is the share of the passages on a scale from 0 to 10."""
    about: dict[str, list[str]] = defaultdict(list)
    for source, target, description in value.relationships:
        for end in dict.fromkeys((source, target)):
            about[end].append(sentence(description))
    names = sorted(about, key=lambda name: -len(about[name])) or [name for name, _ in value.entities]
    summary = _summary(value)
    return reporting.Report(
        title=", ".join((names or [title for title, _ in value.reports])[:NAMED]) or "a community without entities",
        summary=" ".join(summary),
        rating=round(10 * min(max(value.share, 0.0), 1.0), 1),
        rating_explanation="rules: its passages, as a share of those of the largest community of its level",
        findings=_findings(value, [(name, about[name]) for name in names], summary),
    )


def _summary(value: reporting.Community) -> list[str]:
    """The first relationships and the titles of reports; the first entities where there are neither."""
    sentences = [sentence(description) for _, _, description in value.relationships[:SUMMARISED]]
    sentences += [f"It includes {title}." for title, _ in value.reports[:SUMMARISED]]
    entities = (sentence(f"{name}: {description}") for name, description in value.entities[:SUMMARISED])
    return list(dict.fromkeys(sentences or entities))


def _findings(
    value: reporting.Community, about: Sequence[tuple[str, Sequence[str]]], summary: Sequence[str]
) -> list[reporting.Finding]:
    """The reports on parts of the community, then of each entity the relationships that no text before states."""
    used, findings = set(summary), list(value.reports[:FINDINGS])
    for name, sentences in about:
        new = [text for text in dict.fromkeys(sentences) if text not in used][:EXPLAINED]
        if new and len(findings) < FINDINGS:
            findings.append((name, " ".join(new)))
            used.update(new)
    return [reporting.Finding(summary=title, explanation=text) for title, text in findings]


def global_map(value: reporting.MapInput) -> reporting.MapOutput:
    scored = points(value.question, value.reports)
    return reporting.MapOutput(points=[reporting.Point(description=text, score=score) for text, score in scored])


def sentence(text: str) -> str:
    """One line that ends like a sentence.

    >>> sentence("orsby lies on\\nriver aldra"), sentence("Is it?")
    ('orsby lies on river aldra.', 'Is it?')
    """
    line = " ".join(text.split())
    return line if not line or line[-1] in ".!?…" else line + "."


def points(question: str, reports: Sequence[tuple[str, str]]) -> list[tuple[str, float]]:
    """(sentence, score) of the best sentences of reports, (title, text), that share words with the question, best
    first. The score is the share of the question's content words, from 0 to 100; the words of a
    heading count for its sentences.

    >>> points("Where does the Aldra rise?", [("aldra", "the aldra rises on mount kell. fog is rare.")])
    [('the aldra rises on mount kell.', 50.0)]
    """
    wanted = content_words(question)
    by_text: dict[str, float] = {}
    for title, text in reports:
        heading = content_words(title) & wanted
        for line in text.splitlines():
            if line.startswith("## "):
                heading = content_words(line) & wanted
                continue
            for text in re.split(r"(?<=[.!?…])\s+", line):
                own = content_words(text) & wanted
                if own:
                    by_text[text] = max(by_text.get(text, 0.0), round(100 * len(own | heading) / len(wanted), 1))
    return sorted(by_text.items(), key=lambda point: -point[1])[:POINTS]


ESSAY_LABEL = "By rules, sentences of the passages and not an essay:"
ESSAY_SENTENCES = 8  # at most


def essay_answer(value: AnswerInput) -> Reply:
    """
    >>> read = (("Kestrel FM", "It plays folk. Nora Whitlock founded it."), ("Fog", "Fog is rare."))
    >>> print(essay_answer(AnswerInput("Who founded Kestrel FM?", "", read)).reply)
    By rules, sentences of the passages and not an essay:
    <BLANKLINE>
    Kestrel FM
    It plays folk. Nora Whitlock founded it.
    """
    ends = f"The complete paths end at {', '.join(value.ends)}." if value.ends else ""
    blocks = [block for block in (ends, *_extract(value.question, value.passages)) if block]
    return Reply(reply="\n\n".join([ESSAY_LABEL, *blocks]) if blocks else UNKNOWN)


def _extract(question: str, passages: Sequence[tuple[str, str]]) -> list[str]:
    """The sentences that share most words with the question, below the titles of their passages; the words of a title
    count for its sentences."""
    wanted = content_words(question)
    shared = {
        (at, number): len((content_words(text) | content_words(title)) & wanted)
        for at, (title, body) in enumerate(passages)
        for number, text in enumerate(sentences_of(body))
    }
    best = sorted((place for place in shared if shared[place]), key=lambda place: (-shared[place], place))[
        :ESSAY_SENTENCES
    ]
    chosen: dict[int, list[str]] = {}
    for at, number in sorted(best):
        chosen.setdefault(at, []).append(sentences_of(passages[at][1])[number])
    return [titled(passages[at][0], " ".join(texts)) for at, texts in chosen.items()]


# -- questions --------------------------------------------------------------------------------------------------------

_FORMS = (
    "Going out from {start}, over {between}, which {end} is reached?",
    "Which {end} is joined to {start} by {between}?",
    "To which {end} does {between} lead from {start}?",
    "What is the {end} that lies behind {between} of {start}?",
    "If one follows {between} from {start}, at which {end} does one arrive?",
)
_TASKS = ("compare", "explain", "trace", "summarise", "question")


def path_questions(value: corpus_questions.PathInput) -> corpus_questions.PathOutput:
    """The forms with the start by name and the others by their types.

    >>> types = ("", "person", "station", "person")
    >>> path = corpus_questions.PathInput(("Marl Viaduct", "Ines", "Kestrel FM", "Nora"), types, "", 1)
    >>> path_questions(path).questions[0].question
    'Going out from Marl Viaduct, over a person and a station, which person is reached?'
    """
    kinds = [kind.replace("_", " ") or "entity" for kind in value.types] or ["entity"]
    start, end = (value.names[at] if value.names else "" for at in (0, -1))
    between = " and ".join(f"{_article(kind)} {kind}" for kind in kinds[1:-1]) or "one step"
    texts = (form.format(start=start, between=between, end=kinds[-1]) for form in _forms(value.many))
    questions = [corpus_questions.Asked(question=question, answer=end) for question in texts]
    return corpus_questions.PathOutput(questions=questions)


def personas(value: corpus_questions.PersonasInput) -> corpus_questions.PersonasOutput:
    """A user for each of the first titles, with the same tasks."""
    return corpus_questions.PersonasOutput(
        users=[
            corpus_questions.Persona(
                user=f"rules: reader {at + 1}, who knows {_title(value.titles, at)}",
                tasks=[
                    f"rules: {_TASKS[n % len(_TASKS)]} what is said of {_title(value.titles, at)}, {n + 1}"
                    for n in range(value.tasks)
                ],
            )
            for at in range(value.users)
        ]
    )


def task_questions(value: corpus_questions.TasksInput) -> corpus_questions.TasksOutput:
    """What is said of a title, for this task, over and over."""
    return corpus_questions.TasksOutput(
        questions=[
            f"For the task “{value.task}” of “{value.user}”, what is said of {_title(value.titles, at)} ({at + 1})?"
            for at in range(value.many)
        ]
    )


def _forms(many: int) -> list[str]:
    """So many forms; beyond those that there are, with a number."""
    more = (f"{_FORMS[at % len(_FORMS)][:-1]} ({at + 1})?" for at in range(len(_FORMS), many))
    return [*_FORMS[:many], *more]


def _title(titles: tuple[str, ...], at: int) -> str:
    return titles[at % len(titles)] if titles else "the corpus"


def _article(kind: str) -> str:
    return "an" if kind[:1].casefold() in "aeiou" else "a"
