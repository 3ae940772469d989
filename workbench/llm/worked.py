"""Worked replies: the replies of an expert, written by hand in the folder `worked/` of a data set, one TOML file per
question.

    engine = wb.engine("worked")            # those of the bundled corpus; wb.engine("worked:FOLDER") of another folder

They let a pipeline be followed to the right answer without a model, as in a textbook, and are labelled so. A reply is
found by its Step, the question, and what its author saw in the input (`given`), not by the bytes of a prompt. Rules
answer the calls for which no reply was written, each labelled as theirs. A reply says for which wording of the prompt
it was written: where the prompt was changed since, it is an error until somebody has read the reply again.
`docs/engines.md` describes the files.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter

from workbench.errors import DataError, EngineError, RecordingMiss, SettingError
from workbench.llm.call import Reply, Request
from workbench.llm.chat import ChatEngine
from workbench.llm.engine import RulesEngine, by_rule, note
from workbench.llm.step import Message, Result, Step
from workbench.llm.wording import worded
from workbench.places import bundled, page
from workbench.records import Record
from workbench.text import text_hash
from workbench.trace import Trace

KIND = "worked"
FOLDER = "worked"  # in a data folder
_ITEMS = "{each}"


@dataclass(frozen=True)
class Item:
    """The text (`say`) for each item of the input whose texts contain `has`."""

    has: str
    say: str


@dataclass(frozen=True)
class Written:
    """A reply in a `file`. It answers the Step that its `stamp` names where the last message contains `question`, all
    that is `given` and nothing that is `lacking`.

    With `each`, a field of the input that lists things, `{each}` in the text stands for what is said of these: by the
    first of `of` that fits, else by `others`; what has nothing to be said is left out. `{number}`, and the name of any
    field of an item, stand for that of the item."""

    file: str
    question: str
    stamp: str
    text: str
    given: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    each: str = ""
    of: tuple[Item, ...] = ()
    others: str = ""
    joined: str = ", "
    __pydantic_config__ = ConfigDict(extra="forbid")

    def __post_init__(self) -> None:
        if bool(self.each) != (_ITEMS in self.text):
            raise ValueError(f"each = … and {_ITEMS} in the text belong together")

    @property
    def step(self) -> str:
        return self.stamp.partition(" ")[0]

    def answers(self, step: str, prompt: str) -> bool:
        return (
            self.step == step
            and _occurs(self.question, prompt)
            and all(_occurs(part, prompt) for part in self.given)
            and not any(_occurs(part, prompt) for part in self.lacking)
        )

    def written(self, value: Any) -> str:
        """The reply to an input."""
        if not self.each:
            return self.text
        parts = (self._line_of(number, item) for number, item in enumerate(getattr(value, self.each), 1))
        return self.text.replace(_ITEMS, self.joined.join(filter(None, parts)))

    def _line_of(self, number: int, item: Any) -> str:
        texts = "\n".join(_texts(item))
        say = next((item_text.say for item_text in self.of if item_text.has in texts), self.others)
        values = {field.name: getattr(item, field.name) for field in fields(item)} if is_dataclass(item) else {}
        for name, held in {"number": str(number), **values}.items():
            say = say.replace(f"{{{name}}}", held) if isinstance(held, str) else say
        return say


@dataclass(frozen=True)
class Ask:
    """A configuration that a file has the replies for: the SPECs of a method and a reader, and the `answer` that they
    end in. `fails` says why it is wrong, where it is meant to be."""

    method: str
    reader: str
    answer: str
    fails: str = ""


@dataclass(frozen=True, repr=False)
class Example(Record):
    """The replies of one file: their question, what it `shows`, and the configurations to run."""

    id: str
    question: str
    shows: str
    asks: tuple[Ask, ...]
    replies: tuple[Written, ...]

    def __repr__(self) -> str:
        return f"Example({self.id}: {len(self.replies)} replies to {self.question!r})"


@dataclass(frozen=True)
class Answered(Request):
    """A request with the reply that was written for it."""

    text: str = ""


class WorkedEngine(ChatEngine):
    """Runs Steps on replies written by hand, and by rules where no reply was written; costs nothing.

    Its name says that both may have answered. A single answer is known: in a trace the engine of a reply is `replies`,
    that of a rule `rules`; the Result of a rule has `parse="rules"`, and its usage counts it (`by_rules`). Layers are
    built by rules alone, under their name, since replies are to questions."""

    def __init__(self, examples: Iterable[Example], folder: str | Path = FOLDER):
        self.examples, self.folder = tuple(examples), Path(folder)
        data = (self.folder.parent if self.folder.name == FOLDER else self.folder).name
        which = f"{data}#{text_hash(repr([e.replies for e in self.examples]))[:8]}"
        super().__init__(f"{KIND}+rules:{which}", lambda request: Reply(request.text), concurrency=1)
        self.replies, self._rules = f"{KIND}:{which}", RulesEngine()
        self._rules.meter = self.meter

    @property
    def builder(self) -> RulesEngine:
        return self._rules

    def written(self, question: str, method: str) -> Ask | None:
        """The first configuration with this method (a SPEC) that has replies to the question; None without any."""
        asks = (ask for example in self.examples if example.question == question for ask in example.asks)
        return next((ask for ask in asks if ask.method == method), None)

    def run(self, step: Step, inputs: Sequence[Any], *, trace: Trace | None = None) -> list[Result]:
        step = worded(step, self.prompts)
        replies = [self.find(step.name, step.prompt(value)) for value in inputs]
        rest = [value for value, reply in zip(inputs, replies) if reply is None]
        by_rules = iter(self._by_rules(step, rest) if rest else ())
        results = []
        for value, reply in zip(inputs, replies):
            result = next(by_rules) if reply is None else self._answer(self._answered(step, value, reply))
            self.meter.add(step.name, result.usage)
            note(trace, self._rules.name if reply is None else self.replies, step, [result])
            results.append(result)
        return results

    def _by_rules(self, step: Step, inputs: Sequence[Any]) -> list[Result]:
        """The Results of rules, of the whole batch at once, which count as such."""
        self._rules.warn(inputs)
        results = by_rule(step, inputs)
        return [replace(result, usage=replace(result.usage, by_rules=result.usage.calls)) for result in results]

    def _answered(self, step: Step, value: Any, reply: Written) -> Answered:
        self._use(reply, stamp(step, value))
        return Answered(**vars(self.request(step, value)), text=reply.written(value))

    def _use(self, reply: Written, now: str) -> None:
        """Raises :class:`RecordingMiss` if a reply was written for another prompt than today's."""
        if reply.stamp != now:
            raise RecordingMiss(
                f"{reply.file}: the reply to {reply.step!r} was written for {reply.stamp!r}, and the prompt is now "
                f"{now!r}; read the reply again, mend it if need be, and put the new stamp there"
            )

    def find(self, step: str, messages: Sequence[Message]) -> Written | None:
        """The reply written for a call: among several, the one for the longest question, then the most specific.

        Raises :class:`EngineError` if several that differ fit equally well."""
        prompt = messages[-1]["content"]
        fitting = [reply for example in self.examples for reply in example.replies if reply.answers(step, prompt)]
        best = max(map(_specific, fitting), default=None)
        best_fitting = [reply for reply in fitting if _specific(reply) == best]
        if len({(reply.text, reply.of, reply.others) for reply in best_fitting}) > 1:
            files = ", ".join(dict.fromkeys(reply.file for reply in best_fitting))
            raise EngineError(f"{files}: several replies to {step!r} fit the same call; add to the 'given' of one")
        return best_fitting[0] if best_fitting else None

    def __repr__(self) -> str:
        return f"WorkedEngine({len(self.examples)} questions, replies written by hand, else rules: {self.meter!r})"


