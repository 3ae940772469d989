"""Opens what the options of a verb name: engines, encoders, indexes, questions, readers."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path
from typing import Any

from rich.markup import escape

from workbench.cli import options as opt
from workbench.cli.shell import err
from workbench.errors import DataError, IndexFault, SettingError

exporting: ContextVar[Any] = ContextVar("exporting", default=None)  # the `Export` that engines belong to


def names(given: str | None) -> list[str] | None:
    return [name.strip() for name in given.split(",")] if given else None


def pairs(option: str, given: list[str] | None, form: str = "key=value") -> dict[str, Any]:
    """The values of an option that is given as key=value, perhaps several times; `form` is what a message names."""
    from workbench.settings import parse_value

    pairs = [pair.partition("=") for pair in given or ()]
    if bad := [key for key, equals, _ in pairs if not equals]:
        raise SettingError(f"{option} {bad[0]!r}: write {form}")
    return {key: parse_value(value) for key, _, value in pairs}


def skipped(loaded) -> list[dict]:
    """The documents of a data set that could not be read; none where no data set was read."""
    skipped = loaded.origin.skipped if loaded and loaded.origin else ()
    return [{"file": name, "why": reason} for name, reason in skipped]


def skipped_lines(loaded) -> list[str]:
    """The last word of a verb that reads data, so that nothing pushes it out of sight."""
    from workbench.views.index import skipped_table
    from workbench.views.render import text_of

    return [escape(text_of(skipped_table(loaded.origin)))] if loaded and loaded.origin and loaded.origin.skipped else []


def questions(file: Path, index=None):
    """The questions of a file, or of the data set in a folder; their gold passages must be in the index, if there is
    one."""
    import workbench as wb
    from workbench.data.folder import read_questions

    indexed = set(index.passages.row) if index else None
    if not file.is_dir():
        return read_questions(file, indexed)
    questions = list(wb.load(file).questions)
    gold = {passage for question in questions for passage in question.support}
    if indexed is not None and (absent := gold - indexed):
        raise DataError(f"{file}: the gold passage {min(absent)!r} is not in {index.folder}; index this data set first")
    return questions


def encoder(spec: str | None, model: opt.Model, folder: Path, offline: bool = False):
    """The encoder of a SPEC, or the one behind an endpoint that an index in the folder names; None where the index
    finds its own. One behind an endpoint is recorded, replayed and limited like an engine."""
    import workbench as wb
    from workbench.encoding import ENCODERS

    if spec and not asks_for_vectors(folder, spec):
        own = {"offline": True} if offline and spec.partition("[")[0] not in ENCODERS else {}
        return wb.encoder(spec, **own)
    if not asks_for_vectors(folder, spec):
        return None
    record = str(exporting.get().record) if exporting.get() is not None else model.record
    given = {"replay": model.replay} if model.replay else {"record": record, "budget": model.limits}
    named = {"spec": spec} if spec else _named(folder)
    return wb.encoder(**named, **{name: value for name, value in given.items() if value})


def at_hand(folder: Path, model: opt.Model, method: str, reader: str | None = None) -> Path:
    """The folder of an index. Of a bundled data set's name, or of a folder of documents or data, it is the one that
    `workbench index` would fill. Where there is none yet, the passages are indexed, and the method adds the layers that
    it needs. This is done by rules alone, since a model costs money. An unknown method or reader fails before that."""
    import workbench as wb
    from workbench.data import is_data, is_named
    from workbench.index.index import place_of
    from workbench.index.store import Store
    from workbench.methods import METHODS
    from workbench.reading import READERS
    from workbench.settings import parse_spec

    METHODS.look_up(parse_spec(method)[0])
    if reader:
        READERS.look_up(parse_spec(reader)[0])
    if folder.exists():
        if Store(folder).manifest_path.exists() or not is_data(folder):
            return folder
    elif is_named(str(folder)):
        raise SettingError(f"{folder} is a data set; index it first: workbench index {folder}")
    data = wb.load(str(folder))  # raises an error if there is neither a folder nor a data set of this name
    place = place_of(data)
    manifest = Store(place).read_manifest()
    if not manifest["layers"]:
        if model.engine != "rules":
            raise SettingError(
                f"{place} is not an index yet; build it: workbench index {folder} --engine {model.engine}"
            )
        err.print(f"First the index {escape(str(place))}, by rules, not by a language model …", soft_wrap=True)
        wb.Index.build(data, wb.engine("rules"), place, layers=["passages"])
    elif data.passages and manifest["data"]["fingerprint"] != data.fingerprint:
        raise IndexFault(
            f"{place} was built from other texts than {folder} holds now; `workbench index {folder}` brings it up to "
            "date, and --out names another folder for the index of another corpus"
        )
    return place


def index(folder: Path, model: opt.Model, spec: str | None = None):
    """An index. Its encoder is made here if it is asked over a network, or if a SPEC says how it is to be had."""
    import workbench as wb

    return wb.Index.open(folder, encoder(spec, model, folder))


def index_and_engine(folder: Path, model: opt.Model, spec: str | None):
    """(index, engine) of verbs that ask over an index."""
    runner = engine(model, vectors=asks_for_vectors(folder, spec))
    return index(folder, model, spec), runner


def _named(folder: Path) -> dict[str, Any]:
    """The settings of the encoder that an index in the folder names."""
    from workbench.index.store import Store

    return Store(folder).read_manifest().get("encoder", {}).get("settings", {"spec": ""})


def asks_for_vectors(folder: Path, spec: str | None) -> bool:
    """Whether an endpoint is asked for vectors: by the SPEC, or by the index in the folder."""
    from workbench.encoding import asks_endpoint

    named = spec or _named(folder)["spec"]
    return asks_endpoint(named)


def encoder_lines(index) -> list[str]:
    """A line on the requests of an encoder behind an endpoint."""
    meter = getattr(index.encoder_in_use, "meter", None)
    return [f"Encoded with {escape(index.encoder_in_use.name)}: {escape(repr(meter))}"] if meter else []


def engine(model: opt.Model, spec: str | None = None, *, vectors: bool = False):
    """The engine that the options, or a SPEC with the same options, name; with --replay, the recording. One for
    `vectors` may hold answers of no model."""
    import workbench as wb

    spec, record = spec or model.engine, model.record
    if (export := exporting.get()) is not None:
        if record is not None:
            raise SettingError(
                f"--record {record} comes after the verb; give it before: batch export FOLDER --record {record} VERB …"
            )
        if spec.startswith("openai:"):
            return export.engine(spec)
    if model.replay:
        from workbench.llm.engine import split_spec
        from workbench.llm.record import Recording

        if record is not None:
            raise SettingError(
                f"--record {record} asks a model and --replay {model.replay} asks none; give only one of them"
            )
        if vectors and spec == "rules" and not Recording(model.replay, create=False).engines():
            return wb.engine("rules")
        seed = split_spec(spec)[1].get("seed", 0)
        return wb.engine(f"replay:{model.replay}", of=None if spec == "rules" else spec, seed=seed)
    if vectors and spec == "rules":
        return wb.engine("rules")
    if record is not None and spec == "rules":
        raise SettingError(
            f"--record {record}: rules always answer the same and are not recorded; name a model: --engine "
            "local:smollm2"
        )
    given = {"record": record, "budget": model.limits}
    return wb.engine(spec, **{name: value for name, value in given.items() if value})


def reader(spec: str | None, engine, index, options: opt.OfReader):
    """The reader of a SPEC with what options add to it; none without a SPEC."""
    import workbench as wb
    from workbench.settings import parse_value

    given = {name: value for name, value in vars(options).items() if value is not None}
    given |= {"retry": parse_value(given["retry"])} if "retry" in given else {}
    if spec is None and given:
        raise SettingError(f"--{next(iter(given))} needs a reader; name one, such as --reader direct")
    return wb.reader(spec, engine, index=index, **given) if spec else None
