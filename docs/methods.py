"""The blocks of the pages in `docs/methods/` that are read off the code, or made by running it.

python docs/methods.py            write the facts and the settings of every method
python docs/methods.py --check    exit 1 where those of a page are stale
python docs/methods.py --run      run every method as well, for its costs and its trace; the index is kept in build/
python docs/methods.py --run bdtr tog   run these alone

A page is written by hand around its blocks, each between a comment `NAME, by docs/methods.py` and one `end of NAME`.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.evaluation.estimate import Cost, Range
    from workbench.llm.engine import Engine
    from workbench.methods import Method
    from workbench.trace import Event, Trace

ROOT = Path(__file__).parents[1]
PAGES, KEPT = ROOT / "docs" / "methods", ROOT / "build" / "methods"
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "site")]

from docstrings import parts  # noqa: E402

WIDTH = 118  # of prose
LINES, BEST = 44, 3  # of a trace: how many are shown; scores of an event
DATA, SAMPLE = "meridian", 8
QUESTION = "When was the engineer behind the Lanthorn Bridge born?"  # where no reply was written by hand
MODEL = "openai:gpt-4o-mini"  # never asked: a name for the prompts that are counted


# -- read off the code -------------------------------------------------------------------------------------------------


def facts(method: type[Method]) -> str:
    """Whose a method is, and what it needs."""
    default, *others = method.profiles or ("",)
    profiles = ", ".join([f"`{default}` (the default)", *(f"`{name}`" for name in others)]) if default else "–"
    inner = "those of its backbone" if getattr(method, "of", "backbone") == "backbone" else "those of `over`"
    rows = {
        "SPEC": f"`{method.name}`",
        "source": method.paper,
        "layers": _names(method.layers) or inner,
        "asks a model per question": _names(method.steps) or "nothing",
        "scores": f"`{method.scale}`" if hasattr(method, "scale") else inner,
        "profiles": profiles,
    }
    return _table(["", ""], rows.items())


def settings(method: type[Method]) -> str:
    """Every setting with its defaults and the values that it takes, then what each means."""
    from workbench.settings import accepted, defaults

    own = defaults(method)
    takes = {name: what.replace("a typing.Any", "methods or SPECs") for name, what in accepted(method.Settings).items()}
    if not own:
        return "None.\n"
    profiles = method.profiles or {"": {}}
    heads = ["setting", *(f"`{name}`" if name else "default" for name in profiles), "takes"]
    rows = [[f"`{name}`", *_values(name, own, profiles.values()), takes[name]] for name in own if name != "profile"]
    note = ["An empty cell: as in the first profile.\n"] * (len(profiles) > 1)
    return "\n".join([_table(heads, rows), *note, *_meanings(method.Settings)])


def _values(name: str, own: Mapping[str, Any], profiles: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A setting in each profile; in those after the first only where it differs."""
    first, *others = (given.get(name, own[name]) for given in profiles)
    yield _value(first)
    yield from ("" if other == first else _value(other) for other in others)


def _meanings(cls: type) -> Iterator[str]:
    """What the docstrings of a settings class and of those below it say, as lists and paragraphs."""
    for one in reversed(cls.__mro__):
        doc = one.__dict__.get("__doc__") or ""
        if one is not object and not doc.startswith(f"{one.__name__}("):  # which a dataclass writes for itself
            for kind, held in parts(inspect.cleandoc(doc).splitlines()):
                if kind == "rows":
                    yield "\n".join(_wrapped(f"* {_marked(name)}: {meaning}", "  ") for name, meaning in held) + "\n"
                else:
                    yield _wrapped(" ".join(line.strip() for line in held)) + "\n"


def _marked(names: str) -> str:
    """The names of a row as code; a star after a name stays one."""
    return re.sub(r"[A-Za-z]\w*", lambda name: f"`{name[0]}`", names).replace("*", "\\*")


# -- made by running it ------------------------------------------------------------------------------------------------


def costs(method: Method, forecast: Mapping[str, list[Cost]]) -> str:
    """What a model would be asked: per passage for the layers, and per question, by the estimates of the workbench."""
    import workbench as wb
    from workbench.evaluation.estimate import Unasked
    from workbench.index.building import closure

    index, questions = method.index, wb.load(DATA).questions
    passages = len(index.passages.passages)
    rows = [
        (f"index, layer `{kind}`, per passage", *_cost(cost, passages))
        for kind in closure(set(method.layers))
        for cost in forecast.get(kind, ())
    ]
    asked = wb.method(method.label, index, Unasked(MODEL))
    found = wb.estimate_run(questions, [asked], sample=SAMPLE)
    rows += [("per question", *_cost(cost, len(questions))) for cost in found.costs if cost.step and cost.calls.value]
    if not any(when == "per question" for when, *_ in rows):
        rows.append(("per question", "–", "0", "0", "0"))
    return _table(["when", "Step", "calls", "prompt tokens", "answer tokens"], rows)


def trace(method: Method, question: str, k: int = 5) -> str:
    """A question, who answered the Steps, the events of its trace with their best scores, and the ranking."""
    found = method.retrieve(question, k=k)
    by = "replies written by hand" if method.engine.name.startswith("worked") else "rules"
    asked = f" (Steps by {by})" if method.steps else ""
    ranking = [f"{place}. {one.item.title} ({_number(one.score)})" for place, one in enumerate(found.passages, 1)]
    said = f'`{method.label}`, asked "{question}"{asked}:'
    fallback = [_wrapped(f"Fallback: {found.fallback}.") + "\n"] if found.fallback else []
    events = "\n".join(_shown(found.trace))
    return "\n".join([_wrapped(said) + "\n", f"```text\n{events}\n```\n", "Its passages:\n", *ranking, "", *fallback])


