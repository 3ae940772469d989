"""The static parts of a bundle: results and conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from workbench.analyses.cost_quality import AT, at_equal_budgets
from workbench.analyses.diagnose import Diagnosis
from workbench.errors import SettingError
from workbench.evaluation.listing import between
from workbench.evaluation.run import Run
from workbench.text import clean, counted
from workbench.views.bundle.contents import JUDGED_BY, Contents, unfinished
from workbench.views.bundle.store import bare
from workbench.views.parts import Part, details, fold, group, heading, line, link, strong, table, view, warned, words
from workbench.views.reports import diagnosis_part
from workbench.views.run import between_part, counts_part, differences_part, facts_part, means_part

# The measures whose differences stand unfolded.
FIRST = (*JUDGED_BY, "recall@2", "ndcg@10", "coverage")


def title_of(contents: Contents) -> str:
    return " and ".join(contents.names)


def subtitle_of(contents: Contents) -> Part:
    data = dict.fromkeys(run.config["data"]["name"] for run in contents.runs)
    made = dict.fromkeys(column.by for column in contents.columns)
    size = f"{counted(len(contents.questions), 'question')} × {counted(len(contents.columns), 'method')}"
    return words(f"{', '.join(data)} · {size} · {'; '.join(made)}", limit=600)


def warnings(contents: Contents) -> Part | None:
    """The warnings of the runs, which stand above the title of the page."""
    several = len(contents.runs) > 1
    return warned(f"{name}: {warning}" if several else warning for run, name in zip(contents.runs, contents.names)
                  for warning in run.warnings)  # fmt: skip


def results(contents: Contents) -> Part | None:
    """Means, differences, equal budgets, outcomes side by side, causes, and the papers' tables."""
    parts = (_means, _differences, _budgets, _outcomes, _between, _causes, _papers)
    return group(*(part(contents) for part in parts))


def conditions(contents: Contents) -> Part | None:
    """What the numbers were made with, per run."""
    parts: list[Part | None] = []
    for run, name in zip(contents.runs, contents.names):
        parts += [
            heading(name),
            _scroll(facts_part(run)),
            heading("Methods", level=3),
            *(details(strong(method), _method(config)) for method, config in run.config["methods"].items()),
            fold(strong("reader"), _method(run.config.get("reading") or {})),
            heading("For how many questions each measure is defined", level=3),
            _scroll(counts_part(run)),
        ]
    return group(*parts)


def _method(config: Mapping[str, Any]) -> Part | None:
    """Settings, layers with their content hashes, and prompts of a method or a reader."""
    names = ("label", "paper", "scale", "engine", "encoder", "settings")
    rows = [(name, _spelt(config[name])) for name in names if config.get(name)]
    rows += [(f"layer {kind}", _spelt(layer)) for kind, layer in (config.get("layers") or {}).items()]
    rows += [(f"prompt {step}", prompt) for step, prompt in (config.get("prompts") or {}).items()]
    return table(["", ""], rows)


