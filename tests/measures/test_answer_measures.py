"""accuracy, coverage and abstained: each flaw of the source's rules by hand, reproduced and avoided."""

from pathlib import Path

import pytest

from workbench import measures
from workbench.errors import SettingError
from workbench.measures import DEFAULT, Outcome
from workbench.measures.abstained import is_abstention, is_abstention_thesis
from workbench.measures.accuracy import accuracy, accuracy_thesis, heuristic
from workbench.measures.coverage import coverage, coverage_bridge, coverage_substring
from workbench.measures.words import words
from workbench.records import Question

ASKED = Question("q", "Where?", ("Orsby", "the town of Orsby"))
UNANSWERABLE = Question("u", "Who painted the fog?")


def measured(name, question=ASKED, **outcome):
    return measures.measure(name)(question, Outcome(["p"], **outcome))


# -- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Beatles' “Help!”", ["beatles", "help"]),
        ("O’Sullivan", ["o", "sullivan"]),
        ("Galaţi, Brëthane, Ørsted", ["galati", "brethane", "ørsted"]),
        ("Straße ﬁve Ⅳ", ["strasse", "five", "iv"]),
        ("7,531 or 12,345,678", ["7531", "or", "12345678"]),
        ("in 1914,1918", ["in", "1914", "1918"]),
        ("3.5 and 35.", ["3.5", "and", "35"]),
        ("-5 °C; 1994-1996; − 7", ["-5", "c", "1994", "1996", "7"]),
        ("NOT_SUPPORTED", ["not_supported"]),
        ("19th century", ["19th", "century"]),
        ("東京 が", ["東", "京", "が"]),  # a han or kana character is a word
        ("हिन्दी", ["हिन्दी"]),
        ("🇮🇹 ❤️", []),
        ("A", ["a"]),
        ("\ud800x", ["x"]),
    ],
)
def test_words_by_hand(text, found):
    assert words(text) == found


# -- accuracy ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("Orsby", ["Orsby"], True),
        ("It is the town of ORSBY.", ["Orsby"], True),
        ("Brethane", ["Brëthane"], True),
        ("7531 people", ["7,531"], True),
        ("Anglican Communion", ["the Anglican Communion"], True),
        ("In 1938", ["1937", "1938"], True),
        ("", ["Orsby"], False),  # the empty string is in every string
        ("a", ["Orsby Fair"], False),  # an answer within a gold answer
        ("Ohio", ["Columbus, Ohio"], False),
        ("1919", ["19"], False),
        ("3.5", ["5"], False),
        ("-5", ["5"], False),
        ("Norway", ["no"], False),
        ("I know that it is not.", ["no"], False),
        ("There is no such bridge: yes", ["no"], False),
        ("No", ["no"], True),
        ("no, they were not", ["No."], True),
        ("Yes/no", ["yes"], False),
        ("Yes and no", ["yes"], False),
        ("yes", ["no"], False),
        ("It is NOT_SUPPORTED", ["SUPPORTED"], False),
        ("not supported", ["supported"], False),
        ("東京", ["東京"], True),
        ("東京都", ["東京"], True),  # no space says where a word ends
        ("京都", ["東京"], False),
        ("…", ["🇮🇹"], False),  # no words in either
        ("I don’t know", ["know"], False),  # an abstention is wrong whatever words it has
        ("Unknown. The passages are on Orsby.", ["Orsby"], False),
    ],
)
def test_accuracy_by_hand(answer, gold, right):
    assert accuracy(answer, gold) == float(right)
    films = Question("q", "?", ("The Cardinal", *gold), answer_set=True)  # one of a set is enough
    assert (
        measured("accuracy", films, answer="The Cardinal") == 1 and measured("accuracy", films, answer=answer) == right
    )


@pytest.mark.parametrize(("answer", "right"), [(None, 1), ("", 1), ("I don’t know.", 1), ("Orsby", 0), ("no", 0)])
def test_an_unanswerable_question_is_answered_by_abstaining(answer, right):
    assert accuracy(answer, []) == right


@pytest.mark.parametrize("name", ["accuracy", "accuracy:thesis", "accuracy:heuristic"])
def test_a_failed_question_is_wrong_even_where_abstaining_is_right(name):
    for question in (ASKED, UNANSWERABLE):
        assert measured(name, question, answer="", failed=True) == 0
    assert measured(name, UNANSWERABLE, answer="", abstained=True) == 1
    assert measured(name, ASKED, answer="", abstained=True) == 0


