"""The identity of a run's rows: for each part (method, reader, judge, measure) the code that it may run, its Steps, the
layers that it reads, and its settings. Each row stores the keys of all of these, so that a row made differently is
detected and computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from workbench import measures, source
from workbench.index import Index
from workbench.index.journal import is_rules
from workbench.index.store import key_of
from workbench.llm import parse
from workbench.llm.engine import Engine, rules_stand_in
from workbench.llm.step import Step
from workbench.llm.template import Prompt
from workbench.llm.wording import together
from workbench.methods import Method
from workbench.reading.base import Reader
from workbench.records import Question
from workbench.rules import rule_for
from workbench.steps import judge as judge_step


class Identity(NamedTuple):
    """`description` is the description of a part in a run, as JSON; `units` is its code, name → hash; `key` identifies
    everything that determines its results."""

    description: dict[str, Any]
    units: dict[str, str]
    key: str


def of_method(method: Method, asking: Mapping[str, str] | None = None) -> Identity:
    """The identity of a method. Of the index, only the layers that it uses, and those below them, count. `asking` is
    surrounding code that also determines a row."""
    declared = method.steps if type(method).steps else None  # its settings may disable all Steps of its class
    units, prompts, sampled = _code(method, declared, method.engines, method.index, method.reads)
    description = {
        "label": method.label,
        "paper": method.paper,
        "scale": method.scale,
        "settings": {name: getattr(value, "label", value) for name, value in asdict(method.settings).items()},
        "engine": ", ".join(sorted({engine.name for engine in method.engines})) if prompts else None,
        "encoder": method.index.manifest["encoder"]["name"],
        "layers": _layers(method.index, method.reads),
        "prompts": prompts,
        **sampled,
        **({"weights": method.weights_hash} if method.weights_hash else {}),
        **_limits(method),
    }
    return _identity(description, dict(sorted({**(asking or {}), **units}.items())))


def of_reader(reader: Reader | None) -> Identity | None:
    if reader is None:
        return None
    reads = getattr(reader, "reads", ())
    index = reader.index if reads else None
    units, prompts, _ = _code(reader, reader.steps or None, [reader.engine], index, reads)
    layers = _layers(index, reads) if reads else {}
    description = {"label": reader.label, "engine": reader.engine.name, "layers": layers, "prompts": prompts}
    return _identity(description | _limits(reader), units)


def _limits(part: Any) -> dict[str, dict[str, int]]:
    """What the engine's window leaves of a part's own limits, setting → tokens; nothing where these are smaller. A
    context that one row reads, or not, is cut to the window as that row says (`RunState.fits`)."""
    limits = getattr(part, "limits", {})
    return {"window": dict(limits)} if limits else {}


def of_judge(judge: Engine | None, steps: Iterable[str] = ()) -> Identity | None:
    """`steps`: those that it is asked besides `judge`."""
    if judge is None:
        return None
    units, prompts, sampled = _code(None, (judge_step.STEP.name, *steps), [judge])
    return _identity({"engine": judge.name, "prompts": prompts, **sampled}, units)


def of_measure(name: str, measure: Callable, graph: Index | None) -> Identity:
    """The identity of a measure; measures of nodes also depend on the graph."""
    base = name.partition("@")[0]
    at_k = measures.RANKING | measures.JOINT
    units = source.depends(at_k.get(base, measure) if name != base else measure).units
    layers = _layers(graph, ("typed",)) if graph is not None and name in measures.NODES else {}
    return _identity({"name": name, "layers": layers}, units)


NAMED_ONLY = ("paper", "prompts", "temperatures", "layers")  # what decides of them is among the units, or in their hash


def _identity(description: dict[str, Any], units: dict[str, str]) -> Identity:
    """A layer counts by its content, whoever made it; a prompt by its wording, as one of the units, if a model is
    asked."""
    decides = {name: value for name, value in description.items() if name not in NAMED_ONLY}
    layers = {kind: layer["hash"] for kind, layer in description.get("layers", {}).items()}
    return Identity(description, units, key_of(description=decides, layers=layers, units=units))


def row_key(method: str, reader: str | None, question: Question) -> str:
    """Identifies everything that determines a row, except k, budget and trace, which are the same in all rows of a run.
    `method` and `reader` are keys."""
    return key_of(method=method, reader=reader, question=question.question)


def scores_key(measured: Mapping[str, str], question: Question) -> str:
    """Identifies what determines the scores of a row; `measured` is measure → key."""
    return key_of(measures=measured, question=asdict(question))


def judged_key(judge: str, question: Question) -> str:
    """Identifies what determines a verdict on an answer; `judge` is a key."""
    return key_of(judge=judge, question=question.question, answers=question.answers)


def _code(
    part: Any, declared: Iterable[str] | None, engines: Iterable[Engine], index: Index | None = None,
    layers: Iterable[str] = (),
) -> tuple[dict[str, str], dict[str, str], dict[str, dict[str, float]]]:  # fmt: skip
    """(units of the part, of the layers that it reads, of an encoder of the user's own, and of its Steps; Step → its
    version and the wording of its prompt; `temperatures`: Step → that of a Step above 0, nothing without one)."""
    roots = [] if part is None else [part]
    if index is not None:
        roots += [type(index), *(type(index.layer(kind)) for kind in _used(index, layers))]
        roots += [] if "settings" in index.manifest["encoder"] else [type(index.encoder)]
    code = source.depends(*roots)
    steps = _steps(part, declared, [value for value in code.apart if isinstance(value, Step)])
    engines = list(engines)
    answering = sorted({by_rules for engine in engines for by_rules in _answering(engine)})
    prompts = {step.name: together(step, engines) for step in steps}
    used = [root for step in steps for by_rules in answering for root in _roots_of(step, by_rules)]
    units = code.units | source.depends(*used).units
    for step in steps:
        units |= {f"rule of {step.name}": f"v{step.version}"} if True in answering else {}
        terms = f"{prompts[step.name]} {step.max_tokens} {step.temperature}"
        units |= {f"prompt of {step.name}": terms} if False in answering or " file " in terms else {}
    above = {step.name: step.temperature for step in steps if step.temperature}
    return dict(sorted(units.items())), prompts, {"temperatures": above} if above else {}


def _steps(part: Any, declared: Iterable[str] | None, named: Sequence[Step]) -> list[Step]:
    """The Steps that a part declares, with any of its own that its code names. If it says nothing of its Steps (None),
    all that its code names, as far as it is the user's."""
    from workbench.steps import catalogue

    steps_here, declared = catalogue(), None if declared is None else list(declared)
    if declared == []:
        return []
    steps = {name: steps_here[name] for name in declared or () if name in steps_here}
    steps |= {step.name: step for step in named if declared is None or step is not steps_here.get(step.name)}
    steps |= {step.name: step for step in getattr(part, "reworded", ()) if step.name in steps}
    return [steps[name] for name in sorted(steps)]