def _spelt(value: Any) -> str:
    """A value of a configuration on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_spelt(member)}" for name, member in value.items() if member not in ({}, [], ()))
    if isinstance(value, list | tuple):
        return ", ".join(map(_spelt, value))
    return clean(value, 600)


def _scroll(part: Part | None) -> Part | None:
    return group(part, look="scroll")


def _note(note: str, look: str = "note") -> Part | None:
    return line(note, look=look, limit=600)


# -- results -----------------------------------------------------------------------------------------------------------


def _named(contents: Contents) -> Iterator[tuple[Run, Part | None]]:
    """The runs, each with its heading where there are several."""
    for run, name in zip(contents.runs, contents.names):
        yield run, heading(name, level=3) if len(contents.runs) > 1 else None


def _titled(title: str, *parts: Part | None) -> Part | None:
    """Parts under a title; None without parts."""
    return group(heading(title), *parts) if any(part is not None for part in parts) else None


def _means(contents: Contents) -> Part | None:
    parts: list[Part | None] = []
    for run, name in _named(contents):
        made = {column.method: column.by for column in contents.columns if column.run is run}
        parts += [name, _scroll(means_part(run, made, seconds=False)), _note(unfinished(run), "note strong")]
        if run.repeats > 1:
            parts.append(_note(f"Every question was asked up to {run.repeats} times: means are over all; a question "
                               "shows each time, chosen above its answer; lists, filters, causes and side by side "
                               "count the first.", "note strong"))  # fmt: skip
    return _titled("Means", *parts)


def _differences(contents: Contents) -> Part | None:
    """Each method against the first of its run."""
    parts: list[Part | None] = []
    for run, name in _named(contents):
        if len(run.methods) < 2 or not len(frame := run.compare()):
            continue
        first = frame["measure"].isin(FIRST)
        parts += [
            name,
            _note(f"against {clean(run.methods[0])}: paired differences over the questions of both, 95 % bootstrap "
                  "interval; p of the paired randomisation test, p_holm after Holm's correction", "quiet small"),
            _scroll(differences_part(frame[first])),
            fold("other measures", _scroll(differences_part(frame[~first]))),
        ]  # fmt: skip
    return _titled("Differences", *parts)


def _budgets(contents: Contents) -> Part | None:
    """Quality at equal tokens, requests and dollars, where any were spent."""
    runs, parts = dict(zip(contents.names, contents.runs)), []
    for at in AT if len(contents.columns) > 1 else ():
        try:
            budgets = at_equal_budgets(runs, at)
        except SettingError as error:
            return _titled("Equal budgets", _note(str(error)))
        if any(row["cost"] for row in budgets.rows):
            parts.append(details(f"equal {at}", _scroll(group(budgets.figure().part(), view(budgets))), open=not parts))
    return _titled("Equal budgets", *parts)


def _outcomes(contents: Contents) -> Part | None:
    """For each two columns, how many questions both, one or neither has right; each number links to its questions."""
    if len(contents.columns) < 2 or not contents.measures:
        return None
    measure, rows = contents.measures[0], []
    for (a, first), (b, second) in list(combinations(enumerate(contents.columns), 2))[:30]:
        mine, other = contents.rows[a][0], contents.rows[b][0]
        common = [name for name in mine if name in other]
        right = [(_right(mine[name], measure), _right(other[name], measure)) for name in common]
        counts = [
            (f"both:{a}:{b}", right.count((True, True))), (f"only:{a}:{b}", right.count((True, False))),
            (f"only:{b}:{a}", right.count((False, True))), (f"neither:{a}:{b}", right.count((False, False))),
        ]  # fmt: skip
        pair = [("method", first.name), ("method", second.name)]
        links = (link([("questions", ""), ("show", code), *pair], count) for code, count in counts)
        rows.append((first.name, second.name, *links))
    headers = ["first", "second", "both right", "only the first", "only the second", "neither"]
    note = _note(f"right: {measure} is 1; each number leads to its questions", "quiet small")
    return _titled("Side by side", note, _scroll(table(headers, rows)))


def _right(row: Mapping[str, Any], measure: str) -> bool:
    return (row["scores"].get(measure) or 0) >= 1


def _between(contents: Contents) -> Part | None:
    """Each other run against the first, with the conditions that differ."""
    parts: list[Part | None] = []
    for other, name in list(zip(contents.runs, contents.names))[1:]:
        parts.append(heading(f"{name} against {contents.names[0]}", level=3))
        try:
            parts.append(_scroll(between_part(between(contents.runs[0], other))))
        except SettingError as error:
            parts.append(_note(str(error)))
    return _titled("Between the runs", *parts)


def _causes(contents: Contents) -> Part | None:
    parts: list[Part | None] = []
    for (_, name), diagnosis in zip(_named(contents), contents.diagnoses):
        parts += [name, _scroll(diagnosis_part(diagnosis)) if isinstance(diagnosis, Diagnosis) else _note(diagnosis)]
    return _titled("Why answers are wrong", *parts)


def _papers(contents: Contents) -> Part | None:
    return _titled("Papers' tables", *(_scroll(view(paper)) for paper in contents.papers()))


def runs_of(contents: Contents) -> Iterator[dict[str, Any]]:
    """The entry of each run in `bundle.json`."""
    for run, name in zip(contents.runs, contents.names):
        yield {"name": name, "data": run.config["data"], "questions": run.config["questions"], "methods":
               [clean(bare(method)) for method in run.methods], "engine": bare(run.config["engine"])}  # fmt: skip