# -- accuracy:thesis --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "gold", "decided"),
    [
        ("I know it", ["no"], True),  # reproduced: the source measures substrings
        ("1919", ["19"], True),
        ("Ohio", ["Columbus, Ohio"], True),
        ("(Orsby).", ["orsby"], True),
        ("Müller (physicist)", ["muller"], True),  # stage 3: brackets and marks dropped
        ("Mr. N. Whitlock", ["Nora Whitlock"], True),  # the same last word, of four letters or more
        ("Mr. X. Lee", ["Bruce Lee"], None),  # of three
        ("not sure", ["Orsby"], False),
        ("I don’t know", ["Orsby"], None),  # reproduced: the typographic apostrophe leaves it to the judge
        (None, ["Orsby"], False),
        (None, [], True),
        ("Orsby", [], False),
        ("", ["Orsby"], False),  # the departure
        ("東京", ["大阪"], None),  # nothing is left of either: no match
        ("the harbour town", ["Orsby"], None),
    ],
)
def test_the_heuristic_stages_by_hand(answer, gold, decided):
    assert heuristic(answer, gold) is decided


@pytest.mark.parametrize(
    ("answer", "gold", "code", "text"),
    [
        ("North of the Sea route", "north of Sea", 0, 1),
        ("a", "Orsby and an elm", 1, 0),  # an article alone is nothing
        ("not sure", "the", 0, 0),
    ],
)
def test_the_text_removes_articles_and_the_code_does_not(answer, gold, code, text):
    asked = Question("q", "?", (gold,))
    both = [measured(f"accuracy:heuristic{name}", asked, answer=answer) for name in ("", ":text")]
    assert both == [code, text]
    judged = [measured(f"accuracy:thesis{name}", asked, answer=answer, verdict="incorrect") for name in ("", ":text")]
    assert judged == both


@pytest.mark.parametrize(("verdict", "right"), [("correct", 1), ("incorrect", 0), ("unknown", 0), (None, 0)])
def test_only_the_verdict_correct_counts_and_only_where_the_heuristic_is_silent(verdict, right):
    assert accuracy_thesis("the harbour town", ["Orsby"], verdict) == right
    assert accuracy_thesis("in Orsby", ["Orsby"], verdict) == 1
    assert accuracy_thesis("not sure", ["Orsby"], verdict) == 0
    assert measured("accuracy:thesis", answer="the harbour town", verdict=verdict) == right
    assert measured("accuracy:heuristic", answer="the harbour town", verdict=verdict) == 0, "without the judge"
    asked = [measured(name, answer="x", verdict=verdict) for name in ("judged", "judge_unknown")]
    assert asked == [verdict is not None, verdict == "unknown"]


# -- abstained --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "default", "thesis"),
    [
        (None, True, True),
        ("I don't know.", True, True),
        ("  UNKNOWN!", True, True),
        ("(can't tell)", True, True),
        ("I don’t know", True, False),  # a typographic apostrophe
        ("I don't know. The passages are about fog.", True, False),  # an explanation
        ("Unknown, because nothing is said of it", True, False),
        ("Based on the passages, it cannot be determined.", True, False),
        ("The context does not mention the painter.", True, False),
        ("**I'm not sure**", True, False),
        ("I don't know who painted it", True, False),
        ("", True, False),
        ("I don't know, but I think Orsby", False, False),
        ("Not sure, maybe Orsby", False, False),
        ("not mentioned", True, False),
        ("Not provided in the context.", True, False),
        ("None", True, False),
        ("N/A", True, False),
        ("no information found", True, False),
        ("unknown (no birthplace is given)", True, False),
        ("None but the Brave", False, False),
        ("Nothing Compares 2 U", False, False),
        ("No Way Home", False, False),
        ("Unknown Pleasures", False, False),
        ("Unknown (2011 film)", False, False),
        ("I Don't Know How to Love Him", False, False),
        ("Orsby, but I am not sure", False, False),
        ("no", False, False),
        ("Orsby", False, False),
    ],
)
def test_abstentions_by_hand(text, default, thesis):
    assert (is_abstention(text), is_abstention_thesis(text)) == (default, thesis)


