"""Texts that a model or a server might send and nobody asked for: a valid reply changed, or no reply at all."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from hostile_texts import ODD, ORDERS, SOUGHT

MARKUP = "<script>alert(1)</script>"
LONG = 1_000_000  # characters of a reply that repeats itself
DEEP = 20_000  # brackets of a nest

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 7, 10**9, 2**63, 10**30, 10**400, -(10**30), 0.5, -0.0, 1e308, float("nan"),
    float("inf"), float("-inf"), "", " ", "x" * 5_000, "0", "1", "-1", "99999", "１", "[1]", "null", "…",
    "<your answer>", [], [[]], {}, [None], [1, "1", None], {"id": 1}, {"a": {"b": {"c": []}}}, ["x"] * 2_000,
    *ORDERS, *ODD,
)  # fmt: skip


def texts(valid: str, other: str, count: int, rng: random.Random) -> Iterator[str]:
    """`count` texts: two of three made of a valid reply, `other` of another Step's, the rest of nothing."""
    for _ in range(count):
        yield changed(valid, other, rng) if rng.random() < 2 / 3 else garbage(rng)


def changed(valid: str, other: str, rng: random.Random) -> str:
    """A valid reply, changed once to three times."""
    text = valid
    for _ in range(rng.randint(1, 3)):
        text = rng.choice(_CHANGES)(text, other, rng)
        if len(text) > LONG:
            break
    return text[: LONG + 10_000]


def garbage(rng: random.Random) -> str:
    return rng.choice(_GARBAGE)(rng)


# -- changes of the text ----------------------------------------------------------------------------------------------


def _cut(text: str, other: str, rng: random.Random) -> str:
    return text[: rng.randint(0, len(text))]


