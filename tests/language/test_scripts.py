"""What is read without a model in scripts without spaces, with umlauts and with marks; English stays as it was."""

from __future__ import annotations

import re
import string
import unicodedata
import warnings
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from letters import LetterEncoder
from matplotlib.figure import Figure
from oracle import Oracle

import workbench as wb
from workbench.data import Dataset
from workbench.data.splitter import split
from workbench.index import Index
from workbench.index.keywords import sentences as spaced_sentences
from workbench.language.foreign import LINE, other_language
from workbench.llm.engine import OtherLanguage, RulesEngine
from workbench.measures.abstained import is_abstention
from workbench.measures.accuracy import accuracy
from workbench.measures.anonyrag import letter_of
from workbench.measures.answers import contains, exact_match, f1, normalised, set_em, set_f1
from workbench.measures.coverage import coverage, coverage_titles
from workbench.reading.compression.texts import Texts
from workbench.records import Passage, Unit
from workbench.steps import fact_filter, named_entities
from workbench.text import sentences, words
from workbench.views import charts
from workbench.views.charts import Picture
from workbench.views.contexts import Marks
from workbench.views.render import html_of

# Without İ, which folds to an i and a mark of its own.
LATIN = st.text(st.characters(max_codepoint=0x17F, exclude_categories=("Cs",), exclude_characters="İ"))


@given(LATIN)
def test_answers_in_latin_letters_are_normalised_as_squad_does(text):
    assert words(text) == re.findall(r"\w+", unicodedata.normalize("NFC", text).casefold())
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    assert normalised(text) == " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def test_marks_belong_to_their_words():
    assert words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]
    assert words("Bru\u0308cke") == words("BRÜCKE") == ["brücke"]
    assert words("İzmir") == ["i\u0307zmir"]
    assert words("☎\ufe0f 1\ufe0f\u20e3") == ["1"]


def test_sentences_of_chinese_end_at_their_full_stop_and_quotation_mark():
    assert sentences("他说：“好。”她笑了。再见！") == ["他说：“好。”", "她笑了。", "再见！"]
    (found,) = spaced_sentences(["沙湖很深。石桥很老。"])
    assert len(found) == 2


def test_a_passage_begins_with_no_closing_mark():
    passages = split("“沙湖很深。”她说，“石桥很老。”" * 9, size=20)
    assert "".join(passages) == "“沙湖很深。”她说，“石桥很老。”" * 9
    assert not any(passage[0] in "，。”" for passage in passages)


@pytest.mark.parametrize(
    ("answer", "gold", "em", "overlap"),
    [
        ("镜月湖。", "镜月湖", 1, 1),
        ("《镜月湖》", "镜月湖", 1, 1),
        ("１８８９年", "1889 年", 1, 1),
        ("镜湖", "镜月湖", 0, 0.8),
        ("双狮桥", "镜月湖", 0, 0),
        ("der Tüllsee", "Tüllsee", 0, 2 / 3),  # its article is no English one
        ("TÜLLSEE", "Tüllsee", 1, 1),
        ("Straße", "Strasse", 0, 0),  # as SQuAD's: lower case folds no ß
    ],
)
def test_em_and_f1(answer, gold, em, overlap):
    assert (exact_match(answer, [gold]), f1(answer, [gold])) == (em, pytest.approx(overlap))


def test_names_are_found_inside_a_run():
    context = "她生于1889年，出生在鸥港。"
    assert coverage(context, ["鸥港"]) == 1 and coverage(context, ["霜河"]) == 0
    assert coverage_titles(context, ["1889年"], ["鸥港（城市）"]) == 1
    assert accuracy("答案是鸥港。", ["鸥港"]) == 1 and accuracy("霜河", ["鸥港"]) == 0
    assert contains("由IBM在鸥港制造", ["IBM"]) and not contains("鸥", ["鸥港"])
    assert coverage("那是霜河。", ["是"]) is None, "yes is in nearly every text"
    texts = Texts([Unit("1", "青岚玻璃厂由柳若岚创办。"), Unit("2", "双狮桥横跨霜河。")])
    assert texts.mentions(["柳若岚", "霜河"]) == [["柳若岚"], ["霜河"]]
    assert "<span" in html_of(Marks([("霜河", 0)])("双狮桥横跨霜河。", 100))
    assert accuracy("是的，在鸥港。", ["是"]) == 1 and accuracy("Nein, nie.", ["ja"]) == 0