def _shown(events: Trace) -> Iterator[str]:
    """The events of a trace, without what a method within a method did, which is on a page of its own."""
    from workbench.methods import METHODS

    depth: dict[int | None, int] = {None: -1}
    inner: set[int | None] = set()
    lines: list[str] = []
    for event in events:
        depth[event.id] = depth[event.parent] + 1
        if event.parent in inner:
            inner.add(event.id)
            continue
        if event.parent is not None and event.step.partition("[")[0] in METHODS:
            inner.add(event.id)
        lines += _event(event, "  " * depth[event.id])
    yield from lines[:LINES]
    if len(lines) > LINES:
        yield f"… {len(lines) - LINES} more lines"


def _event(event: Event, indent: str) -> Iterator[str]:
    from workbench.views.trace import headline

    yield textwrap.shorten(headline(event), WIDTH - len(indent), placeholder=" …").join((indent, ""))
    if event.scores and event.parent is not None:
        best = ", ".join(f"{name} {_number(score)}" for name, score in event.scores[:BEST])
        yield indent + "  · " + textwrap.shorten(best, WIDTH - len(indent) - 4, placeholder=" …")


def _cost(cost: Cost, share: int) -> list[str]:
    amounts = (cost.calls, cost.prompt_tokens, cost.completion_tokens)
    return [f"`{cost.step}`", *(_range(amount, share, whole) for amount, whole in zip(amounts, (False, True, True)))]


def _range(amount: Range | None, share: int, whole: bool) -> str:
    if amount is None:
        return "unknown"
    low, value, high = (None if one is None else one / share for one in (amount.low, amount.value, amount.high))
    say = (lambda number: f"{number:,.0f}") if whole else _number
    if low is None or high is None or say(low) == say(high):
        return say(value)
    return f"{say(value)} ({say(low)} to {say(high)})"


def _number(value: float) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".") if abs(value) >= 0.001 or not value else f"{value:.1e}"


# -- pages -------------------------------------------------------------------------------------------------------------


def written(page: str, blocks: Mapping[str, str]) -> str:
    """The page with these blocks between their marks."""
    for name, block in blocks.items():
        begin, end = f"<!-- {name}, by docs/methods.py -->\n", f"<!-- end of {name} -->"
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise SystemExit(f"the page has no lines {begin!r} and {end!r}")
        page = f"{before}{begin}\n{block.rstrip()}\n\n{end}{after}"
    return page


def fixed(method: type[Method]) -> dict[str, str]:
    """The blocks that follow from the code alone."""
    return {"facts": facts(method), "settings": settings(method)}


def ran(names: Collection[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """For each of these methods the blocks that take a run of it."""
    import workbench as wb
    from workbench.evaluation.estimate import forecast_layers

    rules, by_hand = wb.engine("rules"), wb.engine("worked")
    index = wb.Index.build(DATA, rules, KEPT / DATA, extraction="curated")
    for name in names:
        wb.method(name, index, rules)  # adds the layers that it lacks
    index = wb.Index.open(index.folder)
    forecast = forecast_layers(index)
    for name in names:
        spec, question, engine = _example(name, rules, by_hand)
        blocks = {"costs": costs(wb.method(name, index, rules), forecast)}
        yield name, blocks | {"trace": trace(wb.method(spec, index, engine), question)}


def _example(name: str, rules: Engine, by_hand: Any) -> tuple[str, str, Engine]:
    """What is asked: a configuration with replies written by hand, the shortest first, else the method by rules."""
    asks = [(ask.method, one.question) for one in by_hand.examples for ask in one.asks if not getattr(ask, "fails", "")]
    fitting = [ask for ask in asks if ask[0].partition("[")[0] == name]
    return (*min(fitting, key=lambda ask: ("iterations" not in ask[0], len(ask[0]))), by_hand) if fitting else (
        name, QUESTION, rules
    )  # fmt: skip


def stale() -> list[str]:
    """The pages whose facts or settings are not those of the code, and methods without a page."""
    from workbench.methods import METHODS

    pages = {name: PAGES / f"{name}.md" for name in METHODS}
    return [
        page.name
        for name, page in pages.items()
        if not page.exists() or _read(page) != written(_read(page), fixed(METHODS[name]))
    ]


def _read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = ([str(cell).replace("|", "\\|") for cell in line] for line in [heads, ["---"] * len(heads), *rows])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _value(value: Any) -> str:
    """A default as a SPEC writes it."""
    if value is None or isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`" if value != "" else "(empty)"


def _wrapped(prose: str, indent: str = "") -> str:
    prose = re.sub(r"docs/(\w+)\.md(#[\w-]+)?", r"[\1](../\1.md\2)", prose)
    return textwrap.fill(prose, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def main() -> None:
    from workbench.methods import METHODS

    if "--check" in sys.argv:
        if found := stale():
            raise SystemExit(f"stale: {', '.join(found)}; run python docs/methods.py")
        return
    for name, method in METHODS.items():
        page = PAGES / f"{name}.md"
        page.write_text(written(_read(page), fixed(method)), encoding="utf-8")
    named = [name for name in METHODS if name in sys.argv] or list(METHODS)
    for name, blocks in ran(named) if "--run" in sys.argv else ():
        page = PAGES / f"{name}.md"
        page.write_text(written(_read(page), blocks), encoding="utf-8")


if __name__ == "__main__":
    main()
