"""Recognition of prompts that a source prints, without their text: `fingerprints.json` holds hashes alone.

Two texts are compared in a normal form in which line ends, signs, capitals and the names of placeholders leave no
trace, so that what was typed or extracted from a PDF is recognised; letters, digits, their order and the places of
placeholders count. A source's prompt is known by the SHA-256 of its normal form (16 hex digits), and by those (8 hex
digits each) of its windows of 40 characters, one every 20: how many of them stand anywhere in a text is its share."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

GAP = "¤"  # a placeholder, in the normal form
WINDOW, APART = 40, 20  # characters of the normal form
WHOLE, PIECE = 16, 8  # hex digits
ENOUGH, SOME, SLIP = 0.9, 0.3, 3  # shares; windows that one wrong letter may cost
THEIRS = ("same", "holds", "damaged")  # verdicts that count as the source's own wording
_UNSEEN = str.maketrans("", "", "\\" + GAP)
_PLACEHOLDERS = tuple(  # of up to 120 characters; an opening bracket before a double quote opens JSON
    map(re.compile, (r'\{(?!\s*["“”])[^{}]{0,120}\}', r"<[^<>]{1,120}>", r'\[(?!\s*["“”\[{])[^\[\]]{1,120}\]'))
)
_SAID = re.compile(rf" ({'|'.join((*THEIRS, 'unsure', 'part'))}) (\d+)% of ([\w.-]+)\Z")


@dataclass(frozen=True)
class Printed:
    """A prompt in a source: facts about its normal form, and the Steps whose messages it is (`answer`, or `answer.open`
    for the mode `open`)."""

    place: str
    steps: tuple[str, ...]
    characters: int
    fingerprint: str
    sketch: frozenset[str]


class Verdict(NamedTuple):
    """What a text is to a prompt, and the share of the prompt's windows that it has.

    `same`: it is the prompt. `holds`: the prompt stands in it, with other text around. `damaged`: nearly all of its
    windows do, as after a slip of the pen. `unsure`: so, but as much of a similar prompt. `part`: three tenths of them.
    `other`: fewer."""

    label: str
    share: float
    id: str

    @property
    def theirs(self) -> bool:
        """Whether the text counts as the source's own."""
        return self.label in THEIRS

    def __str__(self) -> str:
        return f"{self.label} {int(100 * self.share)}% of {self.id}"


def normal(text: str) -> str:
    """The normal form: letters and digits (NFKC, case-folded), and one mark where placeholders stand between them.

    >>> normal("Answer the “Question” of\\n<user>: {question}"), normal("[a] B-c {x}{y} 1")
    ('answerthequestionof', 'bc¤1')
    """
    text = unicodedata.normalize("NFKC", text).translate(_UNSEEN)
    for placeholder in _PLACEHOLDERS:
        text = placeholder.sub(GAP, text)
    letters = "".join(character for character in text.casefold() if character == GAP or character.isalnum())
    return GAP.join(filter(None, letters.split(GAP)))


def printed(text: str, place: str = "", steps: Iterable[str] = ()) -> Printed:
    """The stored facts about a prompt."""
    form = normal(text)
    return Printed(place, tuple(steps), len(form), _hash(form, WHOLE), _pieces(form, APART))


def judged(text: str, prompts: Mapping[str, Printed]) -> dict[str, Verdict]:
    """What a text is to each of these prompts, by id."""
    form = normal(text)
    pieces = _pieces(form, 1)
    shares = {id: len(prompt.sketch & pieces) / len(prompt.sketch) for id, prompt in prompts.items()}
    near = {prompts[id].fingerprint for id, share in shares.items() if share > 0.5}
    return {id: Verdict(_description(form, prompt, shares[id], near), shares[id], id) for id, prompt in prompts.items()}


@lru_cache(maxsize=256)
def recognised(text: str, step: str) -> Verdict | None:
    """The best verdict on the messages of a Step, by the known prompts that are for it; None where it is `other`."""
    mine = {id for id, prompt in printed_prompts().items() if step in prompt.steps}
    verdicts = [verdict for id, verdict in judged(text, printed_prompts()).items() if id in mine] if mine else []
    best = max(verdicts, key=lambda verdict: (verdict.theirs, verdict.share), default=None)
    return None if best is None or best.label == "other" else best


def read(wording: str) -> tuple[str, Verdict | None]:
    """A wording as runs and layers name it: its name proper, and the verdict behind it.

    >>> read("reflect v1 file 0123456789ab part 45% of youtu-a8.2")
    ('reflect v1 file 0123456789ab', Verdict(label='part', share=0.45, id='youtu-a8.2'))
    """
    match = _SAID.search(wording)
    return (wording[: match.start()], Verdict(match[1], int(match[2]) / 100, match[3])) if match else (wording, None)


@cache
def printed_prompts() -> dict[str, Printed]:
    """The prompts that sources print, by id. A prompt printed twice occurs once."""
    rows = json.loads(Path(__file__).with_name("fingerprints.json").read_text(encoding="utf-8"))
    for row in rows.values():
        row |= {"steps": tuple(row["steps"]), "sketch": frozenset(re.findall("." * PIECE, row["sketch"]))}
    return {id: Printed(**row) for id, row in rows.items()}


def _description(form: str, prompt: Printed, share: float, near: set[str]) -> str:
    if share == 1 or prompt.characters < WINDOW:  # otherwise a part of it is missing
        starts = range(len(form) - prompt.characters + 1)
        if any(_hash(form[at : at + prompt.characters], WHOLE) == prompt.fingerprint for at in starts):
            return "same" if len(form) == prompt.characters else "holds"
    if share < SOME:
        return "other"
    missing = round(len(prompt.sketch) * (1 - share))
    if share < ENOUGH and missing > SLIP:
        return "part"
    return "unsure" if near - {prompt.fingerprint} else "damaged"


def _pieces(form: str, apart: int) -> frozenset[str]:
    """The hashes of windows; of a text that is shorter than one, that of the whole."""
    starts = range(0, max(1, len(form) - WINDOW + 1), apart)
    return frozenset(_hash(form[at : at + WINDOW], PIECE) for at in starts)


def _hash(form: str, digits: int) -> str:
    return sha256(form.encode()).hexdigest()[:digits]
