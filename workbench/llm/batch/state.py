"""What is known of the batches of a folder: `batch.json`, replaced whole at each change. It holds neither requests nor
keys."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from workbench.errors import DataError, SettingError
from workbench.llm.call import REASONING
from workbench.llm.negotiation import STRUCTURED, Dialect, Negotiation
from workbench.places import locked, write_atomically

FILE, FORMAT = "batch.json", 1
ENDED = ("completed", "failed", "expired", "cancelled")  # what an endpoint says of a batch that it does no more for


@dataclass
class File:
    """A file of requests to one engine, and what became of it: `upload` and `batch` are the endpoint's names, `begun`
    that its batch may exist although it has no name here, `fetched` that its results are here."""

    round: int
    name: str
    engine: str
    requests: int
    bytes: int
    upload: str = ""
    begun: bool = False
    batch: str = ""
    endpoint: str = ""
    status: str = ""
    completed: int = 0
    failed: int = 0
    outputs: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    fetched: bool = False

    @property
    def under_way(self) -> bool:
        return (self.begun or bool(self.batch)) and not self.fetched


@dataclass
class Asking:
    """How an engine is asked: `structured` and `reasoning` as in `openai_engine`, and what its endpoint has been found
    to take."""

    structured: str = "auto"
    reasoning: int = REASONING
    dialect: Dialect = field(default_factory=Dialect)

    @classmethod
    def of(cls, structured: str, reasoning: int) -> Asking:
        if structured not in ("auto", *STRUCTURED):
            raise SettingError(f"structured={structured!r} is unknown; choose one of auto, {', '.join(STRUCTURED)}")
        return cls(structured, reasoning, Negotiation(structured).dialect)

    @property
    def negotiation(self) -> Negotiation:
        return Negotiation(self.structured, self.dialect)


@dataclass
class State:
    """`round` is the last that was written, and `read` the last whose results were read."""

    folder: Path
    recording: str = "recording.sqlite"
    round: int = 0
    read: int = 0
    asking: dict[str, Asking] = field(default_factory=dict)
    files: list[File] = field(default_factory=list)

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = False) -> State:
        """Raises :class:`DataError` for a folder without, or with a damaged `batch.json`."""
        folder = Path(folder)
        path = folder / FILE
        if not path.exists():
            if create:
                return cls(folder)
            raise DataError(f"{folder} holds no batch; write one with `workbench batch export {folder} VERB …`")
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
            if said["format"] > FORMAT:
                raise DataError(f"{path} has format {said['format']}; this version reads {FORMAT}: upgrade hopscope")
            asking = {
                name: Asking(**{**one, "dialect": _dialect(one["dialect"])}) for name, one in said["asking"].items()
            }
            files = [File(**one) for one in said["files"]]
            return cls(folder, said["recording"], said["round"], said["read"], asking, files)
        except (ValueError, TypeError, KeyError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(
                f"{path} is damaged ({type(error).__name__}: {error}); restore it, or export into another folder "
                "with the same --record: no answer is lost"
            ) from None

    @property
    def store(self) -> Path:
        """The recording: a path as given, or a file of the folder."""
        return self.folder / self.recording

    def of_round(self, round: int | None = None) -> list[File]:
        return [one for one in self.files if one.round == (self.round if round is None else round)]

    def round_folder(self, round: int | None = None) -> Path:
        return self.folder / f"round-{self.round if round is None else round}"

    def path(self, file: File) -> Path:
        return self.round_folder(file.round) / file.name

    def results(self, round: int | None = None) -> Path:
        return self.round_folder(round) / "results"

    def save(self) -> None:
        said = {
            "format": FORMAT,
            "recording": self.recording,
            "round": self.round,
            "read": self.read,
            "asking": {name: {**asdict(one), "dialect": _plain(one.dialect)} for name, one in self.asking.items()},
            "files": [asdict(one) for one in self.files],
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / FILE, json.dumps(said, indent=1, ensure_ascii=False) + "\n")


def held(folder: str | Path) -> AbstractContextManager[None]:
    """The lock of a folder of batches."""
    return locked(Path(folder), SettingError(f"another process is at work in {folder}; wait until it has ended"))


def _plain(dialect: Dialect) -> dict[str, Any]:
    return {name: sorted(one) if isinstance(one, frozenset) else one for name, one in asdict(dialect).items()}


def _dialect(said: dict[str, Any]) -> Dialect:
    return Dialect(**{name: frozenset(one) if isinstance(one, list) else one for name, one in said.items()})
