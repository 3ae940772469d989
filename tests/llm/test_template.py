"""Prompts as texts: what a template gives, and how a wording is named."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
from pydantic import BaseModel

from workbench.evaluation.sums import read_config
from workbench.llm.step import Step, known_steps
from workbench.llm.template import PROMPTS, Prompt, parsed
from workbench.llm.wording import current


class Fact(NamedTuple):
    subject: str
    object: str


NAMED = Fact("x", "y")


@dataclass(frozen=True)
class Input:
    question: str = "Where is {facts}?"
    facts: tuple[Fact, ...] = (Fact("Ada", "Orsby"), Fact('B "o"', ""))
    words: tuple[str, ...] = ("a", "b")
    most: int | None = None
    fact: Fact = NAMED

    @property
    def twice(self) -> list[str]:
        return [self.question, self.question]


class Output(BaseModel):
    helps: bool


def filled(template: str, value: Input | None = None, **more) -> str:
    prompt = Prompt((("user", template),), "", Input, **more)
    return prompt(value or Input())[0]["content"]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{question} {{question}} {other} {} {a: 1}", "Where is {facts}? {question} {other} {} {a: 1}"),
        ("{question:json} {most} {words}", '"Where is {facts}?" null ["a", "b"]'),
        ("{fact.object}", "y"),
        ('{*twice " "}{.}{/twice}', "Where is {facts}? Where is {facts}?"),
        ('{*words ", "}{#}{.}{/words}', "1a, 2b"),
        ('{*facts "\\n"}{0} {1:json}{?object}!{|}?{/object}{/facts}', 'Ada "Orsby"!\nB "o" ""?'),
        ("{*words}{.}{question:json}{/words}", 'a"Where is {facts}?"b"Where is {facts}?"'),
        ("{?most}at most {most}{|}any{/most}{?words}, some{/words}", "any, some"),
        ("{?open}wide{|}closed{/open}", "closed"),
        ("{/words} {|}", "{/words} {|}"),
    ],
)
def test_what_a_template_gives(template, text):
    assert filled(template) == text


def test_a_list_that_comes_to_nothing_says_what_else():
    template = '{*words " "}{.}{|}none{/words}'
    assert [filled(template, Input(words=words)) for words in ((), ("",), ("", "a"))] == ["none", "none", " a"]


def test_a_section_is_closed():
    with pytest.raises(ValueError, match="is not closed"):
        parsed("{?most}x")


def step_of(folder: Path, text: str) -> Step:
    (folder / "helps.md").write_text(text, encoding="utf-8")
    return Step.from_text("helps", Input, Output, folder=folder)


TEXT = "=== system\nSay \\\nit.\n\n=== user\n{question}{?open} Guess.{/open}\n"


def test_a_step_is_its_file(tmp_path):
    step = step_of(tmp_path, TEXT)
    assert step.prompt(Input("Q?")) == [{"role": "system", "content": "Say it."}, {"role": "user", "content": "Q?"}]
    assert step.opened.prompt(Input("Q?"))[1]["content"] == "Q? Guess." and not step.ours
    assert step_of(tmp_path, TEXT.rstrip("\n")).prompt_hash == step.prompt_hash == step_of(tmp_path, TEXT).prompt_hash
    hashes = {step.prompt_hash, step.opened.prompt_hash, step_of(tmp_path, TEXT.replace("Say", "Tell")).prompt_hash}
    assert len(hashes) == 3
    assert step_of(tmp_path, "=== user\n{question}").open is None


def test_what_earlier_versions_named_by_code_is_found(tmp_path):
    """The stored run is from before prompts were texts."""
    table = json.loads((PROMPTS / "earlier.json").read_text(encoding="utf-8"))
    for file, hashes in table.items():
        name, _, mode = file.partition(".")
        step = known_steps()[name].opened if mode else known_steps()[name]
        assert {current(f"{step.identity} {digest}") for digest in hashes} == {step.wording}, file
    with zipfile.ZipFile(Path(__file__).parents[1] / "formats" / "v1" / "run.zip") as stored:
        stored.extractall(tmp_path)
    (config,) = (read_config(path.parent) for path in tmp_path.rglob("run.json"))
    assert config["prompts"] == {name: known_steps()[name].wording for name in ("answer", "fact_filter")}
    assert current("answer v3 000000000000") == "answer v3 000000000000"
    assert current("triples v2 0f89c726fe09") == "triples v2 0f89c726fe09"
