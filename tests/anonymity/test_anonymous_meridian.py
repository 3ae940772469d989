"""The bundled data set without names holds none of the original's, in no form, and is what the command makes."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest

import workbench as wb
from workbench import anonymity, measures
from workbench.anonymity.names import PLACEHOLDER, read_aliases, table_of
from workbench.anonymity.rewriter import CALENDAR
from workbench.anonymity.rewritten import restored
from workbench.measures import Outcome

ORIGINAL, BUNDLED = wb.load("meridian"), wb.load("meridian-anonymised")
NAMES = ORIGINAL.folder / "names.jsonl"
FILES = {path: path.read_text("utf-8") for path in sorted(BUNDLED.folder.rglob("*")) if path.is_file()}


def plain(text: str) -> str:
    """Written without this project's own comparison of forms: no case, no accents, hyphens as spaces."""
    text = unicodedata.normalize("NFKD", text).casefold().replace("ø", "o").replace("’", "'")
    return re.sub(r"[-‐–_]", " ", "".join(c for c in text if not unicodedata.combining(c)))


def texts_of(value) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for name, held in value.items() if name not in ("id", "support") for text in texts_of(held)]
    return [text for held in value for text in texts_of(held)] if isinstance(value, list) else []


ROWS = [
    json.loads(line)
    for name in ("corpus.jsonl", "questions.jsonl")
    for line in (ORIGINAL.folder / name).read_text("utf-8").splitlines()
]
SCHEMA = (ORIGINAL.folder / "graph" / "schema.json").read_text("utf-8")
WORDS = [word for text in [*texts_of(ROWS), SCHEMA] for word in re.findall(r"\w+", text)]
COMMON = {plain(word) for word in WORDS if word[0].islower()}
ENTITIES = [*ORIGINAL.graph.entities, *read_aliases(NAMES)]
NAMED = [name for entity in ENTITIES for name in (entity.name, *entity.aliases)]
TELLING = [  # mentions that hold a name: a capital letter behind their first word
    mention
    for entity in ORIGINAL.graph.entities
    for mention in entity.mentions
    if any(map(str.isupper, mention.partition(" ")[2])) or (" " not in mention and mention[0].isupper())
]
BARE = [re.sub(r"\s*\([^()]*\)$", "", name) for name in NAMED]
SHORT = [re.sub(r"(?i)^(the|an?) ", "", name) for name in BARE]
FORMS = {plain(form) for form in [*NAMED, *TELLING, *BARE, *(s for s in SHORT if any(map(str.isupper, s)))]}
PARTS = {
    plain(word)
    for name in NAMED
    for word in re.findall(r"\w+", name)
    if len(word) >= 4 and word[0].isupper() and plain(word) not in COMMON | CALENDAR
}

STEMS = {stem for part in PARTS for stem in (part, part[:-1] if part[-1] in "aeiouy" and len(part) > 4 else part)}
ENDINGS = "s|es|r|er|rs|ers|an|ans|ian|ians|i|ish|ese|ite|ites|ic|ics|ensis|like|ward|wards|ism|ist|ists|y|ies"
MADE_OF = re.compile(rf"(?:{'|'.join(sorted(map(re.escape, STEMS)))})(?:{ENDINGS})?")


def without_placeholders(text: str) -> str:
    return plain(PLACEHOLDER.sub("·", text))


