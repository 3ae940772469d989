"""Names in a text by their form alone: quoted, capitalised, or known beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from workbench.language.pipeline import content_words
from workbench.language.relations import LISTS, kind_of, words

RANKS = words(LISTS["questions"]["ranks"])
WH = ("who", "whom", "whose", "what", "which", "when", "where", "how", "why")
AUXILIARY = words("is are was were do does did has have had can could will would")
_SMALL = words("of the de la du von van der bin ibn al & in and for to on d a")  # inside names
_QUOTED = re.compile(r"\"([^\"]{2,})\"|“([^”]{2,})”")


def names_in(question: str, names: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Spans of quoted words, known names and capitalised words, in order; of those that overlap, the longest."""
    spans = [match.span() for match in _QUOTED.finditer(question)]
    spans += [span for name in names for span in _spans_of(question, name)]
    spans += list(capitalised(question, sentence_start=False, brackets=True))
    spans += [
        (first[0], second[1])
        for first in spans
        for second in spans
        if question[first[1] : second[0]] == ", " and question[second[0] :].split()[0] in RANKS
    ]
    accepted: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        if all(end <= other or start >= last for other, last in accepted):
            accepted.append((start, end))
    return iter(sorted(accepted))


def _spans_of(question: str, name: str) -> Iterator[tuple[int, int]]:
    plain = re.sub(r"\s*\([^)]*\)$", "", name).strip()
    if len(plain) < 3 or not content_words(plain):
        return
    pattern = rf"(?<!\w){re.escape(plain)}(?!\w)(?:\s*\([^)]*\))?"
    for match in re.finditer(pattern, question, re.IGNORECASE):
        strange = len(plain) > 5 and kind_of(plain) == "other" and not _ordinary(plain)
        if " " in plain or match[0][0].isupper() or question.islower() or strange:
            yield match.span()


def capitalised(text: str, sentence_start: bool = True, brackets: bool = False) -> Iterator[tuple[int, int]]:
    """Spans of capitalised words that stand together, with the small words between them. The first word of the text
    counts if `sentence_start` or if the next one is capitalised as well and it is no question word."""
    words = [(m.start(), m.end(), m.group()) for m in re.finditer(r"\([^)]*\)|[\w&][\w'’.&–-]*|[^\w\s]", text)]
    begin = None
    for index, (start, end, word) in enumerate(words):
        proper = word[:1].isupper() and not (index == 0 and not sentence_start and _ordinary(word))
        if begin is None:
            if proper and word.rstrip(".").lower() not in _SMALL:
                begin, last = start, end
        elif proper or (brackets and re.match(r"\([^)]*[A-Z0-9]", word)) or word.isdigit():
            last = end
        elif word in _SMALL and word not in ("and", "in", "for", "to", "on") and _goes_on(words, index):
            pass
        else:
            yield begin, _end(text, begin, last)
            begin = None
            continue
        if begin is not None and re.search(r"['’]s$|[sS]['’]$", word):
            yield begin, _end(text, begin, last)
            begin = None
    if begin is not None:
        yield begin, _end(text, begin, last)


def _goes_on(words: Sequence[tuple[int, int, str]], index: int) -> bool:
    following = [word for _, _, word in words[index + 1 : index + 4]]
    while following and following[0] in _SMALL:
        following.pop(0)
    return bool(following) and following[0][:1].isupper()


def _end(text: str, begin: int, last: int) -> int:
    """Without the ending of an owner and the full stop of a sentence."""
    owned = re.search(r"['’]s?$|\.$", text[begin:last])
    if owned and not (owned[0] == "." and len(text[begin:last].split()[-1]) <= 3):
        return begin + owned.start()
    return last


def _ordinary(word: str) -> bool:
    """Is this first word capitalised only because a question starts with it?"""
    from spacy.lang.en.stop_words import STOP_WORDS  # loading spaCy takes seconds

    plain = re.sub(r"['’]s$", "", word.lower())
    return plain in STOP_WORDS or plain in WH or plain in AUXILIARY or kind_of(plain) != "other" or plain in (
        "name", "give", "list", "tell", "if", "besides", "find")  # fmt: skip
