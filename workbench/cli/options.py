"""The options of the command line, each declared once; options that belong together are one record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cached_property, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

Engine = Annotated[
    str, typer.Option("--engine", "-e", help="rules, openai:MODEL[@URL], local:GGUF, replay:FILE or worked")
]
Record = Annotated[
    str | None,
    typer.Option("--record", help="keep the model's answers in this file, not in answers.sqlite; none is asked twice"),
]
Replay = Annotated[
    str | None, typer.Option("--replay", help="answer from this recording alone: no model, no network, the same bytes")
]
Method = Annotated[str, typer.Option("--method", "-m", help="a SPEC, such as hipporag2[profile=paper,damping=0.6]")]
Methods = Annotated[
    list[str],
    typer.Option("--method", "-m", help="a SPEC; give it again for another method (of evaluate also: oracle)"),
]
Reader = Annotated[
    str, typer.Option("--reader", "-r", help="a reader's SPEC, such as direct[k=5]; none of ask: passages alone")
]
Compress = Annotated[
    str | None, typer.Option(help="a compressor's SPEC for the reader's context: graph-walk[budget=4000]")
]
Route = Annotated[bool | None, typer.Option("--route", help="the reader's prompt by the kind of the question")]
Retry = Annotated[str | None, typer.Option(help="a prompt that is asked where the first one abstains, or none")]
_SOURCES = "a name (workbench datasets), a data folder, a folder of documents, or another program's index"
Data = Annotated[str, typer.Argument(help=_SOURCES, metavar="DATA")]
Read = Annotated[
    list[str] | None, typer.Option("--read", help="how DATA is read: size=200, overlap=20, encoding=cp1252")
]
Strict = Annotated[bool, typer.Option("--strict", help="stop at the first document that cannot be read")]
Offline = Annotated[bool, typer.Option("--offline", help="download nothing")]
Folder = Annotated[Path, typer.Argument(help="folder of an index", metavar="INDEX")]
FolderOrName = Annotated[
    Path,
    typer.Argument(help="folder of an index; a folder of documents, or meridian, is indexed first", metavar="INDEX"),
]
Traced = Annotated[bool, typer.Option("--trace", help="print the trace")]
K = Annotated[int, typer.Option("-k", help="passages")]
Budget = Annotated[int | None, typer.Option(help="cl100k tokens of context")]
MaxMoney = Annotated[float | None, typer.Option(help="stop before a call beyond so many US dollars")]
MaxTokens = Annotated[int | None, typer.Option(help="stop before a call beyond so many tokens, prompt and answer")]
MaxCalls = Annotated[int | None, typer.Option(help="stop before a call beyond this number")]
Questions = Annotated[Path, typer.Option("--questions", "-q", help="a questions.jsonl, or a folder with questions")]
Judge = Annotated[str | None, typer.Option(help="the engine that judges answers, for measures with a judge")]
_ENCODERS = "minilm (the default), a hub name or a folder, NAME[device=cuda], openai:MODEL[@URL]"
Encoder = Annotated[str | None, typer.Option(help=f"a SPEC: {_ENCODERS}")]
OwnEncoder = Annotated[
    str | None, typer.Option("--encoder", help="that of the index, on another device or at another address: a SPEC")
]
Layers = Annotated[
    str | None, typer.Option(help="comma-separated; by default passages,facts,synonyms, or typed of triples")
]
Extraction = Annotated[
    str | None, typer.Option(help="facts that the data offer, in place of the engine's: curated, of a gold graph")
]
BatchFolder = Annotated[Path, typer.Argument(help="folder of the batch", metavar="FOLDER")]
BaseUrl = Annotated[
    str | None, typer.Option("--url", help="of the endpoint; by default OPENAI_BASE_URL, or OpenAI's own")
]
Json = Annotated[bool, typer.Option("--json", help="print JSON")]

KeepGoing = Annotated[
    bool, typer.Option("--keep-going", help="make a layer also where most of its requests failed, without what failed")
]

Reading = Annotated[str | None, typer.Option("--reader", "-r", help="a reader's SPEC; none by default")]
Rankings = Annotated[
    list[Path] | None,
    typer.Option("--ranking", help="a TREC run file of another system, measured with the methods; repeatable"),
]
Qrels = Annotated[Path | None, typer.Option("--qrels", help="a TREC qrels file: its gold instead of the questions'")]
Limit = Annotated[int | None, typer.Option(help="ask only the first so many")]
Ranked = Annotated[int | None, typer.Option("-k", help="passages ranked; by default what the measures need")]
Workers = Annotated[int | None, typer.Option(help="questions asked side by side, by each process of a cluster")]
Cluster = Annotated[
    str | None, typer.Option(help="spread the work: local[2] is two processes here, tcp://HOST:8786 a Dask scheduler")
]
Repeats = Annotated[int, typer.Option(help="how often each question is asked, each time with another seed")]


@dataclass(frozen=True)
class Model:
    """The engine, where its answers are recorded, and its budget."""

    engine: Engine = "rules"
    record: Record = None
    replay: Replay = None
    max_money: MaxMoney = None
    max_tokens: MaxTokens = None
    max_calls: MaxCalls = None

    @cached_property
    def limits(self):
        """One budget for all engines of a command, or none."""
        from workbench.llm.meter import Budget

        given = {"max_money": self.max_money, "max_tokens": self.max_tokens, "max_calls": self.max_calls}
        return Budget(**given) if any(limit is not None for limit in given.values()) else None


@dataclass(frozen=True, kw_only=True)
class RunOptions(Model):
    """A model, and how many questions it is asked, how often, and by how many workers: `table`."""

    limit: Limit = None
    workers: Workers = None
    repeats: Repeats = 1
    cluster: Cluster = None

    @property
    def of_run(self) -> dict[str, Any]:
        """Those that `wb.evaluate`, `wb.grid` and `reproduce` take under the same names."""
        return {name: getattr(self, name) for name in _OF_RUN if hasattr(self, name)}


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions(RunOptions):
    """A run over an index: `evaluate` and `grid`."""

    folder: Folder
    questions: Questions
    k: Ranked = None
    budget: Budget = None
    encoder: OwnEncoder = None


_OF_RUN = ("limit", "workers", "repeats", "cluster", "k", "budget")


@dataclass(frozen=True)
class Retrieving:
    """How passages are retrieved for one question."""

    method: Method = "hipporag2"
    k: K = 10
    budget: Budget = None
    trace: Traced = False
    encoder: OwnEncoder = None


@dataclass(frozen=True)
class OfReader:
    """What options add to a reader's SPEC."""

    compress: Compress = None
    route: Route = None
    retry: Retry = None


def flattened(function: Callable, json: bool) -> Callable:
    """The function with one parameter for each field of its parameters that are groups of options, and one for
    --json."""
    hints = get_type_hints(function, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for name, given in signature(function).parameters.items():
        if name in groups:
            of_group = get_type_hints(groups[name], include_extras=True)
            required = sorted(fields(groups[name]), key=lambda field: field.default is not MISSING)
            parameters += [_keyword(field.name, field.default, of_group[field.name]) for field in required]
        else:
            parameters.append(given.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name]))
    if json:
        parameters.append(_keyword("as_json", False, Json))

    @wraps(function)
    def call(**given: Any) -> Any:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        return function(**given)

    call.__signature__ = Signature(parameters)
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _keyword(name: str, default: Any, annotation: Any) -> Parameter:
    default = Parameter.empty if default is MISSING else default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