def answered_by_hand(engine: object) -> frozenset[str]:
    """The questions that an engine has worked replies to; none for other engines."""
    return frozenset(example.question for example in getattr(engine, "examples", ()))


def reasons(engine: object, question: str) -> str:
    """Why configurations fail on a question whose worked replies let them fail on purpose, a line each; empty for other
    engines and questions."""
    asks = (ask for example in getattr(engine, "examples", ()) if example.question == question for ask in example.asks)
    return "\n".join(f"{ask.method}, {ask.reader}: {ask.fails}" for ask in asks if ask.fails)


def worked_engine(folder: str = "") -> WorkedEngine:
    """The replies in a folder, or in the folder `worked` of a data set by name or path; by default of `meridian`."""
    place = worked_folder(folder or "meridian")
    return WorkedEngine(examples_in(place), place)


def worked_folder(data: str) -> Path:
    """Where the replies of a data set are."""
    place = bundled(data) or Path(data).expanduser()
    chosen = next(
        (folder for folder in (place / FOLDER, place) if folder.is_dir() and any(folder.glob("*.toml"))), None
    )
    if chosen is None:
        raise SettingError(f"{place} holds no worked replies: it needs TOML files, in itself or in {FOLDER}/")
    return chosen


def examples_in(folder: Path) -> tuple[Example, ...]:
    """Read and check all files of a folder, by name."""
    return tuple(map(_read, sorted(folder.glob("*.toml"))))


def stamp(step: Step, value: Any) -> str:
    """Names a Step, its version, and the wording of its prompt around an input: all messages before the last one, which
    holds the input, or a single message without the input's texts."""
    *before, last = step.prompt(value)
    wording = [message["content"] for message in before]
    if not before:
        bare = last["content"]
        for text in sorted(_texts(value), key=len, reverse=True):
            bare = bare.replace(text, "…") if text else bare
        wording = [bare]
    return f"{step.identity} {text_hash(json.dumps(wording))[:8]}"


def _occurs(part: str, text: str) -> bool:
    """Whether a message contains a text, as it is or within JSON.

    >>> _occurs('a "word"', '{"q": "a \\\\"word\\\\""}')
    True
    """
    return part in text or json.dumps(part, ensure_ascii=False)[1:-1] in text


def _specific(reply: Written) -> tuple[int, int]:
    return len(reply.question), len(reply.given) + len(reply.lacking)


def _texts(value: Any) -> Iterator[str]:
    """Every text within an input."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for held in value.values() for text in _texts(held))
    elif isinstance(value, Sequence):
        yield from (text for held in value for text in _texts(held))
    elif is_dataclass(value):
        yield from (text for field in fields(value) for text in _texts(getattr(value, field.name)))


def _read(path: Path) -> Example:
    try:
        row = tomllib.loads(path.read_text("utf-8"))
        asks, replies, of_all = row.pop("ask"), row.pop("reply"), {"file": path.name, "question": row["question"]}
        stamped = [{**of_all, "stamp": reply.pop("step"), **reply} for reply in replies]
        return TypeAdapter(Example).validate_python({"id": path.stem, "asks": asks, "replies": stamped, **row})
    except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(
            f"{path} holds no worked replies ({type(error).__name__}: {error}); it needs question, shows, "
            "[[ask]]s with method, reader and answer, and a [[reply]] with step and text for each call "
            f"({page('engines.md')})"
        ) from None
