"""The options of the command line, read off the functions of verbs: a parameter before `/` is an argument, any other an
option of its own name. Its annotation has its help, `Annotated[Path, "help"]`, and the metavar of an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from rich.markup import escape

_SHORT = {"engine": "-e", "method": "-m", "reader": "-r", "questions": "-q", "out": "-o"}

Data = Annotated[str, "a name (workbench datasets), a data or documents folder, or another program's index", "DATA"]
Folder = Annotated[Path, "folder of an index", "INDEX"]
Batch = Annotated[Path, "folder of the batch", "FOLDER"]
Json = Annotated[bool, "print JSON"]
Engine = Annotated[str, "rules, openai:MODEL[@URL], local:GGUF, replay:FILE or worked"]
Methods = Annotated[list[str], "a SPEC; give it again for another method (of evaluate also: oracle)"]
Reader = Annotated[str | None, "a reader's SPEC; none by default"]
Read = Annotated[list[str] | None, "how DATA is read: size=200, overlap=20, encoding=cp1252"]
Strict = Annotated[bool, "stop at the first document that cannot be read"]
Offline = Annotated[bool, "download nothing"]
Questions = Annotated[Path, "a questions.jsonl, or a folder with questions"]
Judge = Annotated[str | None, "the engine that judges answers, for measures with a judge"]
Encoder = Annotated[
    str | None, "a SPEC: minilm (the default), a hub name or folder, NAME[device=cuda], openai:MODEL[@URL]"
]
OwnEncoder = Annotated[str | None, "that of the index, on another device or at another address: a SPEC"]
Layers = Annotated[str | None, "comma-separated; by default passages,facts,synonyms, or typed of triples"]
Extraction = Annotated[str | None, "facts that the data offer, in place of the engine's: curated, of a gold graph"]
KeepGoing = Annotated[bool, "make a layer also where most of its requests failed, without what failed"]
Budget = Annotated[int | None, "cl100k tokens of context"]
Repeats = Annotated[int, "how often each question is asked, each time with another seed"]
Cluster = Annotated[str | None, "spread the work: local[2] is two processes, tcp://HOST:8786 a Dask scheduler"]


@dataclass(frozen=True)
class Model:
    """The engine, where its answers are recorded, and its budget."""

    engine: Engine = "rules"
    record: Annotated[str | None, "keep answers in this file, not in answers.sqlite; none is asked twice"] = None
    replay: Annotated[str | None, "answer from this recording alone: no model, no network, the same bytes"] = None
    max_money: Annotated[float | None, "stop before a call beyond so many US dollars"] = None
    max_tokens: Annotated[int | None, "stop before a call beyond so many tokens, prompt and answer"] = None
    max_calls: Annotated[int | None, "stop before a call beyond this number"] = None

    @cached_property
    def limits(self):
        """One budget for all engines of a command, or none."""
        from workbench.llm.meter import Budget

        given = {"max_money": self.max_money, "max_tokens": self.max_tokens, "max_calls": self.max_calls}
        return Budget(**given) if any(limit is not None for limit in given.values()) else None


@dataclass(frozen=True)
class RunOptions:
    """How many questions are asked, how often, and by how many workers, as `wb.evaluate` takes them."""

    limit: Annotated[int | None, "ask only the first so many"] = None
    workers: Annotated[int | None, "questions asked side by side, by each process of a cluster"] = None
    repeats: Repeats = 1
    cluster: Cluster = None


@dataclass(frozen=True)
class EvaluationOptions(RunOptions):
    """The same, and how much is retrieved."""

    k: Annotated[int | None, "passages ranked; by default what the measures need"] = None
    budget: Budget = None


@dataclass(frozen=True)
class OfReader:
    """What options add to a reader's SPEC."""

    compress: Annotated[str | None, "a compressor's SPEC for the reader's context: graph-walk[budget=4000]"] = None
    route: Annotated[bool | None, "the reader's prompt by the kind of the question"] = None
    retry: Annotated[str | None, "a prompt that is asked where the first one abstains, or none"] = None


def flattened(function: Callable, json: bool) -> Callable:
    """The function as typer takes it: with one parameter for each field of its records of options, and --json."""
    groups = {name: hint for name, hint in get_type_hints(function).items() if is_dataclass(hint)}
    parameters = [_for_typer(parameter) for parameter in _parameters(function, groups)]
    if json:
        parameters.append(_for_typer(_option("json", False, Json)))
    parameters.sort(key=lambda parameter: parameter.default is not Parameter.empty)

    @wraps(function)
    def call(**given: Any) -> Any:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        positional = [given.pop(name) for name in arguments]
        return function(*positional, **given)

    arguments = [name for name, parameter in signature(function).parameters.items() if _is_argument(parameter)]
    call.__signature__ = Signature(parameters)
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _parameters(function: Callable, groups: dict[str, Any]) -> Iterator[Parameter]:
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in signature(function).parameters.items():
        if name not in groups:
            yield parameter.replace(annotation=hints[name])
            continue
        of_group = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            yield _option(field.name, field.default, of_group[field.name])


def _option(name: str, default: Any, annotation: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _is_argument(parameter: Parameter) -> bool:
    return parameter.kind is Parameter.POSITIONAL_ONLY


def _for_typer(parameter: Parameter) -> Parameter:
    """A parameter whose help, metavar and flags typer knows; what help says is no markup."""
    kind, help, *metavar = get_args(parameter.annotation)
    name = parameter.name.rstrip("_").replace("_", "-")
    flags = [f"--{name}" if len(name) > 1 else f"-{name}", *([_SHORT[name]] if name in _SHORT else [])]
    is_argument = _is_argument(parameter)
    info = (
        typer.Argument(help=escape(help), metavar=metavar[0])
        if is_argument
        else typer.Option(*flags, help=escape(help))
    )
    return parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=Annotated[kind, info])
