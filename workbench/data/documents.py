"""Read a folder of documents (`.txt`, `.md`, `.pdf`) as a data set: `read_documents("my/folder")`."""

from __future__ import annotations

import codecs
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from workbench import errors
from workbench.data import splitter
from workbench.data.folder import Dataset, question_files, questions_in
from workbench.data.origin import Origin, SourceFile
from workbench.errors import DataError, SettingError
from workbench.records import Passage
from workbench.text import split_title, storable

SUFFIXES = (".txt", ".md", ".markdown", ".pdf")
_MARKDOWN = (".md", ".markdown")
_TOLD = 5  # files that the error about an unreadable folder lists
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_UNDERLINE = re.compile(r"([=\-~*_])\1{2,}[ \t]*")
_LONGEST_TITLE = 100  # characters
_SENTENCE_END = ".,;:!?…。！？；："  # what a title does not close with
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?P<matter>.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


def is_documents(folder: Path) -> bool:
    """Whether a folder contains, at any depth, a file that `read_documents` would read."""
    return any(path.suffix.lower() in SUFFIXES for path, _ in _files(folder, lambda name, problem: None))


def read_documents(
    folder: str | Path,
    *,
    size: int = splitter.SIZE,
    overlap: int = splitter.OVERLAP,
    unit: str = splitter.UNIT,
    encoding: str = "utf-8",
    on_error: str = "skip",
    max_bytes: int = 50_000_000,
    name: str | None = None,
) -> Dataset:
    """Read every document below a folder, in the order of their paths, and split each into passages.

    `size`, `overlap` and `unit` are those of :func:`workbench.data.splitter.split`. A passage's id is
    `<path below the folder>#<number>`, starting at 1, so other documents never change it. Its title is the document's
    (front matter's `title:`, the first Markdown heading, the first line of a text where it reads like a title, a PDF's
    own, otherwise the file name), followed by `› heading` under a later Markdown heading. Front matter, and the title
    of a text, are not repeated in what is split.

    Hidden files, other kinds of files and links to folders are ignored. A file that is unreadable, empty, binary,
    longer than `max_bytes` or not in the `encoding` is skipped; with `on_error="raise"` it raises :class:`DataError`,
    as does a folder without any readable file. `origin` lists each skipped file with its reason, the settings, and the
    hash of every file read.

    The questions are those of the `questions*.jsonl` in the folder; their `support` holds ids of passages, or names of
    documents that have one passage.
    """
    splitter.check(size, overlap, unit)
    if on_error not in ("raise", "skip"):
        raise SettingError(f"on_error={on_error!r} is not known; use 'raise' or 'skip'")
    try:
        "a".encode(encoding)
    except (LookupError, UnicodeError):
        raise SettingError(
            f"encoding={encoding!r} is not a text encoding of Python; use for example 'utf-8' or 'cp1252'"
        ) from None
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder; give the folder that holds the documents")

    passages: list[Passage] = []
    files: list[SourceFile] = []
    skipped: list[tuple[str, str]] = []
    others: Counter[str] = Counter()

    def skip(name: str, problem: DataError | str) -> None:
        if on_error == "raise" and isinstance(problem, DataError):
            raise DataError(f"{problem}. Without strict reading the other files are read, and this one is listed")
        skipped.append((name, str(problem).removeprefix(f"{folder / name} ")))

    question_paths = question_files(folder)
    for path, file_name in _files(folder, skip):
        if path in question_paths:
            continue
        if path.suffix.lower() not in SUFFIXES:
            others[path.suffix.lower() or "no suffix"] += 1
            continue
        try:
            content = _content(path, max_bytes)
            sections = _sections(path, content, encoding)
            parts = [(title, text) for title, body in sections for text in splitter.split(body, size, overlap, unit)]
            if not parts:
                raise DataError(f"{path} contains no text; add some, or remove the file")
        except DataError as error:
            skip(file_name, error)
            continue
        files.append(SourceFile(file_name, hashlib.sha256(content).hexdigest()))
        passages += [Passage(f"{file_name}#{number}", title, text) for number, (title, text) in enumerate(parts, 1)]
    if not passages:
        why = "; ".join(f"{name}: {reason}" for name, reason in skipped[:_TOLD])
        more = f"; and {len(skipped) - _TOLD:,} more" if len(skipped) > _TOLD else ""
        raise DataError(f"{folder} holds no document to read ({', '.join(SUFFIXES)}){f': {why}{more}' if why else ''}")
    questions = questions_in(folder, {passage.id for passage in passages}, skipped=dict(skipped))
    files += [SourceFile(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in question_paths]
    kinds = ", ".join(f"{count} {suffix}" for suffix, count in sorted(others.items()))
    origin = Origin(
        source="documents",
        settings={"size": size, "overlap": overlap, "unit": unit, "encoding": encoding},
        files=tuple(files),
        skipped=tuple(skipped),
        notes=(f"other kinds of files passed over: {kinds}",) if kinds else (),
    )
    return Dataset(name or folder.resolve().name, tuple(passages), questions, folder=folder, origin=origin)


def _files(folder: Path, skip: Callable[[str, DataError | str], None]) -> Iterator[tuple[Path, str]]:
    """(path, path below the folder as text) of every visible file, sorted by name."""
    waiting = [(folder, "")]  # a stack: the next one last
    while waiting:
        path, file_name = waiting.pop()
        if not os.path.isdir(path):  # also False for an inaccessible path
            yield path, file_name
        elif file_name and path.is_symlink():
            skip(file_name, "a link to a folder, which may lead in a circle; read its target as a data set of its own")
        else:
            try:
                names = sorted(map(os.fsencode, os.listdir(path)), reverse=True)
            except OSError as error:
                skip(file_name or ".", DataError(f"{path} cannot be listed ({error.strerror}); fix its permissions"))
                continue
            # A name that is not UTF-8 keeps its bytes as \\xNN, so two such names stay distinct.
            below = f"{file_name}/" if file_name else ""
            waiting += [
                (path / os.fsdecode(name), below + name.decode("utf-8", "backslashreplace"))
                for name in names
                if not name.startswith(b".")
            ]


def _content(path: Path, max_bytes: int) -> bytes:
    try:
        if not path.is_file():
            raise DataError(f"{path} is not a regular file (but a broken link, a pipe or a device); remove it")
        if (size := path.stat().st_size) > max_bytes:
            raise DataError(
                f"{path} has {size:,} bytes, more than max_bytes={max_bytes:,}; split it or raise max_bytes"
            )
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); fix its permissions or remove it") from None
    if not content:
        raise DataError(f"{path} is empty; add some text, or remove the file")
    return content


