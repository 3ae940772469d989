"""Spoilt files where the product reads them: data folders, indexes of other programs, TREC files, archives. Each is
refused with the name of the file, or read, and what was read can be shown, written and indexed."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import signal
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from exchange import layouts
from hostile_texts import TEXTS, harm_of_lines, harm_of_page
from tiny import PASSAGES, QUESTIONS, TinyEncoder, tiny_dataset

import workbench as wb
from workbench import exchange
from workbench.data import Dataset, Origin, SourceFile
from workbench.data.graph import Attribute, EntityType, GoldEntity, GoldGraph, GoldTriple, Relation, Schema
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.data.sources import archive
from workbench.errors import DataError, WorkbenchError
from workbench.records import Triple

ABSOLUTE = "/tmp/hopscope-pwn"  # that nothing should make
PATIENCE = 60  # seconds of an attempt
LONG_MESSAGE = 3_000  # characters; what is refused is quoted, not repeated


class Attempt(NamedTuple):
    """Does its harm below a folder of its own, and returns what came of it that should not have."""

    name: str
    run: Callable[[Path], list[str]]


def every_attempt(chance: random.Random) -> list[Attempt]:
    return [*of_files(chance), *_of_trec(), *of_archives(), *_of_documents()]


def of_files(chance: random.Random) -> list[Attempt]:
    """Each file of a folder, spoilt in each way."""
    return [*_of_folders(chance), *_of_layouts(chance)]


# -- how a file is spoilt --------------------------------------------------------------------------------------------


def _in_place(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(change(path.read_bytes())) and None


def _instead(put: Callable[[Path], Any]) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        path.unlink()
        put(path)

    return spoil


def _text(change: Callable[[str], str], encoding: str = "utf-8") -> Callable[[Path], None]:
    return _in_place(lambda raw: change(raw.decode("utf-8", "replace")).encode(encoding, "replace"))


SPOILS: dict[str, Callable[[Path], None]] = {
    "is empty": _in_place(lambda raw: b""),
    "ends in the middle": _in_place(lambda raw: raw[: len(raw) * 2 // 3]),
    "holds noise": _in_place(lambda raw: random.Random(len(raw)).randbytes(2000)),
    "is UTF-16": _text(str, "utf-16"),
    "is UTF-16 without a mark": _text(str, "utf-16-le"),
    "is UTF-32": _text(str, "utf-32"),
    "is latin-1": _text(lambda text: text.replace("Orsby", "Örsby").replace("e", "é"), "latin-1"),
    "begins with a mark": _in_place(lambda raw: b"\xef\xbb\xbf" + raw),
    "begins with two marks": _in_place(lambda raw: b"\xef\xbb\xbf" * 2 + raw),
    "holds NUL": _in_place(lambda raw: raw.replace(b"s", b"\0", 3)),
    "has ends of lines of Windows": _in_place(lambda raw: raw.replace(b"\n", b"\r\n")),
    "has ends of lines of old Macs": _in_place(lambda raw: raw.replace(b"\n", b"\r")),
    "stands twice in itself": _in_place(lambda raw: raw + raw),
    "is deeply nested": _in_place(lambda raw: b"[" * 100_000),
    "is nested and closed": _in_place(lambda raw: b'{"a":' * 5_000 + b"1" + b"}" * 5_000),
    "is a huge number": _in_place(lambda raw: b"9" * 10_000),
    "is NaN": _in_place(lambda raw: b"NaN"),
    "is a list": _in_place(lambda raw: b"[1, 2]"),
    "is null": _in_place(lambda raw: b"null"),
    "is a page": _in_place(lambda raw: b"<!doctype html><title>404</title>"),
    "is a pointer": _in_place(lambda raw: b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
    "is a pickle": _in_place(lambda raw: b"\x80\x04cos\nsystem\n(S'touch pwn'\ntR."),
    "is one line of 3 MB": _in_place(lambda raw: b"x" * 3_000_000),
    "is a folder": _instead(Path.mkdir),
    "is a link to nothing": _instead(lambda path: path.symlink_to(path.with_name("nothing"))),
    "is a link to itself": _instead(lambda path: path.symlink_to(path)),
    "is a pipe": _instead(os.mkfifo),
    "is a device": _instead(lambda path: path.symlink_to("/dev/null")),
}
VALUES: dict[str, Any] = {
    "null": None, "a truth": True, "a number": 7, "a negative": -1, "a fraction": 0.5, "a huge number": 10**400,
    "NaN": float("nan"), "infinity": float("inf"), "an empty text": "", "a text": "pwn", "an empty list": [],
    "a list": ["pwn"], "a list of lists": [["pwn"]], "a mixed list": [1, None, "pwn", {}], "an empty object": {},
    "an object": {"pwn": "pwn"}, "half a character": "\ud800", "a long text": "pwn " * 50_000,
    "a deep list": json.loads("[" * 400 + "]" * 400), "a deep object": json.loads('{"a":' * 400 + "1" + "}" * 400),
    "a path": "../../pwn", "a command": "\x1b[2J\x07", "a tag": "<img class=pwn src=x>",
}  # fmt: skip


def _places(value: Any, depth: int = 3) -> Iterator[tuple]:
    """The places in a value of JSON: of lists, the first element."""
    if depth and isinstance(value, dict):
        for key, inner in value.items():
            yield (key,)
            yield from ((key, *place) for place in _places(inner, depth - 1))
    elif depth and isinstance(value, list) and value:
        yield (0,)
        yield from ((0, *place) for place in _places(value[0], depth - 1))


def _set(value: Any, place: tuple, new: Any) -> Any:
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = _set(value[place[0]], place[1:], new)
    return copy


def _without(value: Any, place: tuple) -> Any:
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(place) == 1:
        del copy[place[0]]
    else:
        copy[place[0]] = _without(value[place[0]], place[1:])
    return copy


def _value_spoils(path: Path) -> list[tuple[str, Callable[[Path], None]]]:
    """Every place of the first object of a file of JSON, with every value, or left out."""
    lines = path.suffix == ".jsonl"

    def change(made: Callable[[Any], Any], path: Path) -> None:
        text = path.read_text("utf-8")
        first, rest = text.split("\n", 1) if lines else (text, "")
        path.write_text(json.dumps(made(json.loads(first))) + "\n" + rest, "utf-8")

    whole = path.read_text("utf-8")
    spoils = []
    for place in _places(json.loads(whole.split("\n", 1)[0] if lines else whole)):
        shown = "/".join(map(str, place))
        for name, new in VALUES.items():
            spoils.append((f"{shown} is {name}", partial(change, partial(_set, place=place, new=new))))
        spoils.append((f"{shown} is missing", partial(change, partial(_without, place=place))))
    return spoils


# -- data folders and indexes of other programs ----------------------------------------------------------------------


def _whole() -> Dataset:
    """A data set with everything that a data folder can hold."""
    town, river = EntityType("town", "a place"), EntityType("river", "water")
    lies = Relation("lies on", "by the water", ("town",), ("river",))
    schema = Schema((town, river), (lies,), (Attribute("founded", "when", ("town",), "date"),), "Towns.")
    entities = (GoldEntity("Orsby", "town", ("Orsbi",), ("the town",), "p1"), GoldEntity("River Aldra", "river"))
    facts = (
        GoldTriple("Orsby", "lies on", "River Aldra", "relation", ("p1",)),
        GoldTriple("Orsby", "founded", "1850", "attribute", ("p1",), 1850, 1900),
    )
    steps = ({"question": "Which river?", "answer": "River Aldra", "support": "p1"},)
    profiles = Profiles(
        (EntityProfile("Orsby", "town", "A town.", ("p1",)),),
        (RelationProfile("Orsby", "River Aldra", "by it", ("lies",), 2.0, ("p1",), "lies on"),),
        ("a model",),
    )
    origin = Origin("by hand", {"size": 120}, (SourceFile("a.txt", "0" * 64, "x"),), (("b.txt", "empty"),), ("a note",))
    questions = tuple(replace(one, decomposition=steps) for one in QUESTIONS)
    return replace(
        tiny_dataset(), questions=questions, graph=GoldGraph(schema, entities, facts), origin=origin, profiles=profiles,
        schema=schema, triples=(Triple("Orsby", "lies on", "River Aldra"),), left_out=("a thing",),
    )  # fmt: skip


def _of_folders(chance: random.Random) -> list[Attempt]:
    def make(folder: Path) -> Path:
        return wb.write_folder(_whole(), folder / "data")

    return _spoilt("data folder", make, wb.load, chance)


def _of_layouts(chance: random.Random) -> list[Attempt]:
    attempts = []
    for kind, versions in layouts.LAYOUTS.items():
        for version, layout in versions.items():

            def make(folder: Path, layout=layout) -> Path:
                layout(folder / "data")
                return folder / "data"

            attempts += _spoilt(f"{kind} {version}", make, partial(exchange.read, kind=kind), chance)
    return attempts


def _spoilt(what: str, make: Callable, read: Callable, chance: random.Random, most: int = 60) -> list[Attempt]:
    """Attempts with each file of a folder. Of the values of a file `most` are drawn by chance."""
    import tempfile

    attempts = []
    with tempfile.TemporaryDirectory() as example:
        whole = make(Path(example))
        for path in sorted(one for one in whole.rglob("*") if one.is_file()):
            spoils = list(SPOILS.items())
            if path.suffix in (".json", ".jsonl"):
                valued = _value_spoils(path)
                spoils += chance.sample(valued, min(most, len(valued)))
            name = path.relative_to(whole).as_posix()
            attempts += [
                Attempt(f"{what}: {name} {how}", partial(_read_spoilt, make, read, name, spoil))
                for how, spoil in spoils
            ]
    return attempts


def _read_spoilt(make: Callable, read: Callable, name: str, spoil: Callable, folder: Path) -> list[str]:
    data = make(folder)
    spoil(data / name)
    try:
        found = read(data)
    except WorkbenchError as error:
        return harm_of_refusal(error, str(data))
    return _usable(found, folder)


def harm_of_refusal(error: WorkbenchError, place: str) -> list[str]:
    """What is wrong with a message: it names no file, it steers the terminal, it floods it."""
    said = str(error)
    wrong = [] if place in said else [f"a refusal that names no file: {said[:300]}"]
    wrong += [] if len(said) < LONG_MESSAGE else [f"a refusal of {len(said):,} characters: {said[:100]}"]
    return wrong + harm_of_lines(said)


def _usable(found: Dataset, folder: Path) -> list[str]:
    """What was read is shown, written, read again and indexed, or refused there."""
    harms = harm_of_lines(repr(found)) + harm_of_page(found._repr_html_())
    for record in (*found.passages[:5], *found.questions):
        harms += harm_of_lines(repr(record)) + harm_of_page(record._repr_html_())
    try:
        again = wb.load(wb.write_folder(found, folder / "written"))
        if _content(again) != _content(found):
            harms.append("what is written is read otherwise")
        layers = ["facts", "typed"] if found.extractions is not None and found.profiles is not None else ["facts"]
        index = wb.Index.build(
            found, wb.engine("rules"), folder / "index", encoder=TinyEncoder(), layers=layers, progress=False
        )
        for question in found.questions[:1]:
            wb.method("dense", index).retrieve(question.question)
    except WorkbenchError as error:
        harms += harm_of_lines(str(error))
    return harms


def _content(data: Dataset) -> Dataset:
    """Without what a data folder of its own says: its name, its place, and that it has the extractions."""
    made = data.extractions and tuple(replace(one, made_by="") for one in data.extractions)
    return replace(data, name="", folder=None, extractions=made)


# -- documents -------------------------------------------------------------------------------------------------------


def _of_documents() -> list[Attempt]:
    """A folder of documents: every text as a text and in Markdown, every name that a file can have."""

    def read(name: str, content: bytes, folder: Path) -> list[str]:
        documents = folder / "data"
        documents.mkdir()
        (documents / "other.txt").write_text("Orsby lies on the River Aldra.")
        (documents / name).write_bytes(content)
        data = wb.load(documents)
        wrong = [] if len(data.passages) > 1 or data.origin.skipped else [f"{name!r} is neither read nor listed"]
        return wrong + _usable(data, folder)

    encoded = {"utf-16": "utf-16", "utf-8-sig": "utf-8-sig", "latin-1": "latin-1", "utf-32": "utf-32"}
    attempts = [
        Attempt(f"document: {how}", partial(read, "a.md", f"# Zürich\n\n{text}".encode("utf-8", "replace")))
        for how, text in TEXTS.items()
    ]
    attempts += [
        Attempt(f"document in {how}", partial(read, "a.txt", "Zürich liegt am See.".encode(code)))
        for how, code in encoded.items()
    ]
    names = {how: text for how, text in TEXTS.items() if _can_be_a_name(f"{text}.txt")}
    attempts += [
        Attempt(f"document named {how}", partial(read, f"{text}.txt", b"A town.")) for how, text in names.items()
    ]
    front = "---\ntitle: <b class=pwn>\x1b[2J\n---\n# x\n"
    attempts.append(Attempt("document: front matter", partial(read, "a.md", front.encode())))
    attempts.append(
        Attempt("document: a PDF that is none", partial(read, "a.pdf", b"%PDF-1.7\n%\xff\nstartxref\n-1\n%%EOF"))
    )
    return attempts


def _can_be_a_name(name: str) -> bool:
    return "/" not in name and "\0" not in name and len(name.encode("utf-8", "replace")) < 255 and name[0] != "." and (
        name.isprintable() or not any("\ud800" <= c <= "\udfff" for c in name)
    )  # fmt: skip


# -- TREC files ------------------------------------------------------------------------------------------------------

_IDS = {passage.id for passage in PASSAGES}
_RUN = ["q1", "Q0", "p1", "1", "0.5", "tag"]
_WORDS = {
    **{how: text for how, text in TEXTS.items() if text.strip()},
    "nothing": "", "half": "%ud800", "a quoted NUL": "%00",
    "a quoted path": "%2e%2e%2fpwn", "infinity": "inf", "not a number": "nan", "1e400": "1e400", "hex": "0x10",
    "digits": "9" * 5000, "eastern digits": "٣", "underscores": "1_0",
}  # fmt: skip


def _of_trec() -> list[Attempt]:
    def read(line: bytes, folder: Path, gold: bool) -> list[str]:
        path = folder / "file.txt"
        path.write_bytes(line)
        try:
            if gold:
                return [harm for one in exchange.read_qrels(path, QUESTIONS, _IDS) for harm in harm_of_lines(repr(one))]
            found = exchange.read_run(path, QUESTIONS, _IDS)
        except WorkbenchError as error:
            return harm_of_refusal(error, str(path))
        return [harm for one in found.values() for harm in harm_of_lines(repr(one)) + harm_of_page(one._repr_html_())]

    attempts = []
    for field in range(len(_RUN)):
        for how, word in _WORDS.items():
            words = [*_RUN[:field], word, *_RUN[field + 1 :]]
            line = " ".join(words).encode("utf-8", "replace") + b"\nq2 Q0 p2 1 0.5 tag\n"
            attempts.append(Attempt(f"TREC run: field {field + 1} is {how}", partial(read, line, gold=False)))
    for how, word in _WORDS.items():
        line = f"q1 0 {word} 1\n".encode("utf-8", "replace")
        attempts.append(Attempt(f"TREC gold: {how}", partial(read, line, gold=True)))
    return attempts


# -- archives --------------------------------------------------------------------------------------------------------


def _zip(
    members: list[tuple[str, bytes]], folder: Path, mode: int = 0, change: Callable[[bytes], bytes] = bytes
) -> Path:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members:
            member = zipfile.ZipInfo(name)
            member.external_attr, member.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            packed.writestr(member, content)
    path = folder / "data.zip"
    path.write_bytes(change(out.getvalue()))
    return path


def _tar(members: list[tuple[str, bytes, bytes, str]], folder: Path, kind: str = "gz") -> Path:
    path = folder / f"data.tar.{kind}"
    with tarfile.open(path, f"w:{kind}") as packed:
        for name, content, type, target in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size = type, target, len(content)
            packed.addfile(member, io.BytesIO(content))
    return path


def _swollen(folder: Path, kind: str) -> Path:
    """A tar archive whose header says that a name of 300 MB follows, and one of zeros that follow."""
    path = folder / "data.tar.gz"
    member = tarfile.TarInfo("././@LongLink")
    member.type, member.size = (tarfile.GNUTYPE_LONGNAME if kind == "name" else tarfile.DIRTYPE), 300_000_000
    import gzip

    with gzip.open(path, "wb", 1) as file:
        file.write(member.tobuf())
        for _ in range(300):
            file.write(bytes(1_000_000))
    return path


def archives() -> dict[str, Callable[[Path], Path]]:
    """Kind and name of an archive → what makes it in a folder."""
    names = [
        "../pwn", ABSOLUTE, "a/../../pwn", "..\\..\\pwn", "C:\\pwn", "C:pwn", "//pwn/x", "a/./../..//pwn", "..", ".",
        "", "/", "pwn\x00.txt", "x" * 300, "a/" * 300 + "x", "\x1b[2J", "\u202epwn", "CON", "a:b", "~/pwn",
    ]  # fmt: skip
    zips: dict[str, Callable[[Path], Path]] = {f"member {name[:20]!r}": partial(_zip, [(name, b"x")]) for name in names}

    def swap(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
        return lambda raw: raw.replace(old, new)

    zips |= {
        "a link": partial(_zip, [("pwn", b"/etc/passwd")], mode=0o120777),
        "a device": partial(_zip, [("pwn", b"")], mode=0o020666),
        "a bomb": partial(_zip, [("x", bytes(30_000_000))]),
        "many bombs": partial(_zip, [(f"x{at}", bytes(900_000)) for at in range(30)]),
        "the same member twice": partial(_zip, [("x", b"1"), ("x", b"2")]),
        "members apart in case": partial(_zip, [("x", b"1"), ("X", b"2")]),
        "a file and a folder of one name": partial(_zip, [("x", b"1"), ("x/y", b"2")]),
        "cut": partial(_zip, [("x", b"1" * 999)], change=lambda raw: raw[:-30]),
        "a wrong sum": partial(_zip, [("x", b"1" * 999)], change=lambda raw: raw.replace(raw[14:18], b"\0\0\0\0")),
        "a wrong method": partial(_zip, [("x", b"1")], change=swap(b"\x08\x00", b"\x63\x00")),
        "locked": partial(_zip, [("x", b"1")], change=swap(b"\x14\x00\x00\x00", b"\x14\x00\x01\x00")),
        "a name that is not UTF-8": partial(
            _zip, [("é", b"1")], change=swap("é".encode(), b"\xff\xfe")
        ),
        "no archive": lambda folder: _written(folder / "data.zip", b"PK\x03\x04 pwn"),
        "nothing": lambda folder: _written(folder / "data.zip", b""),
    }  # fmt: skip
    file, folder = tarfile.REGTYPE, tarfile.DIRTYPE
    tars: dict[str, Callable[[Path], Path]] = {
        f"member {name[:20]!r}": partial(_tar, [(name, b"x", file, "")]) for name in names if "\0" not in name
    }
    tars |= {
        "a link out": partial(_tar, [("x", b"", tarfile.SYMTYPE, "/etc"), ("x/pwn", b"1", file, "")]),
        "a link up": partial(_tar, [("x", b"", tarfile.SYMTYPE, ".."), ("x/pwn", b"1", file, "")]),
        "a hard link": partial(_tar, [("x", b"", tarfile.LNKTYPE, "../pwn")]),
        "a pipe": partial(_tar, [("x", b"", tarfile.FIFOTYPE, "")]),
        "a device": partial(_tar, [("x", b"", tarfile.CHRTYPE, "")]),
        "a folder outside": partial(_tar, [("../pwn", b"", folder, "")]),
        "a bomb": partial(_tar, [("x", bytes(30_000_000), file, "")], kind="xz"),
        "the same member twice": partial(_tar, [("x", b"1", file, ""), ("x", b"2", file, "")]),
        "a name of 300 MB": partial(_swollen, kind="name"),
        "a folder of 300 MB": partial(_swollen, kind="folder"),
        "cut": lambda at: _written(
            at / "data.tar.gz", _tar([("x", os.urandom(9999), file, "")], at).read_bytes()[:500]
        ),
        "noise": lambda at: _written(at / "data.tar.bz2", b"BZh9" + b"pwn" * 99),
        "nothing": lambda at: _written(at / "data.tar", b""),
    }
    return {f"{kind}: {how}": make for kind, made in (("zip", zips), ("tar", tars)) for how, make in made.items()}


def of_archives() -> list[Attempt]:
    return [Attempt(f"archive {name}", partial(_unpack, make)) for name, make in archives().items()]


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _unpack(make: Callable[[Path], Path], folder: Path) -> list[str]:
    packed = make(folder)
    target = folder / "inside" / "unpacked"
    wrong: list[str] = []
    try:
        archive.unpack(packed, target)
    except DataError as error:
        wrong = harm_of_refusal(error, str(packed))
        if target.exists():
            wrong.append("what is refused is there all the same")
    found = [path for path in folder.rglob("*") if path.is_symlink() or (path.is_file() and path != packed)]
    outside = [path for path in found if target not in path.parents or path.is_symlink()]
    if outside or Path(ABSOLUTE).exists():
        wrong.append(f"outside the folder: {[str(path) for path in outside]}")
    return wrong


class _Hang(BaseException):
    """No error that a block for others would catch."""


@contextmanager
def _ending() -> Iterator[None]:
    """What takes too long, or waits for ever, is broken off."""

    def break_off(*_: object) -> None:
        raise _Hang

    before = signal.signal(signal.SIGALRM, break_off)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def tried(attempt: Attempt, folder: Path) -> list[str]:
    """What came of an attempt, in a folder that is then gone."""
    folder.mkdir(parents=True)
    try:
        with _ending():
            return attempt.run(folder)
    except _Hang:
        return [f"crashed: it takes longer than {PATIENCE} s"]
    except Exception as error:
        return [f"crashed: {type(error).__name__}: {error}"[:600]]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
