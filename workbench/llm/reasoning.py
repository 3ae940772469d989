"""What a model thought before its answer, cut off the answer, so that a draft is never taken for it.

Servers that know their model send reasoning in a field of its own; others leave it in the text, in the marks of the
model's family:

    <think> … </think>                   DeepSeek R1, Qwen 3 and most others; also <thinking>, <thought>, <reasoning>
    [THINK] … [/THINK]                   Magistral
    <|channel|>analysis<|message|> …     gpt-oss (harmony): the answer is the channel `final`

A block that is not closed was cut, and a reply that only closes one began inside it, since the prompt of some models
ends with the opening mark.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from workbench.llm.payloads import too_deep

FIELDS = ("reasoning_content", "reasoning", "thinking")  # where servers put it: DeepSeek, vLLM and others, Ollama
_MARK = re.compile(r"</?(?:think|thinking|thought|reasoning|seed:think)>|\[/?THINK\]", re.IGNORECASE)
_HARMONY = re.compile(r"\A\s*(?:<\|start\|>\s*\w+\s*)?<\|channel\|>|<\|start\|>assistant<\|channel\|>")
_CHANNEL = re.compile(r"<\|channel\|>\s*+(\w++)[^<]*+(?:<\|constrain\|>[^<]*+)?+<\|message\|>")  # possessive: linear
_MESSAGE_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_START = re.compile(r"<\|start\|>\s*\w*\s*|<\|(?:end|return|call)\|>")
_OPENING, _SPACE, _DECODER = re.compile(r"\s*+[{\[\"]"), re.compile(r"\s*+"), json.JSONDecoder()
_LOOKS = 100  # marks before which JSON is sought: each look may go through the whole text
_BARE = re.compile(r"\s*analysis(.*?)assistantfinal(.*)", re.DOTALL)  # harmony without its special tokens


class Split(NamedTuple):
    """Reasoning and content of a reply, either of which may be empty."""

    reasoning: str
    content: str


def split(text: str) -> Split:
    """The reasoning in a raw reply, and the rest, which alone may be read as an answer.

    >>> split('<think>{"a": 1} or 2?</think>{"a": 2}')
    Split(reasoning='{"a": 1} or 2?', content='{"a": 2}')
    """
    deep = too_deep(text)
    if not deep and _is_json(text):
        return Split("", text)
    if _HARMONY.search(text):
        return _by_channel(text)
    if bare := _BARE.fullmatch(text):
        return Split(bare[1].strip(), bare[2].strip())
    return _by_tags(text, deep)


def of_message(message: Any) -> Split:
    """Of a message of the chat protocol: its fields for reasoning, then what stands in its content.

    Content is a text, nothing, or Mistral's list of parts of the types `text` and `thinking`; ValueError otherwise.
    """
    content = getattr(message, "content", None)
    thought, content = _of_parts(content) if isinstance(content, list) else ("", content)
    if not isinstance(content, str | None):
        raise ValueError(f"its content is a {type(content).__name__} and no text")
    fields = [value for name in FIELDS if isinstance(value := getattr(message, name, None), str) and value]
    inside = split(content or "")
    return Split(_joined([*fields[:1], thought, inside.reasoning]), inside.content)  # some servers send both fields


def _by_tags(text: str, deep: bool) -> Split:
    reasoning, content, begin, inside = [], [], 0, False
    for number, mark in enumerate(_MARK.finditer(text)):
        closing = "/" in mark[0]
        if inside and not closing:  # one that the reasoning mentions
            continue
        if not inside and not deep and number < _LOOKS and _is_json(text, begin):  # it is in a string of the answer
            break
        piece = text[begin : mark.start()]
        if closing and not inside:  # its beginning was in the prompt
            reasoning += [*content, piece]
            content = []
        else:
            (reasoning if inside else content).append(piece)
        begin, inside = mark.end(), not closing
    if begin == 0:
        return Split("", text)
    (reasoning if inside else content).append(text[begin:])
    return Split(_joined(reasoning), _joined(content))


def _by_channel(text: str) -> Split:
    """A message without a channel before the others is reasoning whose beginning was in the prompt."""
    begins = list(_CHANNEL.finditer(text))
    first = begins[0].start() if begins else None
    reasoning, content = [_START.sub("", text[:first])], []
    for begin in begins:
        end = _MESSAGE_END.search(text, begin.end())
        body = text[begin.end() : end.start() if end else None]
        (content if begin[1] == "final" else reasoning).append(body)
    return Split(_joined(reasoning), _joined(content))


def _of_parts(parts: list[Any]) -> tuple[str, str]:
    """(reasoning, content) of a list of parts, as dicts: {"type": "text", "text": …}."""
    reasoning, content = [], []
    for part in parts:
        match part:
            case {"type": "text", "text": str(text)}:
                content.append(text)
            case {"type": "thinking", "thinking": [*inner]}:
                reasoning.append(_of_parts(inner)[1])
            case {"type": "thinking", "thinking": str(text)}:
                reasoning.append(text)
            case _:
                raise ValueError("its content is a list with something other than text and thinking")
    return _joined(reasoning), "".join(content)


def _joined(parts: list[str]) -> str:
    return "\n".join(stripped for part in parts if (stripped := part.strip()))


def _is_json(text: str, begin: int = 0) -> bool:
    """Whether a text is JSON from a position on."""
    opening = _OPENING.match(text, begin)
    if opening is None:
        return False
    try:
        _, end = _DECODER.raw_decode(text, opening.end() - 1)
    except (ValueError, RecursionError):
        return False
    return _SPACE.fullmatch(text, end) is not None
