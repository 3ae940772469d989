"""Counts of cl100k_base tokens, the unit of every budget. The tokenizer's tables are packaged."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any, TypeVar

from workbench.text import storable

T = TypeVar("T")

_ENCODING = "cl100k_base"
_WHOLE, _PART = 1_000_000, 50_000  # characters: longer texts are encoded in parts
_MOST = 200_000  # tokens of a text that is not
_BETWEEN_WORDS = re.compile("[A-Za-z](?= [A-Za-z])")  # no token goes across such a place
_LOOKED = 10_000  # characters before the end of a part, in which such a place is looked for


@cache
def _tokenizer() -> Any:
    """The compiled tokenizer. The package around it would first decode the vocabularies of three encodings, in Python,
    which takes twenty times as long and serves only to decode tokens."""
    name = "bpe_openai._bindings"
    if name not in sys.modules:
        package = find_spec("bpe_openai")
        spec = package and PathFinder.find_spec(name, package.submodule_search_locations)
        if spec is None or spec.loader is None:
            raise ModuleNotFoundError(f"no module named {name!r}: install hopscope again, with bpe-openai", name=name)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name].tokenizer_for_encoding(_ENCODING)


@cache
def _decoder() -> Any:
    from bpe_openai import get_encoding

    return get_encoding(_ENCODING)


def _encoded(text: str) -> list[int]:
    """The tokens of a text; where it is too long for the tokenizer, those of its parts. They are the same unless 10,000
    characters have no two words."""
    if len(text) < _WHOLE and len(tokens := _tokenizer().encode(text)) <= _MOST:
        return tokens
    tokens = []
    start = 0
    while start < len(text):
        end = start + _PART
        if end < len(text):
            places = list(_BETWEEN_WORDS.finditer(text, end - _LOOKED, end))
            end = places[-1].end() if places else end
        tokens += _tokenizer().encode(text[start:end])
        start = end
    return tokens


def count(text: str) -> int:
    """The number of cl100k tokens of a text."""
    return len(_encoded(storable(text)))


def cut(text: str, budget: int) -> str:
    """The longest prefix of a text with at most `budget` tokens."""
    tokens = _encoded(storable(text))
    return text if len(tokens) <= budget else _decoder().decode(tokens[: max(0, budget)]).rstrip("\ufffd")


def leading(items: Iterable[T], size: Callable[[T, int], int], cap: float, used: int = 0) -> tuple[list[T], int]:
    """The first items that fit under a cap, up to the one that does not, and the tokens that are used then. `size` is
    given an item and its place from 1 on; `used` are the tokens before it, which count only where an item fits.

    >>> leading(["a", "b c", "d"], lambda item, place: count(item), 3, used=1)
    (['a'], 2)
    """
    leading_items: list[T] = []
    for place, item in enumerate(items, 1):
        more = size(item, place)
        if used + more > cap:
            break
        leading_items.append(item)
        used += more
    return leading_items, used if leading_items else 0


def leading_texts(texts: Iterable[str], cap: float, joint: str = "") -> int:
    """How many of the first texts fit into `cap` tokens, with `joint` between them."""
    texts = list(texts)
    fitting, used = leading(texts, lambda text, _: count(text + joint), cap)
    fits_as_last = texts[len(fitting) :] != [] and used + count(texts[len(fitting)]) <= cap  # which needs no joint
    return len(fitting) + fits_as_last


def starts(text: str) -> list[int]:
    """The character offset of each token of a text, then the length of the text: `text[starts[a]:starts[b]]` are the
    tokens from a to b. A border inside a character moves before it, so adjacent slices concatenate to the text."""
    text, offsets = _decoder().decode_with_offsets(_encoded(storable(text)))
    return [*offsets, len(text)]
