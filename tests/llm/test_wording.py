"""Prompts from files: what is sent, how replies are read, how runs name them, and files that are wrong."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.errors import SettingError
from workbench.evaluation.identity import of_method, of_reader
from workbench.index.journal import maker, signed_by
from workbench.llm import fingerprints
from workbench.llm.call import Reply
from workbench.llm.chat import ChatEngine
from workbench.llm.template import PROMPTS
from workbench.llm.wording import held, worded, wordings
from workbench.reading.prompts import step_of
from workbench.steps import answer, fact_filter, judge, named_entities, next_thought

ANSWER = """=== system
Read. {"braces": 1} stay where {{question}} is in two.

=== user
{context}

Q: {question}
Thought: """

FILTER = """=== user
{question} {"fact": {facts}}

=== reply
after = "[[ ## kept ## ]]"
before = "[[ ## completed ## ]]"
names = { fact = "facts" }
"""


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
        return tmp_path

    return write


class Told:
    """A call that gives one reply, and keeps the requests."""

    def __init__(self, text):
        self.text, self.requests = text, []

    def __call__(self, request):
        self.requests.append(request)
        return Reply(self.text)


def told(text, prompts=None):
    call = Told(text)
    engine = ChatEngine("openai:some-model", call)
    engine.prompts = prompts or {}
    return call, engine


def test_a_file_s_messages_are_sent_and_a_field_is_never_a_template(folder):
    prompts = wordings(folder(answer=ANSWER))
    call, engine = told("Thought: x\nAnswer: Orsby", prompts)
    (result,) = engine.run(answer.STEP, [answer.Input("Where is {context}?", "In {question}.", ())])
    assert result.value.answer == "Orsby"  # read as ever
    system, user = (message["content"] for message in call.requests[0].messages)
    assert system == 'Read. {"braces": 1} stay where {question} is in two.'
    assert user == "In {question}.\n\nQ: Where is {context}?\nThought: "


def test_a_reply_of_another_shape_is_read_between_its_marks(folder):
    prompts = wordings(folder(fact_filter=FILTER))
    call, engine = told(
        'I keep {"fact": []}: [[ ## kept ## ]] {"fact": [["a", "b", "c"]]} [[ ## completed ## ]] {}', prompts
    )
    asked = fact_filter.Input("Q?", (("a", "b", "c"), ("é", "2", "3")), (1.0, 0.5))
    (result,) = engine.run(fact_filter.STEP, [asked])
    assert result.value.facts == [["a", "b", "c"]]
    (request,) = call.requests
    assert request.messages[0]["content"] == 'Q? {"fact": [["a", "b", "c"], ["é", "2", "3"]]}'
    assert request.schema is None  # the Step's own form is not forced on it
    _, engine = told('[[ ## kept ## ]] ```{"fact": [{"head": "a", "relation": "b", "tail": "c"}]}```', prompts)
    assert engine.run(fact_filter.STEP, [asked])[0].value.facts == [["a", "b", "c"]], "as any reply is"
    _, engine = told('{"facts": [["a", "b", "c"]]}', prompts)
    assert "no '[[ ## kept ## ]]' in the reply" in engine.run(fact_filter.STEP, [asked])[0].failure


def test_other_files_of_the_folder_are_no_prompts(folder):
    where = folder(fact_filter=FILTER, README="# Where these words are from")
    assert {*wordings(where)} == {"fact_filter"}
    (where / "answer.toml").write_text("", encoding="utf-8")
    with pytest.raises(SettingError, match=r"write it as a text, answer\.md"):
        wordings(where)


@pytest.mark.parametrize(
    ("step", "value"),
    [
        (answer.STEP, answer.Input("Q?", "In Orsby.", ())),
        (answer.STEP.opened, answer.Input("Q?", "In Orsby.", ())),
        (judge.STEP, judge.Input("Q?", ("Orsby", "old Orsby"), "Orsby")),
    ],
)
def test_a_copy_of_ours_asks_as_ours_does(folder, step, value):
    """In both modes, and with what an input computes: a folder of other words begins with a copy."""
    text = (PROMPTS / f"{step.name}.md").read_text(encoding="utf-8")
    copied = worded(step, wordings(folder(**{step.file: text})))
    assert copied.from_file and copied.prompt(value) == step.prompt(value)


def test_a_reply_that_is_no_json_can_be_a_field(folder):
    """As IRGS's prompt in BDTR's figure 13 asks for an answer alone."""
    text = "=== user\n{passages} {question}\n\n=== reply\ntext = 'answer'"
    _, engine = told(" In Orsby. ", wordings(folder(generation=text)))
    (result,) = engine.run(next_thought.GENERATION, [next_thought.GenerationInput("Where?", ())])
    assert (result.value.answer, result.value.reasoning) == ("In Orsby.", "")


def test_runs_and_layers_name_the_wording_by_its_hash(folder, tiny_index):
    where = folder(fact_filter=FILTER, answer=ANSWER)
    prompts = wordings(where)
    _, plain = told("x")
    _, engine = told("x", prompts)
    said = f"fact_filter v2 file {prompts['fact_filter'].hash}"
    ours, theirs = (of_method(wb.method("hipporag2", tiny_index, one)) for one in (plain, engine))
    assert theirs.description["prompts"] == {"fact_filter": said} != ours.description["prompts"]
    assert ours.key != theirs.key
    read = of_reader(wb.reader("direct", engine))
    assert read.description["prompts"] == {"answer": f"answer v{answer.STEP.version} file {prompts['answer'].hash}"}
    assert read.key != of_reader(wb.reader("direct", plain)).key
    folder(fact_filter=FILTER + "\n# a remark changes nothing\n")
    assert wordings(where)["fact_filter"].hash == prompts["fact_filter"].hash
    folder(fact_filter=FILTER.replace("{question} ", "{question}  "))
    changed = wordings(where)["fact_filter"].hash
    assert changed != prompts["fact_filter"].hash


def test_a_layer_s_maker_names_it(folder):
    prompts = wordings(folder(triples=ANSWER.replace("{context}", "{text}").replace("Q: {question}", "{title}")))
    _, engine = told("x", prompts)
    signed = maker(engine, fact_filter.STEP, named_entities.TRIPLES)
    version = named_entities.TRIPLES.version
    assert signed_by(signed) == (
        "openai:some-model", f"fact_filter v2, triples v{version} file {prompts['triples'].hash}",
    )  # fmt: skip


def test_the_mode_open_has_a_file_of_its_own(folder):
    """That of `reject` is never asked in its place."""
    prompts, step = wordings(folder(answer=ANSWER)), step_of("thought", "open")
    assert worded(step, prompts) is step
    _, engine = told("x", prompts)
    plain = of_reader(wb.reader("direct[mode=open]", engine))
    assert " file " not in plain.description["prompts"]["answer"]

    prompts = wordings(folder(**{"answer.open": ANSWER.replace("Read.", "Read, or remember.")}))
    call, engine = told("Thought: x\nAnswer: Orsby", prompts)
    engine.run(step, [answer.Input("Where?", "In Orsby.", ())])
    engine.run(answer.STEP, [answer.Input("Where?", "In Orsby.", ())])
    assert [one.messages[0]["content"].partition(".")[0] for one in call.requests] == ["Read, or remember", "Read"]
    wide, closed = (of_reader(wb.reader(f"direct[mode={mode}]", engine)) for mode in ("open", "reject"))
    version, (theirs, ours) = answer.STEP.version, (prompts[one].hash for one in ("answer.open", "answer"))
    assert wide.description["prompts"] == {"answer": f"answer v{version} file {theirs}"}
    assert closed.description["prompts"] == {"answer": f"answer v{version} file {ours}"}
    assert wide.key != plain.key


@pytest.mark.parametrize("reader", ["global", "sparql-exec", "direct[prompt=knowledge]", "direct[prompt=essay]"])
def test_every_reader_s_open_messages_can_be_replaced(reader, folder, tiny_index):
    asked = wb.reader(f"{reader.rstrip(']')}{',' if '[' in reader else '['}mode=open]", index=tiny_index).reworded
    prompts = wordings(folder(**{step.file: "=== user\n{question}" for step in asked}))
    assert asked and all(worded(step, prompts).from_file for step in asked)


LIKE = "Read the passages of the harbour-master, and say in one word {context} what is asked: {question} Do not guess."


@pytest.fixture
def a_paper(monkeypatch):
    """A paper that prints the prompt of `answer` in its mode `open`, and of `triples`."""
    one = fingerprints.printed(LIKE, "1.2", ["answer.open", "triples"])
    monkeypatch.setattr(fingerprints, "printed_prompts", lambda: {"paper-1.2": one})
    fingerprints.recognised.cache_clear()
    yield
    fingerprints.recognised.cache_clear()


def test_runs_and_layers_carry_what_a_file_is_to_the_prompts_of_sources(folder, a_paper):
    """Of its own Step alone: the right words in the wrong place are not the source's."""
    text = f"=== user\n{LIKE}"
    inner = text.replace("{context}", "{title}").replace("{question}", "{text}")
    prompts = wordings(folder(**{"answer.open": text, "answer": text, "triples": inner.replace("guess.", "guess it!")}))
    _, engine = told("x", prompts)
    wide, closed = (of_reader(wb.reader(f"direct[mode={mode}]", engine)).description for mode in ("open", "reject"))
    assert wide["prompts"]["answer"].endswith(f" file {prompts['answer.open'].hash} same 100% of paper-1.2")
    assert closed["prompts"]["answer"].endswith(f" file {prompts['answer'].hash}")
    signed = maker(engine, fact_filter.STEP, named_entities.TRIPLES)
    (_, steps) = signed_by(signed)
    assert steps.endswith(f" file {prompts['triples'].hash} holds 100% of paper-1.2")
    assert {file: verdict and verdict.label for file, verdict in held(prompts).items()} == {
        "answer": None, "answer.open": "same", "triples": "holds",
    }  # fmt: skip