def _roots_of(step: Step, by_rules: bool) -> list[Any]:
    """What determines a Step's answers: its rule body, or the code of its prompt and the parser of the reply."""
    if by_rules:
        return [rule_for(step), step.output]
    code = [] if isinstance(step.prompt, Prompt) else [step.prompt]  # a string is a single term
    return [*code, step.output, step.read, parse.parse]


def _answering(engine: Engine) -> tuple[bool, ...]:
    """Whether rules answer, or prompts are read; either where rules answer what has no reply written."""
    return (False, True) if rules_stand_in(engine.name) else (is_rules(engine),)


def _used(index: Index, layers: Iterable[str]) -> list[str]:
    """The layers that exist, with those below them."""
    from workbench.index.building import closure

    standing = index.manifest["layers"]
    return closure({kind for kind in layers if kind in standing}, standing)


def _layers(index: Index, layers: Iterable[str]) -> dict[str, dict[str, Any]]:
    """For each layer used, its inputs, its size in passages, its maker, and the hash of its files."""
    named = index.manifest["layers"]
    names = ("key", "settings", "passages", "made_by", "failures", "cut", "repaired")
    return {
        kind: {name: named[kind][name] for name in names if name in named[kind]} | {"hash": index.layer(kind).hash}
        for kind in _used(index, layers)
    }
