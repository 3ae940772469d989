"""Steps as small as they can be: a list of names, an object of two fields, free text. Their input is a string."""

from __future__ import annotations

import re

from pydantic import BaseModel

from workbench.llm.step import Step
from workbench.rules import register


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


NAMES = Step("names", Names, prompt)
BOOK = Step("book", Book, prompt)
SAID = Step("said", Said, prompt, read=read)

register(NAMES, lambda value: Names(names=[value]))
register(BOOK, lambda value: Book(title=value, pages=1))
register(SAID, lambda value: Said(said=value))
