"""The still parts of a bundle: results and conditions, as HTML that needs no program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from workbench.analyses.diagnose import Diagnosis
from workbench.display import html
from workbench.errors import SettingError
from workbench.evaluation.listing import between
from workbench.text import clean, counted, short
from workbench.views.base import Markup, details, esc, number, table, warned_part
from workbench.views.bundle.contents import JUDGED_BY, Contents, unfinished
from workbench.views.bundle.parts import plain, words
from workbench.views.bundle.store import bare
from workbench.views.palette import BLUE, GREY, ORANGE
from workbench.views.reports import frame_part
from workbench.views.run import notes_of, parts_of

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
    return warned_part(map(bare, said))


def results(contents: Contents) -> str:
    """Means, differences, outcomes side by side, causes, and the papers' tables."""
    return plain("".join((
        _means(contents), _differences(contents), _outcomes(contents), _between(contents), _causes(contents),
        _papers(contents),
    )))  # fmt: skip


def conditions(contents: Contents) -> str:
    """What the numbers were made with, per run."""
    parts = []
    for run, name in zip(contents.runs, contents.names):
        config = run.config
        facts = {
            "data": f"{config['data']['name']}, fingerprint {config['data']['fingerprint']}",
            "questions": f"{config['questions']['n']:,}, hash {config['questions']['hash']}",
            "engine": config["engine"], "reader": config["reader"], "judge": run.judge,
            "passages ranked (k)": config["k"], "budget": config["budget"], "level of trace": config["trace"],
            "versions": words(config["versions"]), "code": config.get("package"),
        }  # fmt: skip
        counts = run.counts()
        parts += [
            f"<h2>{esc(name)}</h2>",
            _scroll(table(["", ""], [(what, bare(words(one))) for what, one in facts.items() if one is not None])),
            "<h3>Methods</h3>",
            *(details(f"<b>{esc(bare(method))}</b>", _method(one)) for method, one in config["methods"].items()),
            *([details("<b>reader</b>", _method(config["reading"]))] if config.get("reading") else []),
            "<h3>For how many questions each measure is defined</h3>",
            _scroll(table(["method", *counts.columns], [(bare(row[0]), *row[1:]) for row in counts.itertuples()])),
        ]  # fmt: skip
    return plain("".join(parts)) + _HELP


_HELP = """<h2>This page</h2>
<p>Made by <code>workbench bundle</code>. It runs without a network: a content policy keeps it from loading anything but
its own files. Keys: <kbd>↑</kbd> <kbd>↓</kbd> move between questions, <kbd>/</kbd> searches, <kbd>Esc</kbd> clears the
search. The address of a question with its methods (<code>#q=…&amp;method=…</code>) can be copied and sent along.</p>"""


def _method(config: Mapping[str, Any]) -> str:
    """Settings, layers with their content hashes, and prompts of a method or a reader."""
    plain_facts = {name: config[name] for name in ("label", "paper", "scale", "engine", "encoder") if config.get(name)}
    rows = [(name, bare(words(value))) for name, value in plain_facts.items()]
    rows += [("settings", bare(words(config["settings"])))] if config.get("settings") else []
    rows += [(f"layer {kind}", bare(words(layer))) for kind, layer in (config.get("layers") or {}).items()]
    rows += [(f"prompt {step}", prompt) for step, prompt in (config.get("prompts") or {}).items()]
    return table(["", ""], rows)


def _scroll(part: str) -> str:
    return f"<div class='scroll'>{part}</div>"


def _note(words: str, strong: bool = False) -> str:
    return f"<p class='note{' strong' * strong}'>{esc(words, 600)}</p>"


# -- results -----------------------------------------------------------------------------------------------------------


