"""The bundled corpus is consistent: articles, questions and gold graph say the same, and nothing gives itself away."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict

import pytest

import workbench as wb

DATA = wb.load("meridian")
GRAPH = DATA.graph
TEXT = {passage.id: passage.content.casefold() for passage in DATA.passages}
ANSWERABLE = [question for question in DATA.questions if question.answers]
KINDS = {"bridge", "comparison", "bridge-comparison", "compositional", "inference"}
ROWS = [json.loads(line) for line in (DATA.folder / "questions.jsonl").read_text("utf-8").splitlines()]
UNANSWERABLE = {row["id"]: row["unanswerable_because"]["pattern"] for row in ROWS if not row["answers"]}

MONTHS = re.findall(r"\w+", "January February March April May June July August September October November December")
UNITS = re.findall(
    r"\w+",
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen",
)
TENS = re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
WORDS = dict(zip(UNITS, range(1, 20))) | dict(zip(TENS, range(20, 100, 10)))
DATE = re.compile(rf"(?:(?:(\d\d?) )?({'|'.join(MONTHS)}) )?(\d{{4}})")


def by_id(questions):
    return pytest.mark.parametrize("question", questions, ids=lambda question: question.id)


def stands(words: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", text.casefold()) is not None


# The language of the patterns, as the README of the data defines it.

NAMED: dict[str, set[str]] = defaultdict(set)
for entity in GRAPH.entities:
    for name in (entity.name, *entity.aliases, *entity.mentions):
        NAMED[name.casefold()].add(entity.name)
TRIPLES = defaultdict(list)
for triple in GRAPH.triples:
    TRIPLES[triple.relation].append(triple)


def means(term: str, member: str, is_entity: bool) -> bool:
    """Whether what stands in a pattern is this member of a triple."""
    return member in NAMED[term.casefold()] if is_entity else term.casefold() == member.casefold()


def filled(terms: list[str], answers: list[str]) -> list[str]:
    """`#n` replaced by the answer of step n."""
    return [answers[int(term[1:]) - 1] if re.fullmatch(r"#\d", term) else term for term in terms]


def matches(pattern: list[str]) -> dict[tuple[str, bool], set[str]]:
    """What `?` may be: (entity or value, whether an entity) → the passages that state it."""
    head, relation, tail = pattern
    assert [head, tail].count("?") == 1, pattern
    found = defaultdict(set)
    for triple in TRIPLES[relation]:
        to_entity = triple.kind == "relation"
        if tail == "?" and means(head, triple.head, True):
            found[triple.tail, to_entity].update(triple.passages)
        if head == "?" and means(tail, triple.tail, to_entity):
            found[triple.head, True].update(triple.passages)
    return found


def date(text: str) -> tuple[int, int, int]:
    day, month, year = DATE.fullmatch(text).groups()
    return int(year), MONTHS.index(month) + 1 if month else 0, int(day or 0)


def number(text: str) -> float:
    digits = re.search(r"\d[\d,.]*", text)
    if digits:
        return float(digits[0].replace(",", ""))
    return float(sum(WORDS.get(word, 0) for word in re.split(r"\W+", text.casefold())))


def compare(by: str, values: list[str], pick: list[str]) -> str:
    one, other = values
    if by == "same":
        return pick[0] if one.casefold() == other.casefold() else pick[1]
    if by in ("more", "less"):
        first, second = number(one), number(other)
    else:
        first, second = date(one), date(other)
    if by == "difference":
        return str(abs(first[0] - second[0]))
    assert first != second, values
    return (
        pick[0] if (first < second) == {"earlier": True, "less": True, "later": False, "more": False}[by] else pick[1]
    )


# The articles


def test_there_are_enough_articles_of_an_articles_length():
    lengths = [len(passage.text.split()) for passage in DATA.passages]
    assert len(lengths) >= 142
    assert all(60 <= length <= 150 for length in lengths)


def test_titles_are_unique_and_ids_are_their_slugs():
    assert len({passage.title for passage in DATA.passages}) == len(DATA.passages)
    for passage in DATA.passages:
        title = unicodedata.normalize("NFKD", passage.title.replace("ø", "o").replace("Ø", "O"))
        bare = "".join(c for c in title if not unicodedata.combining(c) and c not in "'.").lower()
        assert passage.id == re.sub(r"[^a-z0-9]+", "-", bare).strip("-")


def test_no_two_articles_share_eight_words_in_a_row():
    seen: dict[tuple[str, ...], str] = {}
    for passage in DATA.passages:
        words = re.findall(r"\w+", passage.text.casefold())
        for eight in zip(*(words[start:] for start in range(8))):
            assert seen.setdefault(eight, passage.id) == passage.id, eight


def test_no_two_articles_begin_with_the_same_three_words():
    beginnings = Counter(tuple(passage.text.split()[:3]) for passage in DATA.passages)
    assert beginnings.most_common(1)[0][1] == 1, beginnings.most_common(3)


# The questions


def test_there_are_enough_questions_of_each_kind():
    types = Counter(question.type for question in ANSWERABLE)
    hops = Counter(question.hops for question in ANSWERABLE)
    first = [question.answers[0] for question in ANSWERABLE]
    assert len(ANSWERABLE) >= 92 and len(UNANSWERABLE) == len(DATA.questions) - len(ANSWERABLE) == 10
    assert set(types) == KINDS and min(types.values()) >= 10
    assert set(hops) == {2, 3, 4} and hops[2] >= 35 and hops[3] >= 25 and hops[4] >= 10
    assert first.count("yes") >= 5 and first.count("no") >= 5
    assert sum(DATE.fullmatch(answer) is not None for answer in first) >= 15
    assert sum(answer[0].isdigit() and not DATE.fullmatch(answer) for answer in first) >= 12
    assert [question.id for question in DATA.questions] == [f"mer-q{n:02}" for n in range(1, len(DATA.questions) + 1)]
    assert len({question.question for question in DATA.questions}) == len(DATA.questions)


@by_id(ANSWERABLE)
def test_each_step_is_answered_by_its_article_and_by_the_graph(question):
    answers = []
    for step in question.decomposition:
        assert set(step) == {"question", "answer", "support", "compare" if step["support"] is None else "pattern"}
        assert all(int(n) <= len(answers) for n in re.findall(r"#(\d+)", json.dumps(step)))
        if step["support"] is None:
            weighing = step["compare"]
            values, pick = filled(weighing["of"], answers), filled(weighing.get("pick", []), answers)
            assert compare(weighing["by"], values, pick) == step["answer"], step
        else:
            assert stands(step["answer"], TEXT[step["support"]]), step
            found = matches(filled(step["pattern"], answers))
            assert len(found) == 1, (step, found)
            ((answer, is_entity), passages) = next(iter(found.items()))
            assert means(step["answer"], answer, is_entity), (step, answer)
            assert step["support"] in passages, (step, passages)
        answers.append(step["answer"])
    assert answers[-1].casefold() in [answer.casefold() for answer in question.answers]


@by_id(ANSWERABLE)
def test_it_takes_as_many_articles_as_hops(question):
    stated = {step["support"] for step in question.decomposition} - {None}
    assert stated == set(question.support)
    assert len(question.support) == len(stated) == question.hops


@by_id(ANSWERABLE)
def test_each_gold_article_is_needed(question):
    """For at least one step it is the only article that states the fact."""
    answers, needed = [], set()
    for step in question.decomposition:
        if step["support"]:
            (passages,) = matches(filled(step["pattern"], answers)).values()
            needed |= passages if len(passages) == 1 else set()
        answers.append(step["answer"])
    assert set(question.support) <= needed


@by_id(ANSWERABLE)
def test_every_step_is_taken_up_by_a_later_one_save_the_last(question):
    asked = [json.dumps(step.get("pattern") or step["compare"]) for step in question.decomposition]
    for position in range(1, len(asked)):
        assert any(f"#{position}" in later for later in asked[position:]), question.decomposition[position - 1]


@by_id([question for question in ANSWERABLE if question.type in ("bridge", "compositional", "inference")])
def test_no_answer_stands_in_its_own_question(question):
    assert not [answer for answer in question.answers if stands(answer, question.question)]


@by_id([question for question in DATA.questions if not question.answers])
def test_what_cannot_be_answered_has_no_match_though_all_it_names_exists(question):
    assert (question.type, question.support, question.hops, question.decomposition) == ("unanswerable", (), None, None)
    *before, last = UNANSWERABLE[question.id]
    answers: list[str] = []
    for pattern in before:
        found = matches(filled(pattern, answers))
        assert len(found) == 1, (pattern, found)
        answers.append(next(iter(found))[0])
    head, relation, tail = filled(last, answers)
    assert TRIPLES[relation] and NAMED[(tail if head == "?" else head).casefold()]
    assert not matches([head, relation, tail])


# The gold graph


def test_what_a_triple_names_stands_in_every_passage_that_it_cites():
    entities = {entity.name: entity for entity in GRAPH.entities}
    for triple in GRAPH.triples:
        for passage in triple.passages:
            ends = [triple.head, triple.tail] if triple.kind == "relation" else [triple.head]
            for end in ends:
                entity = entities[end]
                forms = (entity.name, *entity.aliases, *entity.mentions)
                assert entity.passage == passage or any(stands(form, TEXT[passage]) for form in forms), (triple, end)
            assert triple.kind == "relation" or stands(triple.tail, TEXT[passage]), triple


def test_the_graph_covers_the_corpus():
    stated = Counter(passage for triple in GRAPH.triples for passage in triple.passages)
    assert sum(stated.values()) >= 6 * len(DATA.passages)
    assert min(stated[passage.id] for passage in DATA.passages) >= 4
    assert {entity.passage for entity in GRAPH.entities} - {None} == set(TEXT)
    for entity in GRAPH.entities:
        if entity.passage:
            assert entity.name == DATA.passage(entity.passage).title


def test_nothing_in_the_graph_is_idle():
    joined = {triple.head for triple in GRAPH.triples}
    joined |= {triple.tail for triple in GRAPH.triples if triple.kind == "relation"}
    assert {entity.name for entity in GRAPH.entities} == joined
    used = {(triple.kind, triple.relation) for triple in GRAPH.triples}
    defined = {("relation", relation.name) for relation in GRAPH.schema.relations}
    assert used == defined | {("attribute", attribute.name) for attribute in GRAPH.schema.attributes}
    assert {entity_type.name for entity_type in GRAPH.schema.entity_types} == {entity.type for entity in GRAPH.entities}


def test_values_are_what_the_schema_says():
    values = {attribute.name: attribute.value for attribute in GRAPH.schema.attributes}
    for triple in GRAPH.triples:
        if triple.kind == "attribute" and values[triple.relation] == "date":
            assert re.search(r"\b\d{4}\b", triple.tail), triple
        elif triple.kind == "attribute" and values[triple.relation] == "number":
            assert number(triple.tail) > 0 or re.search("hundred|thousand|million", triple.tail), triple


def test_no_one_has_two_births_or_is_dead_before_being_born():
    dates: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for triple in GRAPH.triples:
        if triple.relation in ("date of birth", "date of death"):
            dates[triple.head][triple.relation].add(date(triple.tail)[0])
    for person, known in dates.items():
        assert all(len(years) == 1 for years in known.values()), person
        if len(known) == 2:
            assert 20 < min(known["date of death"]) - min(known["date of birth"]) < 100, person


def test_each_definition_is_a_sentence():
    schema = GRAPH.schema
    for entry in (*schema.entity_types, *schema.relations, *schema.attributes):
        assert re.fullmatch(r"[A-Z][^.]*\.", entry.definition), entry
