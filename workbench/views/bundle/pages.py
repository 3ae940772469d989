"""The still parts of a bundle: results and conditions, as HTML that needs no program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any
from urllib.parse import urlencode

from workbench.analyses.cost_quality import AT, at_equal_budgets
from workbench.analyses.diagnose import Diagnosis
from workbench.display import html
from workbench.errors import SettingError
from workbench.evaluation.listing import between
from workbench.evaluation.run import Run
from workbench.text import clean, counted
from workbench.views.base import Markup, details, esc, fold, table, warned_part
from workbench.views.bundle.contents import JUDGED_BY, Contents, unfinished
from workbench.views.bundle.parts import plain, words
from workbench.views.bundle.store import bare
from workbench.views.reports import diagnosis_part
from workbench.views.run import between_part, counts_part, differences_part, facts_part, means_part

# The measures whose differences stand unfolded.
FIRST = (*JUDGED_BY, "recall@2", "ndcg@10", "coverage")


def title_of(contents: Contents) -> str:
    return " and ".join(contents.names)


def subtitle_of(contents: Contents) -> str:
    data = dict.fromkeys(run.config["data"]["name"] for run in contents.runs)
    made = dict.fromkeys(column.by for column in contents.columns)
    asked = f"{counted(len(contents.questions), 'question')} × {counted(len(contents.columns), 'method')}"
    return esc(f"{', '.join(data)} · {asked} · {'; '.join(made)}", 600)


def warnings(contents: Contents) -> str:
    """What the page begins with, above its title: the warnings of the runs."""
    several = len(contents.runs) > 1
    said = [f"{name}: {one}" if several else one for run, name in zip(contents.runs, contents.names)
            for one in run.warnings]  # fmt: skip
    return warned_part(said)


def results(contents: Contents) -> str:
    """Means, differences, equal budgets, outcomes side by side, causes, and the papers' tables."""
    parts = (_means, _differences, _budgets, _outcomes, _between, _causes, _papers)
    return plain("".join(part(contents) for part in parts))


def conditions(contents: Contents) -> str:
    """What the numbers were made with, per run."""
    parts = []
    for run, name in zip(contents.runs, contents.names):
        parts += [
            f"<h2>{esc(name)}</h2>",
            _scroll(facts_part(run)),
            "<h3>Methods</h3>",
            *(details(f"<b>{esc(method)}</b>", _method(one)) for method, one in run.config["methods"].items()),
            *([details("<b>reader</b>", _method(run.config["reading"]))] if run.config.get("reading") else []),
            "<h3>For how many questions each measure is defined</h3>",
            _scroll(counts_part(run)),
        ]
    return plain("".join(parts)) + _HELP


_HELP = """<h2>This page</h2>
<p>Made by <code>workbench bundle</code>. It runs without a network: a content policy keeps it from loading anything but
its own files. Keys: <kbd>↑</kbd> <kbd>↓</kbd> move between questions, <kbd>/</kbd> searches, <kbd>Esc</kbd> clears the
search. The address of a question with its methods (<code>#q=…&amp;method=…</code>) can be copied and sent along.</p>"""


def _method(config: Mapping[str, Any]) -> str:
    """Settings, layers with their content hashes, and prompts of a method or a reader."""
    names = ("label", "paper", "scale", "engine", "encoder", "settings")
    rows = [(name, words(config[name])) for name in names if config.get(name)]
    rows += [(f"layer {kind}", words(layer)) for kind, layer in (config.get("layers") or {}).items()]
    rows += [(f"prompt {step}", prompt) for step, prompt in (config.get("prompts") or {}).items()]
    return table(["", ""], rows)


def _scroll(part: str) -> str:
    return f"<div class='scroll'>{part}</div>"


def _note(words: str, strong: bool = False) -> str:
    return f"<p class='note{' strong' * strong}'>{esc(words, 600)}</p>"


# -- results -----------------------------------------------------------------------------------------------------------


def _named(contents: Contents) -> Iterator[tuple[Run, str]]:
    """The runs, each with its heading where there are several."""
    for run, name in zip(contents.runs, contents.names):
        yield run, f"<h3>{esc(name)}</h3>" if len(contents.runs) > 1 else ""


def _means(contents: Contents) -> str:
    parts = ["<h2>Means</h2>"]
    for run, heading in _named(contents):
        made = {column.method: column.by for column in contents.columns if column.run is run}
        parts += [heading, _scroll(means_part(run, made, seconds=False))]
        parts += [_note(missing, strong=True)] if (missing := unfinished(run)) else []
        if run.repeats > 1:
            parts.append(_note(f"Every question was asked up to {run.repeats} times: means are over all; a question "
                               "shows each time, chosen above its answer; lists, filters, causes and side by side "
                               "count the first.", strong=True))  # fmt: skip
    return "".join(parts)


