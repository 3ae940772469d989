"""Steps as small as they can be: a list of names, an object of two fields, free text. Their input is a string."""

from __future__ import annotations

import re

from pydantic import BaseModel

from workbench.llm.step import Step


class Names(BaseModel):
    names: list[str]


class Book(BaseModel):
    title: str
    pages: int


class Said(BaseModel):
    said: str


def prompt(value: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": "Do it."}, {"role": "user", "content": value}]


def read(text: str) -> Said:
    """The text after "Answer:"."""
    found = re.search("Answer:(.*)", text)
    if not found:
        raise ValueError("no 'Answer:' in the reply")
    return Said(said=found.group(1).strip())


NAMES = Step("names", Names, prompt, lambda values: [Names(names=[value]) for value in values])
BOOK = Step("book", Book, prompt, lambda values: [Book(title=value, pages=1) for value in values])
SAID = Step("said", Said, prompt, lambda values: [Said(said=value) for value in values], read=read)