def _means(contents: Contents) -> str:
    parts, notes = ["<h2>Means</h2>"], []
    for run, name in zip(contents.runs, contents.names):
        mine = [column for column in contents.columns if column.run is run]
        parts += [f"<h3>{esc(name)}</h3>"] if len(contents.runs) > 1 else []
        for part in parts_of(run, seconds=False):
            rows = [
                (
                    Markup(f"{esc(bare(column.method))} <span class='tag'>{esc(column.by)}</span>"),
                    *part.loc[column.method],
                )
                for column in mine
            ]
            parts.append(_scroll(table(["method", *part.columns], rows)))
        notes += [_note(missing, strong=True)] if (missing := unfinished(run)) else []
        if run.repeats > 1:
            notes.append(_note(f"Every question was asked up to {run.repeats} times: means are over all; a question "
                               "shows each time, chosen above its answer; lists, filters, causes and side by side "
                               "count the first.", strong=True))  # fmt: skip
        notes += [_note(bare(one), strong="rules" in one) for one in notes_of(run)]
    return "".join([*parts, *dict.fromkeys(notes)])


def _differences(contents: Contents) -> str:
    """Each method against the first of its run, with the interval as a picture."""
    parts = []
    for run, name in zip(contents.runs, contents.names):
        if len(run.methods) < 2:
            continue
        frame = run.compare()
        if not len(frame):
            continue
        first = _in_order(frame)
        rest = frame[~frame["measure"].isin([*FIRST])]
        baseline = bare(run.methods[0])
        parts += [
            f"<h3>{esc(name)}</h3>" if len(contents.runs) > 1 else "",
            f"<p class='quiet small'>against {esc(baseline)}: paired differences over the questions of both, 95 % "
            "bootstrap interval; p of the paired randomisation test, after Holm's correction over all measures</p>",
            _scroll(_compared(first)),
            details(f"other measures ({rest['measure'].nunique()})", _scroll(_compared(rest))) if len(rest) else "",
        ]
    return "<h2>Differences</h2>" + "".join(parts) if parts else ""


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the measures that come first, in the order of these."""
    return frame[frame["measure"].isin(FIRST)].sort_values(
        "measure", key=lambda names: names.map(FIRST.index), kind="stable"
    )


def _compared(frame: pd.DataFrame) -> str:
    """Differences with their intervals; `against` and `p` where the frame has them."""
    reach = {
        measure: max([1e-12, *(abs(value) for name in ("low", "high") for value in rows[name] if pd.notna(value))])
        for measure, rows in frame.groupby("measure")
    }
    against, p = ([name] * (name in frame) for name in ("against", "p"))
    baseline = "baseline_value" if "baseline_value" in frame else "baseline"
    rows = [
        (row["measure"], bare(row["method"]), *(bare(row[name]) for name in against), int(row["n"]), row["value"],
         row[baseline], Markup(_signed(row["difference"])),
         Markup(_interval(row["low"], row["difference"], row["high"], reach[row["measure"]])),
         f"[{number(row['low'], 3)}, {number(row['high'], 3)}]", *(row[name] for name in p), row["p_holm"])
        for row in frame.to_dict("records")
    ]  # fmt: skip
    headers = ["measure", "method", *against, "n", "mean", "baseline", "difference", "", "95 %", *p, "p (Holm)"]
    return table(headers, rows)


def _signed(value: float) -> str:
    return f"<b>{'+' if value > 0 else '−' if value < 0 else '±'}{number(abs(value))}</b>"


def _interval(low: float | None, middle: float, high: float | None, reach: float) -> str:
    """An interval around its difference on a line whose middle is zero; empty where too few questions give none."""
    if pd.isna(low) or pd.isna(high):
        return ""
    left, at, right = (70 + 64 * value / reach for value in (low, middle, high))
    colour = BLUE if low > 0 else ORANGE if high < 0 else GREY
    mark = (
        f'<circle cx="{at:.1f}" cy="8" r="4" fill="{colour}"/>'
        if low <= 0 <= high
        else f'<rect x="{at - 4:.1f}" y="4" width="8" height="8" fill="{colour}"/>'
    )
    what = "above" if low > 0 else "below" if high < 0 else "around"
    return (
        f'<svg class="forest" width="140" height="16" viewBox="0 0 140 16" role="img"><title>{what} zero</title>'
        '<line x1="70" y1="0" x2="70" y2="16" stroke="currentColor" stroke-opacity="0.5" stroke-dasharray="2 2"/>'
        f'<line x1="{left:.1f}" y1="8" x2="{right:.1f}" y2="8" stroke="{colour}" stroke-width="2.5"/>{mark}</svg>'
    )


def _outcomes(contents: Contents) -> str:
    """For each two columns, how many questions which of them has right; each number leads to the questions."""
    if len(contents.columns) < 2 or not contents.measures:
        return ""
    measure, rows = contents.measures[0], []
    for (a, first), (b, second) in list(combinations(enumerate(contents.columns), 2))[:30]:
        mine, other = contents.rows[a], contents.rows[b]
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
        title = f"<h3>{esc(name)} against {esc(contents.names[0])}</h3>"
        try:
            found = between(contents.runs[0], other)
        except SettingError as error:
            parts.append(title + _note(bare(str(error))))
            continue
        differing = [tuple(bare(short(part, 300)) for part in one.values()) for one in found.conditions]
        parts += [
            title,
            _scroll(_compared(_in_order(found.frame))),
            details(
                f"what else differs ({len(differing)})", _scroll(table(["", "first", "second"], differing)), open=True
            )
            if differing
            else _note("Nothing else differs."),
        ]
    return "<h2>Between the runs</h2>" + "".join(parts) if parts else ""


def _causes(contents: Contents) -> str:
    parts: list[str] = []
    for found, name in zip(contents.diagnoses, contents.names):
        parts += [f"<h3>{esc(name)}</h3>"] if len(contents.runs) > 1 else []
        if not isinstance(found, Diagnosis):
            parts.append(_note(found))
            continue
        parts.append(_scroll(_counts(found)))
        for title, frame in list(found.tables().items())[1:]:
            frame = frame.drop(columns="reader", errors="ignore")
            frame = frame.assign(method=frame["method"].map(bare)) if "method" in frame else frame
            parts.append(details(esc(title), _scroll(frame_part(frame))))
        parts += [_note(bare(note)) for note in found.notes]
    return "<h2>Why answers are wrong</h2>" + "".join(parts)


def _counts(found: Diagnosis) -> str:
    """A row per cause, a column per method, with the share as a bar."""
    frame = found.counts()
    methods = [name for name, _ in found.asked]
    rows = []
    for cause in dict.fromkeys(frame["cause"]):
        cells: list[Any] = [_link_to(cause)]
        for method in methods:
            mine = frame[(frame["method"] == method) & (frame["cause"] == cause)]
            count, share = (int(mine["cases"].iloc[0]), float(mine["share"].iloc[0])) if len(mine) else (0, 0.0)
            cells.append(Markup(_bar(count, share)))
        rows.append(cells)
    return table(["likely cause", *map(bare, methods)], rows)


def _link_to(cause: str) -> Markup:
    return Markup(f'<a href="#{esc(urlencode([("questions", ""), ("cause", cause)]))}">{esc(cause)}</a>')


def _bar(count: int, share: float) -> str:
    return (
        '<svg class="forest" width="84" height="12" viewBox="0 0 84 12" aria-hidden="true">'
        '<rect width="84" height="12" fill="currentColor" fill-opacity="0.08"/>'
        f'<rect width="{84 * share:.1f}" height="12" fill="{BLUE}"/></svg> '
        f"{count:,} <span class='q'>({share:.0%})</span>"
    )


def _papers(contents: Contents) -> str:
    parts = [f"<section>{_scroll(html(found))}</section>" for found in contents.papers()]
    return "<h2>Papers' tables</h2>" + "".join(parts) if parts else ""


def runs_of(contents: Contents) -> Iterator[dict[str, Any]]:
    """What `bundle.json` says of each run."""
    for run, name in zip(contents.runs, contents.names):
        yield {"name": name, "data": run.config["data"], "questions": run.config["questions"], "methods":
               [clean(bare(one)) for one in run.methods], "engine": bare(run.config["engine"])}  # fmt: skip
