"""IRCoT: each thought of a chain of reasoning is the next query.

Follows "Interleaving Retrieval with Chain-of-Thought Reasoning" (arXiv 2212.10509) in two profiles:

    setting      adapted      original
    backbone     hipporag2    bm25
    iterations   2            10          thoughts at most
    depth        200          6           passages fetched per query
    shown        10           15          passages shown to the Step
    most         none         15          passages in all: see below
    scale        none         rank
    sentences    false        true        a thought is cut to its first sentence: see below

`adapted` is the common loop of "Beyond Static Retrieval", with HippoRAG's use of IRCoT: the thought is the query, and
the method stops when a thought gives the answer. `original` is the authors' method. With `most`, new passages follow
the old ones, without near duplicates, and are never re-ranked. With `sentences`, the query is the last sentence that is
more than a conclusion ("Thus …", "1990 - 1950 = 40"), or else the question, without question words, and an empty
thought ends the chain. In both profiles the first retrieval uses the unchanged question.

Different from the papers: a single worked example instead of one or more per data set; and a conclusion is recognised
at the start of a sentence only, because models quote their instructions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from workbench.errors import SettingError
from workbench.language.foreign import other_language
from workbench.language.pipeline import parse
from workbench.llm.step import Result
from workbench.methods.iterative import Iterative, Settings, Thought, contents, texts_of
from workbench.methods.iterative.pool import Entry, Pool
from workbench.records import Evidence, Passage
from workbench.settings import Positive, validated
from workbench.steps import next_thought
from workbench.text import sentences
from workbench.trace import Trace

ALIKE = 0.9  # similarity of titles and of texts from which two passages are near duplicates
_CONCLUDES = re.compile(
    r"(?:^|[.!?…:]\s|\n|, (?=so\b))[\s*_>-]{0,8}"  # where a sentence starts, or its last clause
    r"(?:(?:so|thus|hence|therefore),? )?the (?:final )?answer"
    r"(?: ?:| is ?:| is(?! (?:not|still|yet|missing|unknown|unclear|uncertain)\b))"
    r"[\s*_]{1,8}[\"“‘'(]?\w",  # an answer follows; a quoted instruction is closed instead
    re.IGNORECASE,
)
_REASONING = re.compile(
    r"^\s*(?:thus|so|therefore|hence|that is)\b|\d ?[-+−*/×÷] ?\d[\d.,]{0,20} ?= ?\d", re.IGNORECASE
)
_PARSED = 2_000  # characters of a thought; its first sentence is not longer
_QUESTION_WORDS = re.compile(r"\b(?:who|whom|whose|what|which|when|where|why|how)\b\s*", re.IGNORECASE)


class IRCoT(Iterative):
    """Retrieval interleaved with a chain of thought."""

    name = "ircot"
    paper = "Interleaving Retrieval with Chain-of-Thought Reasoning (arXiv 2212.10509)"
    steps = ("next_thought",)

    @validated
    class Settings(Settings):
        """Those of all iterative methods. `most`: maximum number of passages, in the order of retrieval (none: all, by
        the maximum rule). `sentences`: a thought is cut to one sentence, and the query is the last informative
        sentence."""

        profile: str = "adapted"
        most: Positive | None = None
        sentences: bool = False

        def __post_init__(self):
            if self.most is not None and self.scale != "rank":
                raise SettingError(
                    f"most={self.most!r} keeps passages in the order of arrival, which have ranks but no scores, and "
                    f"scale={self.scale} needs scores; use scale=rank or most=none"
                )

    profiles: Mapping = {
        "adapted": {},
        "original": {
            "backbone": "bm25", "iterations": 10, "depth": 6, "shown": 15, "most": 15, "scale": "rank",
            "sentences": True,
        },
    }  # fmt: skip

    def pool(self) -> Pool:
        return Appended(self.settings.most) if self.settings.most else super().pool()

    def think(self, question: str, best: Sequence[Entry], before: Sequence[Thought], trace: Trace) -> Thought:
        thoughts = earlier(before)
        result = self.ask(next_thought.STEP, next_thought.Input(question, contents(best), thoughts), trace)
        return self._sentence(question, result, thoughts) if self.settings.sentences else concluded(result)

    def _sentence(self, question: str, result: Result, thoughts: Sequence[str]) -> Thought:
        if result.failure:
            return concluded(result)
        sentence = first_sentence(result.value.thought)
        done = not sentence or concludes(sentence)
        informative = [thought for thought in (*thoughts, sentence) if not _REASONING.search(thought)]
        query = _QUESTION_WORDS.sub("", [question, *informative][-1])
        return Thought({"thought": sentence}, () if done else (("thought", query),), done)


class Appended(Pool):
    """At most `most` passages in the order of retrieval, without near duplicates; a score is 1 / place."""

    def __init__(self, most: int):
        super().__init__("rank")
        self._most = most

    def _add(self, evidence: Evidence, round: int) -> None:
        for rank, (passage, _) in enumerate(evidence.passages, 1):
            if len(self) == self._most:
                return
            if not any(_alike(passage, entry.passage) for entry in self._entries.values()):
                self._entries[passage.id] = Entry(passage, 1 / (len(self) + 1), evidence.question, round, rank)


def concluded(result: Result) -> Thought:
    """The thought, which is its own query, or the last one if it concludes."""
    text = texts_of(result).get("thought", "")
    failure = result.failure or (None if text.strip() else "the thought is empty")
    done = concludes(text)
    return Thought({"thought": text}, () if done or failure else (("thought", text),), done, failure)


def concludes(thought: str) -> bool:
    """Whether a thought gives the answer.

    >>> concludes("So the answer is: Oslo"), concludes('I say "So the answer is:" when I know it.')
    (True, False)
    """
    return bool(_CONCLUDES.search(thought))


def earlier(thoughts: Sequence[Thought]) -> tuple[str, ...]:
    """The thoughts of the rounds before."""
    return tuple(text for thought in thoughts if (text := thought.texts.get("thought", "").strip()))


def first_sentence(text: str) -> str:
    if other_language(text):  # the parse is English
        return next(iter(sentences(text)), "")
    (doc,) = parse([text.strip()[:_PARSED]])
    return next((sentence.text.strip() for sentence in doc.sents), "")


def _alike(passage: Passage, other: Passage) -> bool:
    return passage.id == other.id or (_similar(passage.title, other.title) and _similar(passage.text, other.text))


def _similar(text: str, other: str) -> bool:
    match = SequenceMatcher(None, text, other, autojunk=False)
    return match.real_quick_ratio() > ALIKE and match.quick_ratio() > ALIKE and match.ratio() > ALIKE
