"""The bundled corpus is consistent: articles, questions and gold graph say the same, and nothing gives itself away."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

from scripts import loaded

import workbench as wb

DATA = wb.load("meridian")
GRAPH = DATA.graph
TEXT = {passage.id: passage.content.casefold() for passage in DATA.passages}
ANSWERABLE = [question for question in DATA.questions if question.answers]
KINDS = {"bridge", "comparison", "bridge-comparison", "compositional", "inference"}
ROWS = [json.loads(line) for line in (DATA.folder / "questions.jsonl").read_text("utf-8").splitlines()]
UNANSWERABLE = [row for row in ROWS if not row["answers"]]
DATE = re.compile(r"(?:(?:\d\d? )?[A-Z][a-z]+ )?\d{4}")

SCRIPT = loaded(Path(__file__).parents[2] / "benchmarks/decompositions.py", "decompositions_of_meridian")
FACTS = SCRIPT.read_facts(DATA.folder)


def stands(words: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", text.casefold()) is not None


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


def test_each_decomposition_leads_by_the_graph_to_the_answer_and_the_support():
    found = SCRIPT.check("meridian")
    assert (found.answerable, found.unanswerable, found.without, found.faults) == (121, 10, 0, {})


def test_each_step_stands_in_its_article_and_is_taken_up_by_a_later_one():
    for question in ANSWERABLE:
        asked = [json.dumps(step.get("pattern") or step["compare"]) for step in question.decomposition]
        for number, step in enumerate(question.decomposition, 1):
            kind = "compare" if step["support"] is None else "pattern"
            assert set(step) == {"question", "answer", "support", kind}, (question.id, step)
            assert step["support"] is None or stands(step["answer"], TEXT[step["support"]]), (question.id, step)
            assert number == len(asked) or any(f"#{number}" in later for later in asked[number:]), (question.id, step)
        assert question.decomposition[-1]["answer"].casefold() in [one.casefold() for one in question.answers]


def test_it_takes_as_many_articles_as_hops_and_each_is_needed():
    """For at least one step each gold article is the only one that states the fact."""
    for question in ANSWERABLE:
        stated = [step["support"] for step in question.decomposition if step["support"]]
        assert set(stated) == set(question.support) and len(question.support) == question.hops, question.id
        steps = SCRIPT.execute(question.decomposition, FACTS).steps
        assert all(len(answers) == 1 for answers in steps), question.id
        told = [passages for step in steps for passages in step.values() if len(passages) == 1]
        assert set(question.support) <= {name for passages in told for name in passages}, question.id


def test_no_answer_stands_in_its_own_question():
    for question in ANSWERABLE:
        if question.type in ("bridge", "compositional", "inference"):
            assert not [answer for answer in question.answers if stands(answer, question.question)], question.id


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
            assert re.search("hundred|thousand|million", triple.tail) or SCRIPT._number(triple.tail) > 0, triple


def test_no_one_has_two_births_or_is_dead_before_being_born():
    dates: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for triple in GRAPH.triples:
        if triple.relation in ("date of birth", "date of death"):
            dates[triple.head][triple.relation].add(int(triple.tail[-4:]))
    for person, known in dates.items():
        assert all(len(years) == 1 for years in known.values()), person
        if len(known) == 2:
            assert 20 < min(known["date of death"]) - min(known["date of birth"]) < 100, person


def test_each_definition_is_a_sentence():
    schema = GRAPH.schema
    for entry in (*schema.entity_types, *schema.relations, *schema.attributes):
        assert re.fullmatch(r"[A-Z][^.]*\.", entry.definition), entry
