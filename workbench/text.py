"""Small operations on strings."""

from __future__ import annotations

import difflib
import hashlib
import re
import textwrap
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
# The inside of a character class: what a terminal obeys, what turns the direction of text (all that Unicode gives the
# property Bidi_Control), what ends a line for JavaScript; neither \t nor \n.
UNPRINTABLE = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNPRINTABLE = re.compile(f"[{UNPRINTABLE}]")
_MARKS_IN_A_ROW = 30  # of a letter, as the Stream-Safe Text Format of Unicode (UAX #15) has them
_FORMULA = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")
_NOT_ASCII_WORD = re.compile("[^A-Za-z0-9 ]")
_NOT_ASCII_WORDS = re.compile("[^a-z0-9]+")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^\Wa-z_])|(?<=[。！？])[”’）」』】》]*|\n+")
# The inside of a character class: han and kana, which are written without spaces, so each counts as a word.
UNSPACED = (
    "\u3005\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_LETTER = re.compile(rf"[^\W{UNSPACED}]")  # of a word that has more than one
_RUNS = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")
CLIP = 2_000  # characters of one text that is shown

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}


def storable(text: str) -> str:
    """Replace lone surrogates, which no UTF-8 file can hold, by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def printable(text: str) -> str:
    """A text that is safe in a terminal and in a page: control and direction characters shown as �."""
    return _UNPRINTABLE.sub("\ufffd", text)


def clean(value: Any, limit: int = CLIP) -> str:
    """One printable string: control and direction characters shown as �, long texts cut with their length named."""
    string = value if isinstance(value, str) else str(value)
    cut = f"… ({counted(len(string), 'character')})" if len(string) > limit else ""
    return printable(string[:limit]) + cut


def short(value: Any, limit: int) -> str:
    """A label: one line of at most `limit` characters."""
    string = value if isinstance(value, str) else str(value)
    line = " ".join(printable(string[:limit]).split())
    return f"{line[: limit - 1]}…" if len(string) > limit else line


def spelt_out(text: str) -> str:
    """The same for ids: such characters as their code points, so that two ids stay two.

    >>> spelt_out("a\\u202eb")
    'a<U+202E>b'
    """
    return _UNPRINTABLE.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def printable_json(written: str) -> str:
    """JSON with unprintable characters as escapes, so that its meaning stays the same."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", written)


def table_cell(text: str) -> str:
    """The cell of a CSV table: what a spreadsheet would read as a formula (it begins with = + - @, a tab or a line
    break) gets a leading apostrophe, as spreadsheets themselves mark text.

    >>> table_cell("=1+1"), table_cell("plain")
    ("'=1+1", 'plain')
    """
    return f"'{text}" if _FORMULA.match(text) else text


def text_hash(text: str) -> str:
    """The identifier of a text: 16 hex digits of the SHA-256 of its UTF-8 bytes."""
    return bytes_hash(text.encode("utf-8", "surrogatepass"))


def bytes_hash(raw: bytes) -> str:
    """The same hash of bytes."""
    return hashlib.sha256(raw).hexdigest()[:16]


def ascii_phrase(text: str) -> str:
    """Phrase identity of the released HippoRAG 2: lower case, everything but A-Z a-z 0-9 becomes a space, ends
    stripped.

    Inner runs of spaces stay, as in the released code: `S.O.B.` → `s o b`, `Râul` → `r ul`, any other script → the
    empty string.
    """
    return _NOT_ASCII_WORD.sub(" ", text.lower()).strip()


def unicode_phrase(text: str) -> str:
    """The same for every script: compose, fold case, keep letters, marks and digits, with one space between words.

    A run of marks alone, such as an emoji's invisible selector, is not a word.
    """
    if text.isascii():  # the same in a tenth of the time
        return _NOT_ASCII_WORDS.sub(" ", text.lower()).strip()
    folded = _composed(_composed(text).casefold())  # case folding decomposes some letters again
    letters = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in folded)
    return " ".join(word for word in letters.split() if any(map(str.isalnum, word)))


def normalized(form: str, text: str) -> str:
    """The text in a normal form of Unicode. Of more than 30 combining marks in a row the rest is left out: no language
    has as many, and the time to order them grows with the square of their number.

    >>> normalized("NFC", "Zu\\u0308rich"), len(normalized("NFC", "x" + 500 * "\\u0301"))
    ('Zürich', 31)
    """
    return unicodedata.normalize(form, text if text.isascii() else _rows_of_marks().sub(r"\1", text))


@cache
def _rows_of_marks() -> re.Pattern[str]:
    marks = re.escape("".join(c for c in map(chr, range(0x20000)) if unicodedata.combining(c)))
    return re.compile(f"([{marks}]{{{_MARKS_IN_A_ROW}}})[{marks}]+")


def _composed(text: str) -> str:
    return normalized("NFKC", text)


PHRASE_RULES = {"unicode": unicode_phrase, "ascii": ascii_phrase}


def normal_form(name: str) -> str:
    """The form under which names of types, relations and attributes are equal (Youtu-GraphRAG's schemas).

    >>> normal_form(" Time-Period"), normal_form("time_period")
    ('time period', 'time period')
    """
    return " ".join(re.sub("[_-]", " ", name.casefold()).split())


def sentences(text: str) -> list[str]:
    """
    >>> sentences("Orsby\\nIt lies on the Aune. Nora was born there.")
    ['Orsby', 'It lies on the Aune.', 'Nora was born there.']
    """
    parts, start = [], 0
    for end in _SENTENCE_ENDS.finditer(text):
        parts.append(text[start : end.end()])
        start = end.end()
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def unspaced(text: str) -> bool:
    """Whether a text holds han or kana."""
    return not text.isascii() and _UNSPACED.search(text) is not None