def test_abstentions_are_counted_apart_on_questions_without_an_answer():
    silent = {"answer": "", "abstained": True}
    names = ("abstained", "abstained:answerable", "abstained:unanswerable", "abstained:thesis")
    assert [measured(name, ASKED, **silent) for name in names] == [1, 1, None, 1]
    assert [measured(name, UNANSWERABLE, **silent) for name in names] == [1, None, 1, 1]
    assert [measured(name, UNANSWERABLE, answer="", failed=True) for name in names] == [0, None, 0, 0]
    assert measured("abstained", answer="I don’t know.") == 1, "what the text says counts, whatever the reader says"


# -- coverage ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("context", "gold", "bounded", "substring"),
    [
        ("Orsby\nlies  on the Aldra.", ["lies on"], 1, 1),
        ("Born in 1919.", ["19"], 0, 1),
        ("Orsbyton", ["Orsby"], 0, 1),
        ("“Ça ira” by N’Orvalle", ["N'Orvalle"], 1, 0),
        ("We know it.", ["no"], None, 1),  # yes and no are in nearly every text
        ("Fog.", ["yes", "Yes, both"], None, 0),
        ("Fog.", [], None, None),
        ("", ["Orsby"], 0, 0),
    ],
)
def test_coverage_by_hand(context, gold, bounded, substring):
    assert (coverage(context, gold), coverage_substring(context, gold)) == (bounded, substring)


CHAIN = "Orsby was founded by Nora Whitlock, who was born in Aldby."


@pytest.mark.parametrize(
    ("gold", "steps", "value"),
    [
        (["Aldby"], ["Nora Whitlock", "Aldby"], 1),
        (["Aldby", "Alderby"], ["Nora Whitlock", "Alderby"], 1),  # an alias of the last step
        (["Alderby"], ["Nora Whitlock", "Alderby"], 0),
        (["Aldby"], ["Kestrel FM", "Aldby"], 0),  # the answer stands there by chance: no chain
        (["yes"], ["Nora Whitlock", "yes"], 1),
        (["yes"], ["yes"], None),
        (["Aldby"], [], None),
    ],
)
def test_bridge_coverage_by_hand(gold, steps, value):
    assert coverage_bridge(CHAIN, gold, steps) == value


def test_bridge_coverage_reads_the_decomposition():
    steps = ({"question": "Who founded Orsby?", "answer": "Nora Whitlock"}, {"question": "#1?", "answer": "Orsby"})
    question = Question("q", "?", ("Orsby",), decomposition=steps)
    assert measured("coverage:bridge", question, context=CHAIN) == 1
    assert measured("coverage:bridge", context=CHAIN) is None
    unsolved = Question("q", "?", ("Orsby",), decomposition=({"question": "?"},))
    assert measured("coverage:bridge", unsolved, context=CHAIN) is None


# -- what it took -----------------------------------------------------------------------------------------------------


def test_the_judge_is_no_part_of_what_an_answer_took():
    used = {"prompt_tokens": 10, "completion_tokens": 2, "money": 0.5}
    usage = {"answer": used, "fact_filter": used, "judge": {**used, "money": None}}
    assert (measured("tokens", usage=usage), measured("cost", usage=usage)) == (24, 1.0)
    assert measured("cost", usage={"answer": {**used, "money": None}}) is None, "unknown is not zero"
    assert measured("context_tokens", context_tokens=7) == 7
    assert measured("coverage", context="In Orsby.") == 1 and measured("coverage", failed=True) == 0
    assert {measured(name, context="Orsby") for name in measures.ANSWER} == {None}, "nobody read"


# -- by name ----------------------------------------------------------------------------------------------------------


def test_every_measure_is_named_where_one_is_unknown():
    with pytest.raises(SettingError) as error:
        measures.measure("rouge")
    for name in [*measures.ANSWER, *measures.EVIDENCE, *measures.NODES, "recall@k", "ndcg@k", "all_gold@k", "seconds"]:
        assert name in str(error.value)
    assert all(callable(measures.measure(name)) for name in DEFAULT)
    with pytest.raises(SettingError, match=r"Run.table\(seconds=True\)"):
        measures.measure("seconds")


def test_every_measure_is_explained():
    text = (Path(__file__).parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")
    ranking = [f"{base}@k" for base in measures.RANKING]
    for name in [*ranking, *measures.ANSWER, *measures.EVIDENCE, *measures.NODES, "seconds"]:
        assert f"`{name}`" in text, name