def _lacking(text: str, other: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + text[at + rng.randint(1, 20) :]


def _odd(text: str, other: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(ODD) + text[at:]


def _odd_everywhere(text: str, other: str, rng: random.Random) -> str:
    return rng.choice(ODD).join(text[:3_000])


def _digits(text: str, other: str, rng: random.Random) -> str:
    written = rng.choice(["٠١٢٣٤٥٦٧٨٩", "０１２３４５６７８９", "⁰¹²³⁴⁵⁶⁷⁸⁹", "९९९९९९९९९९"])
    return text.translate({ord(digit): written[value] for value, digit in enumerate("0123456789")})


def _numbers(text: str, other: str, rng: random.Random) -> str:
    number = rng.choice(["1e999", "-1", "NaN", "Infinity", "9" * 400, "9" * 5_000, "1e-400", "0.0000001", "00", "+1"])
    return "".join(number if sign.isdigit() else sign for sign in text[:5_000])


def _fenced(text: str, other: str, rng: random.Random) -> str:
    return rng.choice(
        ["```json\n{}\n```", "```\n{}", "~~~\n{}\n~~~", "Sure!\n```JSON\n{}\n```\nHope this helps!"]
    ).replace("{}", text)


def _thought(text: str, other: str, rng: random.Random) -> str:
    marks = rng.choice(
        [
            "<think>{o}</think>{t}",
            "<think>{o}{t}",
            "{o}</think>{t}",
            "{t}<think>{o}</think>",
            "[THINK]{o}[/THINK]{t}",
            "<think><think>{o}</think>{t}",
            "<|channel|>analysis<|message|>{o}<|end|><|channel|>final<|message|>{t}",
            "<|channel|>final{t}",
            "analysis{o}assistantfinal{t}",
            "<reasoning>{t}</reasoning>",
        ]
    )
    return marks.replace("{o}", other).replace("{t}", text)


def _surrounded(text: str, other: str, rng: random.Random) -> str:
    order = rng.choice(ORDERS)
    return rng.choice([f"{order}\n{text}", f"{text}\n{order}", f"{order}\n\n{text}\n\n{order}", f"<p>{text}</p>"])


def _several(text: str, other: str, rng: random.Random) -> str:
    return rng.choice([f"{text}\n{other}", f"{other}\n{text}", f"{text}{text}", f"[{text}, {other}]", f"{text}\n" * 50])


def _encoded(text: str, other: str, rng: random.Random) -> str:
    return json.dumps(text if rng.random() < 0.5 else json.dumps(text))


def _quoted(text: str, other: str, rng: random.Random) -> str:
    return text.replace('"', rng.choice(["'", "“", '\\"', "&quot;", "`", "''"]))


def _loose(text: str, other: str, rng: random.Random) -> str:
    return rng.choice(
        [
            text.replace("}", ",}"),
            text.replace(",", "\n"),
            text.replace(":", "="),
            text.replace("[", "[1. "),
            text.replace("{", "{{"),
            "\ufeff" + text,
            text.replace("\n", "\r\n"),
            text.upper(),
            text.replace(" ", "\u00a0"),
        ]
    )


def _escaped(text: str, other: str, rng: random.Random) -> str:
    """Every letter as JSON escapes it, or as HTML does."""
    return "".join(rng.choice([f"\\u{ord(sign):04x}", f"&#{ord(sign)};", sign]) for sign in text[:2_000])


def _endless(text: str, other: str, rng: random.Random) -> str:
    """A part of the text over and over; sometimes beyond any limit, mostly just below it."""
    size = LONG if rng.random() < 0.05 else rng.choice([20_000, 199_000])
    at, long = rng.randint(0, len(text)), rng.choice([len(text), rng.randint(1, 30)])
    piece = text[at : at + long] or "a"
    return (piece * (size // len(piece) + 1))[:size]


# -- changes of the JSON ----------------------------------------------------------------------------------------------


def _value(text: str, other: str, rng: random.Random) -> str:
    """Another value at some place of the JSON; text that is no JSON gets it at its end."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return text + str(rng.choice(VALUES))[:5_000]
    made = _changed(whole, rng)
    try:
        return json.dumps(made, ensure_ascii=rng.random() < 0.5)
    except (ValueError, RecursionError):
        return text


def _changed(whole: Any, rng: random.Random) -> Any:
    whole = copy.deepcopy(whole)
    places = list(_places(whole))
    if not places:
        return rng.choice([[whole], {"result": whole}, rng.choice(VALUES)])
    holder, key = rng.choice(places)
    at = holder[key]
    match rng.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[f"{str(key).upper()} "] = holder.pop(key)
        case 2 if isinstance(holder, dict):
            holder["note"] = rng.choice(VALUES)
        case 3:
            holder[key] = [at] * rng.choice([2, 30, 500])
        case 4:
            holder[key] = {"value": at, "id": -1}
        case 5:
            holder[key] = json.dumps(at)
        case 6 if isinstance(holder, list):
            holder *= rng.choice([2, 40])
        case _:
            holder[key] = rng.choice(VALUES)
    return whole


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(holder, key or position) of everything inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield value, key
        yield from _places(one)


_CHANGES: tuple[Callable[[str, str, random.Random], str], ...] = (
    _cut, _lacking, _odd, _odd_everywhere, _digits, _numbers, _fenced, _thought, _surrounded, _several, _encoded,
    _quoted, _loose, _escaped, _endless, *[_value] * 10,
)  # fmt: skip


# -- made of nothing --------------------------------------------------------------------------------------------------


_WORDS = (
    *"{}[]\"',:;|#<>()*_`~\\/-=\n\r\t ", "a", "answer", "Answer:", "FINAL ANSWER:", "Thought:", "entity", "entity<|#|>",
    '("entity"<|>', "##", "<|COMPLETE|>", "<|#|>", "relation", "SELECT ?x WHERE {", "?x", "1", "1.", "id", '"id"',
    *SOUGHT, *ODD,
)  # fmt: skip


def _word(rng: random.Random) -> str:
    return rng.choice(_WORDS)


def _soup(rng: random.Random) -> str:
    return "".join(_word(rng) for _ in range(rng.choice([5, 50, 500])))


def _row(rng: random.Random) -> str:
    """One or two words without an end, where a search goes back and forth over a long text."""
    words, size = [_word(rng) for _ in range(rng.randint(1, 3))], rng.choice([3_000, 190_000])
    piece = "".join(words) or "a"
    return _word(rng) + (piece * (size // len(piece) + 1))[:size] + _word(rng)


def _nest(rng: random.Random) -> str:
    opened, closed = rng.choice([("[", "]"), ('{"a":', "}"), ("(", ")"), ("<think>", "</think>"), ('[{"id":', "}]")])
    depth = rng.choice([100, 1_000, DEEP])
    return opened * depth + rng.choice(["", "1", '"x"', closed * depth, "1" + closed * depth])


def _letters(rng: random.Random) -> str:
    return "".join(
        chr(rng.choice([rng.randrange(32), rng.randrange(0x300), rng.randrange(0x11_0000)])) for _ in range(300)
    )


def _page(rng: random.Random) -> str:
    return f"<!DOCTYPE html><html><title>502</title><body>{MARKUP}{'<br>' * rng.choice([1, 3_000])}</body></html>"


def _table(rng: random.Random) -> str:
    return "| id | name |\n|---|---|\n" + "".join(f"| {row} | {MARKUP} |\n" for row in range(rng.choice([1, 2_000])))


_GARBAGE: tuple[Callable[[random.Random], str], ...] = (
    _soup,
    _soup,
    _row,
    _nest,
    _letters,
    _page,
    _table,
    lambda rng: rng.choice(ORDERS),
    lambda rng: rng.choice(
        ["", " ", "\n" * 1_000, "\x00", "\ufeff", "\ud800", "null", "[]", "{}", '""', "0", "true", "NaN"]
    ),
    lambda rng: json.dumps(rng.choice(VALUES)),
    lambda rng: "I'm sorry, but I can't help with that.",
)