def _differences(contents: Contents) -> str:
    """Each method against the first of its run."""
    parts = []
    for run, heading in _named(contents):
        frame = run.compare() if len(run.methods) > 1 else ()
        if not len(frame):
            continue
        first = frame["measure"].isin(FIRST)
        parts += [
            heading,
            f"<p class='quiet small'>against {esc(run.methods[0])}: paired differences over the questions of both, "
            "95 % bootstrap interval; p of the paired randomisation test, p_holm after Holm's correction</p>",
            _scroll(differences_part(frame[first])),
            fold("other measures", _scroll(differences_part(frame[~first])) if not first.all() else ""),
        ]
    return "<h2>Differences</h2>" + "".join(parts) if parts else ""


def _budgets(contents: Contents) -> str:
    """Quality at equal tokens, requests and dollars, where any were spent."""
    runs, parts = dict(zip(contents.names, contents.runs)), []
    for at in AT if len(contents.columns) > 1 else ():
        try:
            found = at_equal_budgets(runs, at)
        except SettingError as error:
            return f"<h2>Equal budgets</h2>{_note(str(error))}"
        if any(row["cost"] for row in found.rows):
            parts.append(details(f"equal {at}", _scroll(found.figure().element() + html(found)), open=not parts))
    return f"<h2>Equal budgets</h2>{''.join(parts)}" if parts else ""


def _outcomes(contents: Contents) -> str:
    """For each two columns, how many questions which of them has right; each number leads to the questions."""
    if len(contents.columns) < 2 or not contents.measures:
        return ""
    measure, rows = contents.measures[0], []
    for (a, first), (b, second) in list(combinations(enumerate(contents.columns), 2))[:30]:
        mine, other = contents.rows[a][0], contents.rows[b][0]
        common = [name for name in mine if name in other]
        right = [(_right(mine[name], measure), _right(other[name], measure)) for name in common]
        links = [
            (f"both:{a}:{b}", right.count((True, True))), (f"only:{a}:{b}", right.count((True, False))),
            (f"only:{b}:{a}", right.count((False, True))), (f"neither:{a}:{b}", right.count((False, False))),
        ]  # fmt: skip
        pair = [("method", first.name), ("method", second.name)]
        rows.append(
            (
                first.name,
                second.name,
                *(_link(count, [("questions", ""), ("show", code), *pair]) for code, count in links),
            )
        )
    note = f"<p class='quiet small'>right: {esc(measure)} is 1; each number leads to its questions</p>"
    headers = ["first", "second", "both right", "only the first", "only the second", "neither"]
    return f"<h2>Side by side</h2>{note}{_scroll(table(headers, rows))}"


def _right(row: Mapping[str, Any], measure: str) -> bool:
    return (row["scores"].get(measure) or 0) >= 1


def _link(count: int, query: Sequence[tuple[str, str]]) -> Markup:
    return Markup(f'<a href="#{esc(urlencode(query))}">{count:,}</a>')


def _between(contents: Contents) -> str:
    """The other runs against the first, and what was made otherwise."""
    parts = []
    for other, name in list(zip(contents.runs, contents.names))[1:]:
        parts.append(f"<h3>{esc(name)} against {esc(contents.names[0])}</h3>")
        try:
            parts.append(_scroll(between_part(between(contents.runs[0], other))))
        except SettingError as error:
            parts.append(_note(str(error)))
    return "<h2>Between the runs</h2>" + "".join(parts) if parts else ""


def _causes(contents: Contents) -> str:
    parts = ["<h2>Why answers are wrong</h2>"]
    for (_, heading), found in zip(_named(contents), contents.diagnoses):
        parts += [heading, _scroll(diagnosis_part(found)) if isinstance(found, Diagnosis) else _note(found)]
    return "".join(parts)


def _papers(contents: Contents) -> str:
    parts = [f"<section>{_scroll(html(found))}</section>" for found in contents.papers()]
    return "<h2>Papers' tables</h2>" + "".join(parts) if parts else ""


def runs_of(contents: Contents) -> Iterator[dict[str, Any]]:
    """What `bundle.json` says of each run."""
    for run, name in zip(contents.runs, contents.names):
        yield {"name": name, "data": run.config["data"], "questions": run.config["questions"], "methods":
               [clean(bare(one)) for one in run.methods], "engine": bare(run.config["engine"])}  # fmt: skip