def test_the_search_knows_what_it_looks_for():
    assert {"ilse varnessel", "varnessel, ilse", "the dam at sarn", "halcyon", "dolores m.", "isles"} <= FORMS
    assert {"varnessel", "esquerrin", "ansgard", "tavrin"} <= PARTS and "bridge" not in PARTS
    assert len(FORMS) > 400 and len(PARTS) > 200 and len(FILES) == 6


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_name_alias_or_telling_mention_is_left(path):
    text = without_placeholders(FILES[path])
    assert [form for form in sorted(FORMS) if re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_part_of_a_name_and_no_word_made_of_one_is_left(path):
    words = set(re.findall(r"[^\W\d_]+", without_placeholders(FILES[path]))) - COMMON
    assert sorted(word for word in words if MADE_OF.fullmatch(word)) == []


def test_ids_are_numbers():
    assert all(re.fullmatch(r"p\d{4}", passage.id) for passage in BUNDLED.passages)
    assert all(re.fullmatch(r"q\d{4}", question.id) for question in BUNDLED.questions)
    assert [len(data.passages) for data in (ORIGINAL, BUNDLED)] == [165, 165] and len(BUNDLED.questions) == 131


def test_the_original_would_be_found():
    """The search finds names where there are some."""
    text = plain((ORIGINAL.folder / "corpus.jsonl").read_text("utf-8"))
    found = [form for form in FORMS if re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text)]
    assert len(found) > 0.8 * len(FORMS)
    assert MADE_OF.fullmatch("quellaners") and MADE_OF.fullmatch("skarnensis") and not MADE_OF.fullmatch("salmon")


def test_the_command_makes_the_same_bytes(tmp_path):
    made = anonymity.write(wb.anonymise("meridian", NAMES), tmp_path / "meridian-anonymised")
    again = {path.relative_to(made): path.read_bytes() for path in sorted(made.rglob("*")) if path.is_file()}
    assert again == {path.relative_to(BUNDLED.folder): path.read_bytes() for path in FILES}
    assert table_of(made).read_bytes() == table_of(BUNDLED.folder).read_bytes()


def test_the_table_brings_every_passage_and_every_question_back():
    passages, questions = restored(BUNDLED, anonymity.names_of(BUNDLED))
    assert passages == ORIGINAL.passages
    assert [(q.id, q.question, q.support) for q in questions] == [
        (q.id, q.question, q.support) for q in ORIGINAL.questions
    ]


def test_the_gold_graph_has_the_same_shape_and_answers_the_same_patterns():
    before, after = ORIGINAL.graph, BUNDLED.graph
    assert len({entity.name for entity in after.entities}) == len(before.entities) == 296
    assert [(t.relation, t.kind) for t in after.triples] == [(t.relation, t.kind) for t in before.triples]
    assert all(PLACEHOLDER.fullmatch(entity.name) for entity in after.entities)
    lost = [q.id for q in BUNDLED.questions for step in q.decomposition or () if not _matches(step, q)]
    # "The ferry borrows its name from a character": the bridge is the name that both have, and they have two ids.
    assert lost == ["q0002", "q0021"]


def _matches(step: dict, question) -> bool:
    if "pattern" not in step:
        return True
    answers = [one["answer"] for one in question.decomposition]
    head, relation, tail = (answers[int(t[1:]) - 1] if re.fullmatch(r"#\d", t) else t for t in step["pattern"])
    names = {
        name.casefold(): entity.name for entity in BUNDLED.graph.entities for name in (entity.name, *entity.mentions)
    }
    stated = [t for t in BUNDLED.graph.triples if t.relation == relation and step["support"] in t.passages]
    found = {t.tail for t in stated if tail == "?" and t.head == names.get(head.casefold(), head)}
    found |= {t.head for t in stated if head == "?" and t.tail in (tail, names.get(tail.casefold()))}
    return len(found) == 1 and found <= {step["answer"], names.get(step["answer"].casefold())}


def test_the_gold_of_reversion_is_right_in_full():
    names = anonymity.names_of(BUNDLED)
    asked = anonymity.reversion(BUNDLED, names, corpus="original")
    assert asked.passages == ORIGINAL.passages and len(asked.questions) > 100
    assert {passage for q in asked.questions for passage in q.support} <= {p.id for p in asked.passages}
    for question in asked.questions:
        usual = "\n".join(pair.split(" | ")[0] for pair in question.answers[0].split("; "))
        for answer in (question.answers[0], usual):
            for name in ("precision", "recall", "f1", "exact"):
                assert measures.measure(f"reversion_{name}")(question, Outcome((), answer)) == 1.0