def _sections(path: Path, content: bytes, encoding: str) -> list[tuple[str, str]]:
    """(title, text) of each part of a document whose passages share a title."""
    if path.suffix.lower() == ".pdf":
        return [_pdf(path, content)]
    stem = _stem(path)
    text = _decoded(path, content, encoding)
    if path.suffix.lower() not in _MARKDOWN:
        title, body = _first_line(text)
        return [(title or stem, body)]
    title = ""
    if front := _FRONT_MATTER.match(text):
        title, text = _front_title(front["matter"] or ""), text[front.end() :]
    parts = _by_heading(text)
    title = title or next((heading for heading, _ in parts if heading), "") or stem
    return [(f"{title} › {heading}" if heading and heading != title else title, body) for heading, body in parts]


def _first_line(text: str) -> tuple[str, str]:
    """(title, what follows) of a text whose first line reads like a title: it is short, does not end as a sentence
    does, and stands apart: by an empty line, an underline, or less than half the length of the next line (the lines of
    wrapped prose are about equally long). The title is empty for any other text.

    >>> _first_line("Orsby\\n\\nA town."), _first_line("Orsby is a town on\\nthe River Aune.")
    (('Orsby', 'A town.'), ('', 'Orsby is a town on\\nthe River Aune.'))
    """
    title, rest = split_title(text.lstrip("\n"), _LONGEST_TITLE, _SENTENCE_END)
    next_line, _, below = rest.partition("\n")
    underlined = bool(_UNDERLINE.fullmatch(next_line))
    body = (below if underlined else rest).strip("\n")
    apart = underlined or not next_line.strip() or len(next_line) > 2 * len(title)
    return (" ".join(title.split()), body) if title and apart and body.strip() else ("", text)


def _by_heading(text: str) -> list[tuple[str, str]]:
    """(heading, text from its line on) of each Markdown section; lines inside a code fence are not headings."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark["mark"]
        elif mark and mark["mark"].startswith(fence):
            fence = ""
        elif not fence and (heading := _HEADING.match(line)):
            parts.append((_heading(line[heading.end() :]), []))
        parts[-1][1].append(line)
    return [(heading, "".join(lines)) for heading, lines in parts]


def _front_title(matter: str) -> str:
    for line in matter.split("\n"):
        name, _, value = line.partition(":")
        if name.rstrip() == "title":
            value = value.strip()
            return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
    return ""


def _heading(line: str) -> str:
    """The text of a heading without closing number signs, but with those of a word such as `C#`."""
    text = line.strip()
    bare = text.rstrip("#")
    return bare.strip() if bare != bare.rstrip() or not bare else text


def _decoded(path: Path, content: bytes, encoding: str) -> str:
    """The text of a file. A byte order mark overrides the default encoding, but not an explicit one."""
    if codecs.lookup(encoding).name == "utf-8":
        marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        encoding = "utf-16" if marked else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        byte = f"byte {error.start} is 0x{content[error.start]:02x}" if error.start < len(content) else error.reason
        raise DataError(
            f"{path} is not {encoding.removesuffix('-sig')} ({byte}); save it in that encoding, or pass its own: "
            "encoding='cp1252'"
        ) from None
    if (position := text.find("\0")) >= 0:
        raise DataError(
            f"{path} has a NUL at character {position}, as binary files do; remove it or convert it to text"
        )
    return storable(text.replace("\r\n", "\n").replace("\r", "\n"))


def _pdf(path: Path, content: bytes) -> tuple[str, str]:
    if not errors.has_extra("pdf"):
        raise DataError(f"{path}: {errors.lacking_extra('pdf')}")
    import io

    import pypdf

    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        title = (reader.metadata.title if reader.metadata else "") or ""
        text = "\n\n".join(page.extract_text() for page in reader.pages)
    except Exception as error:  # a damaged or hostile PDF may raise anything
        raise DataError(
            f"{path} cannot be read as a PDF ({type(error).__name__}: {error}); open it in a viewer and save it anew"
        ) from None
    if not text.strip():
        raise DataError(f"{path} contains no text, perhaps only images; run OCR on it first")
    return " ".join(storable(str(title)).split()) or _stem(path), storable(text.replace("\0", ""))


def _stem(path: Path) -> str:
    return os.fsencode(path.stem).decode("utf-8", "backslashreplace")