def test_an_engine_takes_a_folder_and_rules_read_none(folder):
    where = folder(answer=ANSWER)
    assert set(wb.engine("openai:some-model", api_key="k", prompts=where).prompts) == {"answer"}
    with pytest.raises(SettingError, match="rules read no prompt"):
        wb.engine("rules", prompts=where)


@pytest.mark.parametrize(("name", "text", "why"), [
    ("nothing", ANSWER, "no Step is called 'nothing'"),
    ("answer.closed", ANSWER, "answer has no mode 'closed'; there are answer.open, "),
    ("triples.open", ANSWER, "triples has no mode 'open'; there are answer.open, "),
    ("answer", "=== robot\n{question}", "has 'robot'; it may have system, user, assistant, reply"),
    ("answer", "=== assistant\n{question}", "its last message should be of the user"),
    ("answer", "=== user\nHello", "it would ask nothing"),
    ("answer", "=== user\n{?question}", "is not closed"),
    ("answer", "=== user\n{gold}", "has no 'gold'; it has context, ends, mode"),
    ("answer", ANSWER + "\n\n=== reply\nnot toml", "cannot be read"),
    ("answer", ANSWER + "\n\n=== reply\nafter = 3", "after, before and text"),
    ("answer", ANSWER + "\n\n=== reply\ntext = 'answr'", "'answr' is not a field of answer's output"),
    ("judge_paths", "=== user\n{rules.secret}", "judge_paths has no 'rules.secret'"),
    ("judge_paths", "=== user\n{rules.__class__}", "has no 'rules.__class__'"),
    ("answer", ANSWER + "#" * 200_000, "at most 200,000"),
])  # fmt: skip
def test_a_wrong_file_is_named(folder, name, text, why):
    with pytest.raises(SettingError, match=why):
        wordings(folder(**{name: text}))


def test_a_folder_without_prompts_is_refused(tmp_path):
    with pytest.raises(SettingError, match="a folder with a file"):
        wordings(tmp_path / "none")


@pytest.mark.parametrize(("reply", "text"), [
    ("Thought: the word Answer: is in it.\nAnswer: Oslo", "is in it."),
    ("Thought: x\nAnswer: Oslo.", "Oslo."),
    ("It is Oslo", "It is Oslo"),
])  # fmt: skip
def test_the_first_answer_as_in_the_released_code(reply, text):
    _, engine = told(reply)
    question = wb.records.Evidence("Q?", "m", "none", ())
    said = wb.reader("direct[extraction=hipporag2]", engine).read("Q?", question)
    assert (said.text, said.abstained, said.failure) == (text, False, None)
