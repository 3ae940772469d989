"""Retrieved evidence on disk, so that several readers read the same evidence, in one process or in many.

A file per question and method holds the evidence and its usage; next to it are its trace and the seconds, the only part
that differs between runs, with the checksums of the two. Otherwise, a reader added later would read evidence from new
replies of a model, and answers could not be paired."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

from workbench.errors import FileDamaged
from workbench.evaluation.identity import Identity, of_method
from workbench.evaluation.run import varies
from workbench.integrity import checksum, checksum_of
from workbench.llm.call import repeat
from workbench.llm.meter import collect
from workbench.llm.record import noted, used
from workbench.llm.step import Usage
from workbench.methods import Method
from workbench.records import (
    ContextEntity,
    ContextGraph,
    ContextRelation,
    Entity,
    Evidence,
    Passage,
    Path,
    Report,
    Scored,
    Triple,
    Unit,
    record_of,
)
from workbench.text import text_hash
from workbench.trace import Trace

_SCORED = {"passages": Passage, "entities": Entity, "facts": Triple, "paths": Path, "reports": Report}
_TABLES = {
    "entities": ContextEntity, "relations": ContextRelation, "sources": Unit, "chunks": Unit, "paths": Path,
}  # fmt: skip


class Retrieved:
    """A method that retrieves for each question once. `folder` holds the evidence by everything that determines it: the
    method's identity (`workbench.evaluation.identity`), the question, `k`, `budget`, the level of trace, and the
    number of the repeat if a model is asked."""

    def __init__(self, method: Method, folder: str | FilePath):
        self.method, self.folder = method, FilePath(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "method" not in vars(self):  # while it is copied or sent
            raise AttributeError(name)
        return getattr(self.method, name)

    def __getstate__(self) -> dict[str, Any]:
        """What a worker is given."""
        return {**vars(self), "_identity": self._identity}

    @cached_property
    def _identity(self) -> Identity:
        return of_method(self.method)

    @property
    def key(self) -> str:
        return self._identity.key

    def holds(self, question: str, k: int, budget: int | None, level: str) -> bool:
        """Whether the evidence is stored."""
        return self._file(question, k, budget, level).with_suffix(".json").exists()

    def _file(self, question: str, k: int, budget: int | None, level: str) -> FilePath:
        number = repeat() if varies(self._identity.description["engine"]) else 0
        return self.folder / text_hash(
            json.dumps([self.key, question, k, budget, level, *([number] if number else [])])
        )

    def retrieve(self, question: str, k: int = 10, *, budget: int | None = None, trace: Trace) -> Evidence:
        """The method's evidence. The stored usage counts, as the cost of the answer by itself."""
        file = self._file(question, k, budget, trace.level)
        if not file.with_suffix(".json").exists():
            return self._ask(file, question, k, budget, trace)
        stored, evidence, events = read(file)
        with collect() as usage:
            for step, spent in stored["usage"].items():
                usage.add(step, Usage(**spent))
            for engine, fingerprints in stored.get("fingerprints", {}).items():
                for fingerprint in fingerprints:
                    usage.served(engine, fingerprint)
            for recording, keys in used([_read(file.with_suffix(".seconds"))], self.folder.absolute()).items():
                usage.answered(recording, keys)
        trace.graft(events)
        return replace(evidence, trace=trace)

    def _ask(self, file: FilePath, question: str, k: int, budget: int | None, trace: Trace) -> Evidence:
        own = Trace(trace.level)
        try:
            with collect() as usage:
                evidence = self.method.retrieve(question, k, budget=budget, trace=own)
        finally:
            trace.graft(own)
        used, plain = usage.as_dict(seconds=False), asdict(replace(evidence, trace=None))
        stored = {"method": self.method.label, "k": k, "budget": budget, "usage": used, "evidence": plain}
        if usage.fingerprints:
            stored["fingerprints"] = {name: sorted(values) for name, values in sorted(usage.fingerprints.items())}
        text, trace_file = json.dumps(stored), own.save(file.with_suffix(".jsonl"))
        sums = {".json": checksum(text.encode()), ".jsonl": checksum_of(trace_file)}
        beside = {"seconds": [event.seconds for event in own], "sums": sums}
        beside |= {"answers": noted(usage.answers, self.folder.absolute())} if usage.answers else {}
        file.with_suffix(".seconds").write_text(json.dumps(beside))
        part = file.with_suffix(".tmp")  # the evidence goes last: where it is, the others are
        part.write_text(text, encoding="ascii")
        os.replace(part, file.with_suffix(".json"))
        return replace(evidence, trace=trace)


def read(file: FilePath) -> tuple[dict[str, Any], Evidence, Trace]:
    """What is stored under a name: the whole record, the evidence, and its trace with seconds. Raises
    :class:`FileDamaged`."""
    try:
        stored, seconds = (_read(file.with_suffix(end)) for end in (".json", ".seconds"))
        trace, evidence = Trace.open(file.with_suffix(".jsonl")), evidence_of(stored["evidence"])
        for end, checksum in seconds.get("sums", {}).items():
            if checksum_of(file.with_suffix(end)) != checksum:
                raise ValueError(f"{end} does not hold what was written: its checksum is another")
        events = [replace(event, seconds=took) for event, took in zip(trace, seconds["seconds"], strict=True)]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise FileDamaged(
            f"the evidence {file.with_suffix('.json')} is damaged ({error}); delete it, and the same command "
            "retrieves it again"
        ) from None
    return stored, evidence, Trace(trace.level, events)


def _read(path: FilePath) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="ascii"))


def evidence_of(stored: Mapping[str, Any]) -> Evidence:
    """The evidence from the output of `dataclasses.asdict`, without its trace."""
    scored = {
        name: tuple(Scored(record_of(kind, item), score) for item, score in stored[name])
        for name, kind in _SCORED.items()
    }
    tables = stored["context"] and ContextGraph(
        **{
            name: tuple(record_of(kind, row) for row in stored["context"].get(name, ()))
            for name, kind in _TABLES.items()
        },
        layout=stored["context"].get("layout", "ket_rag"),  # what the first ones were in
    )
    return Evidence(**{**stored, **scored, "context": tables})