def test_sets_choices_and_abstentions():
    assert set_em("霜河、鸥港", ["鸥港", "霜河"]) == set_em("霜河和鸥港", ["鸥港", "霜河"]) == 1
    assert set_em("Särle und Tüllsee", ["Tüllsee", "Särle"]) == 1
    assert set_f1("Sturm und Drang", ["Duel"]) == 0
    assert letter_of("答案：B") == letter_of("Die Antwort ist B.") == "B"
    assert all(map(is_abstention, ("未知。", "无法确定", "Das weiß ich nicht.", "Unbekannt")))
    assert not any(map(is_abstention, ("未知湖", "Unbekanntenfeld")))


def test_bm25_finds_chinese_and_german_words(tmp_path):
    passages = (
        Passage("a", "", "镜月湖很深，冬天很少结冰。"), Passage("b", "", "月亮照着湖边的镜子。"),
        Passage("c", "", "Die Löwenbrücke führt über die Särle."), Passage("d", "", "Die Bru\u0308cke ist alt."),
    )  # fmt: skip
    index = Index.build(
        Dataset("words", passages), None, tmp_path, encoder=LetterEncoder(), layers=["passages"], progress=False
    )
    bm25 = wb.method("bm25", index)
    assert [id for id, _ in bm25.retrieve("镜月湖").ranking][:2] == ["a", "b"]
    assert bm25.retrieve("Wo ist die BRÜCKE?").passages[0].item.id == "d"
    assert [id for id, _ in bm25.retrieve("löwenbrücke").ranking] == ["c"]


# Rules and prompts


@dataclass(frozen=True)
class Given:
    title: str
    text: str


GERMAN = Given("Särle", "Die Särle ist ein Fluss, der nicht weit von der Stadt in den See mündet.")
CHINESE = Given("霜河", "霜河是一条河流，在鸥港附近流入镜月湖。")
ENGLISH = Given("Aldra", "The Aldra is a river that flows into Lake Mira, and the town of Orsby lies on it.")


@pytest.mark.parametrize(("value", "language"), [(GERMAN, "German"), (CHINESE, "Chinese")])
def test_the_rules_say_once_that_they_read_english(value, language):
    engine = RulesEngine()
    with pytest.warns(OtherLanguage, match=rf"the rules read English.*\({language}\)") as caught:
        (result,) = engine.run(named_entities.STEP, [value])
        engine.run(named_entities.STEP, [value, ENGLISH])
    assert len(caught) == 1 and result.parse == "rules"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RulesEngine().run(named_entities.STEP, [ENGLISH, Given("Rio de Janeiro", "")])


@pytest.mark.parametrize(
    "text", ["Rio de Janeiro, Leonardo da Vinci", "Das Boot is a film.", "Kyoto (京都) is a city.", ""]
)
def test_names_and_quotations_make_no_other_language(text):
    assert other_language(text) is None


def test_a_prompt_has_one_line_more_where_the_texts_are_in_another_language():
    engine = Oracle(wb.load("meridian"))
    for value, there in ((GERMAN, True), (CHINESE, True), (ENGLISH, False)):
        sent, step = engine.request(named_entities.STEP, value).messages, named_entities.STEP
        first, *rest = step.messages(value)
        assert sent[0]["content"] == first["content"] + (f"\n\n{LINE}" if there else "")
        assert list(sent[1:]) == rest
    asked = fact_filter.Input("青岚玻璃厂的创办人与谁结婚？", (("柳若岚", "配偶", "韩石川"),), (0.5,))
    assert LINE in engine.request(fact_filter.STEP, asked).messages[0]["content"]


# Views


def test_letters_that_no_font_has_stay_text_in_svg(monkeypatch, tmp_path):
    monkeypatch.setattr(charts, "_installed", tuple)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, kept in (("镜月湖", True), ("Tüllsee", False)):
            figure = Figure()
            figure.add_subplot().set_title(name)
            picture = Picture(figure, name)
            assert (f">{name}</text>" in picture.svg()) == kept
            assert picture.svg() == picture.svg()
        picture.save(tmp_path / "umlauts.png")
    figure = Figure()
    figure.add_subplot().set_title("镜月湖")
    with pytest.warns(UserWarning, match="no installed font draws '月湖镜'"):
        Picture(figure, "").save(tmp_path / "boxes.png")