def apart(text: str) -> str:
    """The text with a space on either side of each han or kana character.

    >>> apart("in 1889年沙湖").split()
    ['in', '1889', '年', '沙', '湖']
    """
    return text if text.isascii() else _UNSPACED.sub(r" \g<0> ", text)


def terms(text: str) -> list[str]:
    """What stands between spaces, and of han and kana every two neighbours: a word of these has mostly two.

    >>> terms("the 沙湖桥 of 1889年")
    ['the', '沙湖', '湖桥', 'of', '1889', '年']
    """
    if not unspaced(text):
        return text.split()
    return [term for token in text.split() for run in _RUNS.findall(token) for term in neighbours(run) or [run]]


def neighbours(text: str) -> list[str]:
    """Every two adjacent han or kana characters.

    >>> neighbours("沙湖桥, 1889年"), neighbours("Über")
    (['沙湖', '湖桥'], [])
    """
    if text.isascii():
        return []
    return [letter + other for letter, other in pairwise(text) if _UNSPACED.match(letter) and _UNSPACED.match(other)]


@cache
def word_pattern() -> str:
    """The expression of a word: a run of letters, digits, `_` and the marks that belong to them (vowels of Devanagari,
    accents on their own), or one han or kana character."""
    marks = (c for c in map(chr, range(0x10000)) if unicodedata.category(c) in ("Mn", "Mc"))
    joined = "".join(c for c in marks if not "\ufe00" <= c <= "\ufe0f")  # those choose the look of an emoji
    letter = _LETTER.pattern
    return rf"[{UNSPACED}]|{letter}(?:{letter}|[{joined}])*"


@cache
def _words() -> re.Pattern[str]:
    return re.compile(word_pattern())


_ASCII_RUN = re.compile(r"\w+", re.ASCII)


def words(text: str) -> list[str]:
    """The words of a text, composed and case folded.

    >>> words("N’Orvalle (1919)"), words("Über 沙湖")
    (['n', 'orvalle', '1919'], ['über', '沙', '湖'])
    """
    if text.isascii():
        return _ASCII_RUN.findall(text.lower())
    return _words().findall(normalized("NFC", text).casefold())


def search_terms(text: str) -> list[str]:
    """The words that a search matches: those of a text, and han and kana with their neighbour as well.

    >>> search_terms("Die Brücke"), search_terms("沙湖，桥")
    (['die', 'brücke'], ['沙', '湖', '桥', '沙湖'])
    """
    return words(text) + neighbours(text)


def bounded(name: str) -> str:
    """The expression of a name at word boundaries, as it is written; within han and kana there are none.

    >>> re.findall(bounded("art"), "art, artful"), re.findall(bounded("沙湖"), "在沙湖的")
    (['art'], ['沙湖'])
    """
    before = "" if unspaced(name[:1]) else rf"(?<!{_LETTER.pattern})"
    after = "" if unspaced(name[-1:]) else rf"(?!{_LETTER.pattern})"
    return f"{before}{re.escape(name)}{after}"


def at_boundaries(match: re.Match[str]) -> bool:
    """Whether what was found stands at word boundaries, as of `bounded`. The class of letters takes milliseconds to
    compile, so whoever seeks thousands of names once each compiles the names alone, and asks this.

    >>> [at_boundaries(one) for one in re.finditer("art|沙湖", "art, artful, 在沙湖的")]
    [True, False, True]
    """
    name, text = match[0], match.string
    first = match.start() == 0 or unspaced(name[:1]) or not _LETTER.match(text[match.start() - 1])
    return first and (match.end() == len(text) or unspaced(name[-1:]) or not _LETTER.match(text[match.end()]))


def wrapped(*paragraphs: str, width: int = 100) -> str:
    """Paragraphs for a terminal, broken between words, with an empty line between them."""
    return "\n\n".join(textwrap.fill(" ".join(paragraph.split()), width) for paragraph in paragraphs)


def titled(title: str, text: str) -> str:
    """A text below its title, if there is one."""
    return f"{title}\n{text}" if title else text


def split_title(text: str, longest: int, ends: str) -> tuple[str, str]:
    """(title, text) of a text that opens with its title: a line of at most `longest` characters that closes with none
    of `ends`. The title is empty where the first line is none.

    >>> split_title("Orsby\\nA town.", 100, ends="."), split_title("A town.\\nIt is old.", 100, ends=".")
    (('Orsby', 'A town.'), ('', 'A town.\\nIt is old.'))
    """
    first, feed, rest = text.partition("\n")
    bare = first.rstrip()
    return (first, rest) if feed and bare and len(first) <= longest and bare[-1] not in ends else ("", text)


def counted(count: int, singular: str, many: str = "") -> str:
    """A count with its noun; `many` is the plural where it is not the singular with an s.

    >>> counted(1, "name"), counted(2300, "entity", "entities")
    ('1 name', '2,300 entities')
    """
    return f"{count:,} {singular if count == 1 else many or singular + 's'}"


def did_you_mean(name: str, names: Iterable[str], suffix: str = "") -> str:
    """The question of an error message about an unknown name: up to three similar known names, each with the `suffix`;
    empty without any.

    >>> did_you_mean("musiqe", ["musique", "hotpotqa"]), did_you_mean("magic", ["musique"])
    ("did you mean 'musique'?", '')
    """
    close = [repr(match + suffix) for match in difflib.get_close_matches(name, list(names), n=3)]
    return f"did you mean {' or '.join(close)}?" if close else ""
