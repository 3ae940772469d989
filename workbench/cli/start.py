"""The group Start: what there is, the check of this machine, an index, a question, and the notebooks."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any

from rich.markup import escape

from workbench.cli import opening
from workbench.cli import options as opt
from workbench.cli.shell import KINDS, Output, err, fields_of, listed, plain, table_of, verb, warning_lines
from workbench.errors import SettingError
from workbench.text import clean


@verb(name="list")
def list_kind(
    kind: Annotated[str, "methods, readers, compressors, measures or datasets", "KIND"] = "methods",
    /,
) -> Output:
    """What there is of a kind: what it needs, whose it is, what it asks a model. `workbench methods` does the same."""
    import workbench as wb
    from workbench.cli import catalogue

    if kind not in KINDS:
        raise SettingError(f"{kind!r} is unknown; choose {', '.join(KINDS)}")
    if kind != "datasets":
        return listed(catalogue.rows(kind))
    rows = plain(wb.datasets().datasets)
    named = [row | {"short": ", ".join(row["aliases"])} for row in rows]
    return Output(rows, [table_of(named, ("id", "short", "passages", "questions", "licence", "here"))])


@verb
def doctor(
    ask: Annotated[bool, "ask the endpoint of the environment one tiny question"] = False,
    model: Annotated[str | None, "the model that --ask asks"] = None,
) -> Output:
    """What is installed, what is missing, and the command that mends it."""
    from workbench.cli.doctor import examine

    findings = examine(ask=ask, model=model)
    rows = [{"area": f.area, "": f.mark, "what": f.what, "found": f.found, "do": f.remedy} for f in findings]
    bad = sum(finding.mark == "MISSING" for finding in findings)
    verdict = f"{bad} of {len(findings)} things need to be fixed." if bad else "Nothing needs to be fixed."
    return Output(rows, [table_of(rows, lead=3), verdict], code=1 if bad else 0)


@verb
def index(
    data: opt.Data,
    /,
    model: opt.Model,
    out: Annotated[Path | None, "folder of the index; indexes/NAME by default"] = None,
    encoder: opt.Encoder = None,
    layers: opt.Layers = None,
    extraction: opt.Extraction = None,
    set_: Annotated[list[str] | None, "a layer's setting: facts.normalise=ascii"] = None,
    keep: Annotated[bool, "leave the layers that stand, whoever made them"] = False,
    keep_going: opt.KeepGoing = False,
    cluster: opt.Cluster = None,
    read: opt.Read = None,
    strict: opt.Strict = False,
    offline: opt.Offline = False,
) -> Output:
    """Build (or go on building) the index of a data set."""
    import workbench as wb
    from workbench.data.curated import extracted
    from workbench.index.index import place_of
    from workbench.views.terminal import cell_text

    chosen: dict[str, dict[str, Any]] = {}
    form = "layer.setting=value, such as facts.normalise=ascii"
    for name, value in opening.pairs("--set", set_, form).items():
        layer, dot, key = name.partition(".")
        if not dot:
            raise SettingError(f"--set {name!r}: write {form}")
        chosen.setdefault(layer, {})[key] = value
    loaded = wb.load(data, offline=offline or None, strict=strict, **opening.pairs("--read", read))
    loaded = extracted(loaded, extraction)
    place = out or place_of(loaded)
    runner = opening.engine(model, vectors=opening.asks_for_vectors(place, encoder))
    using = opening.encoder(encoder, model, place, offline)
    built = wb.Index.build(
        loaded, runner, out, encoder=using, layers=opening.names(layers), settings=chosen, keep=keep,
        keep_going=keep_going, cluster=cluster,
    )  # fmt: skip
    lines, rows = [], []
    for kind, layer in built.manifest["layers"].items():
        described = {name: value for name, value in layer.items() if name not in ("settings", "content")}
        rows.append({"layer": kind, **described, "settings": layer["settings"]})
        words = ", ".join(
            f"{name} {cell_text(value)}" for name, value in described.items() if name != "key" and value != []
        )
        lines.append(f"  {kind}: {escape(words)}")
    return Output(
        {"folder": built.folder, "counts": built.counts(), "left_out": built.left_out, "layers": rows,
         "warnings": built.warnings, "usage": built.usage.rows(), "skipped": opening.skipped(loaded)},
        [built, *lines, built.usage, *opening.encoder_lines(built)], opening.skipped_lines(loaded),
    )  # fmt: skip


@verb
def ask(
    folder: Annotated[Path, "folder of an index; a folder of documents, or meridian, is indexed first", "INDEX"],
    question: Annotated[str, "the question", "QUESTION"],
    /,
    model: opt.Model,
    of_reader: opt.OfReader,
    method: Annotated[str, "a SPEC, such as hipporag2[profile=paper,damping=0.6]"] = "hipporag2",
    k: Annotated[int, "passages"] = 10,
    budget: opt.Budget = None,
    reader: Annotated[str, "a reader's SPEC, such as direct[k=5]; none of ask: passages alone"] = "direct",
    encoder: opt.OwnEncoder = None,
    trace: Annotated[bool, "print the trace"] = False,
) -> Output:
    """The answer to a question, with the passages that it was read from; with --reader none, these alone."""
    import workbench as wb

    named = None if reader == "none" else reader
    folder = opening.at_hand(folder, model, method, named)
    index, runner = opening.index_and_engine(folder, model, encoder)
    evidence = wb.method(method, index, runner).retrieve(question, k, budget=budget)
    reading = opening.reader(named, runner, index, of_reader)
    whole, parts, events, code = {"warnings": index.warnings}, warning_lines(index.warnings), evidence.trace, 0
    if reading is not None:
        answer = reading.read(question, evidence)
        lacking = [*index.warnings, *([f"{evidence.method} fell back: {evidence.fallback}"] * bool(evidence.fallback))]
        whole, parts, failed = _answer(answer, lacking)
        whole["engine"], events, code = runner.name, answer.trace, int(failed)
    whole |= _evidence(evidence, trace)
    return Output(whole, [*parts, evidence, *([events] * trace)], code=code)


def _answer(answer, lacking: list[str]) -> tuple[dict, list[str], bool]:
    """(JSON, lines, whether it failed) for an answer, with what was `lacking` when it was read."""
    from workbench.llm.engine import no_model, whose_words
    from workbench.views.contexts import excerpt
    from workbench.views.records import REPLY, failure_of, unread_reply

    flaw, unread = answer.reading.flaw if answer.reading else "", unread_reply(answer)
    mark, failure = answer.proof.mark if answer.proof else None, failure_of(answer)
    text = "abstained: not found in the passages" if answer.abstained else answer.text
    text = f"failed: {failure}" if failure else text
    by = escape(whose_words(answer.engines)) + ", not by a language model" * all(map(no_model, answer.engines))
    lines = [f"[bold]{escape(clean(text))}[/] [dim](by {by})[/]"]
    lines = [*lines, *warning_lines(lacking)] if failure else [*warning_lines(lacking), *lines]
    if unread:
        lines.append(f"The model replied: {escape(clean(unread, REPLY))}")
    if mark:
        lines.append(f"{mark} by the facts that its passages state")
    if answer.thought and not unread:
        lines.append(escape(str(excerpt(answer.thought, answer.text, 400))))
    fields = fields_of(answer, "abstained", "thought", "failure", flaw=flaw, reply=unread, read=answer.passages)
    return {"answer": answer.text, **fields, "mark": mark, "warnings": lacking}, lines, bool(failure)


def _evidence(evidence, with_trace: bool) -> dict:
    fields = fields_of(evidence, "question", "method", "scale", "fallback")
    fields |= {
        "passages": [fields_of(p, "id", "title", "text", score=score) for p, score in evidence.passages],
        "facts": [{"fact": t.members, "passages": t.passages, "score": score} for t, score in evidence.facts],
        "entities": [fields_of(e, "name", score=score) for e, score in evidence.entities],
        "paths": [fields_of(p, "nodes", "relations", "passages", "verdict", score=s) for p, s in evidence.paths],
        "reports": [fields_of(r, "id", "title", "text", score=score) for r, score in evidence.reports],
        "selected": evidence.selected,
    }
    if with_trace:
        names = ("id", "parent", "kind", "step", "inputs", "outputs", "scores")
        fields["trace"] = [fields_of(event, *names) for event in evidence.trace]
    return fields


@verb
def notebooks(to: Annotated[Path, "the folder of the copies; lab/ by default", "DIR"] = Path("lab"), /) -> Output:
    """Copy the notebooks that come with the workbench into a folder. A copy with edits of yours is kept."""
    from workbench.notebooks import working_copies

    copies = working_copies(to=to)
    rows = [{"notebook": copy, "state": state} for copy, state in copies.items()]
    return Output(rows, [table_of(rows)], _kept_notes(copies))


@verb(json=False, context_settings={"ignore_unknown_options": True})
def lab(
    arguments: Annotated[list[str] | None, "given to JupyterLab: --no-browser --port 8899", "…"] = None,
    /,
) -> None:
    """Open working copies of the notebooks, in lab/, in JupyterLab: running and saving them leaves the originals
    alone."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_root and not re.search("allow.root|--version|--help", " ".join(arguments or ())):
        raise SettingError(
            "you are root, and JupyterLab refuses to start as root unless told otherwise: workbench lab --allow-root, "
            "or make lab LAB=--allow-root"
        )
    from workbench.notebooks import open_lab, working_copies

    copies = working_copies()
    for line in _kept_notes(copies):
        err.print(line, soft_wrap=True)
    open_lab(next(iter(copies)), arguments or ())


def _kept_notes(copies: dict[Path, str]) -> list[str]:
    """Remarks on copies that were not renewed because they have edits."""
    why = "has changes of yours and is kept, although its original is newer; rename it to have the new one beside it"
    return [f"{escape(str(copy))} {why}" for copy, state in copies.items() if state == "kept"]


@verb
def run(
    only: Annotated[str | None, "only notebooks whose name begins so, such as 01"] = None,
    set_: Annotated[list[str] | None, "a notebook's parameter: key=value"] = None,
    data: Annotated[str | None, "the same as --set data=DATA"] = None,
    notebooks: Annotated[Path | None, "their folder; by default those that come with the workbench"] = None,
    out: Annotated[Path | None, "folder of the executed copies; build/notebooks, or build/regression to check"] = None,
    check: Annotated[bool, "make all of it anew and compare it with the baseline; 1 if it moved"] = False,
    accept: Annotated[bool, "the same, and write it as the new baseline"] = False,
    baseline: Annotated[Path | None, "folder of the baseline; baseline/ beside the notebooks by default"] = None,
) -> Output:
    """Execute the notebooks with papermill; figures and tables go into figures/.

    Data other than the bundled corpus are run by rules, unless --set engine=SPEC names another engine.
    With --check nothing there changes: the notebooks make an index and runs of their own.
    """
    from workbench import notebooks as running
    from workbench.errors import lacking_extra
    from workbench.places import home, is_checkout

    parameters = ({"data": data} if data else {}) | opening.pairs("--set", set_)
    if running.by_rules(parameters):
        err.print("engine=rules, because the replies written by hand are about the bundled corpus; --set engine=SPEC "
                  "chooses another", soft_wrap=True)  # fmt: skip
    for name in running.off(parameters):
        err.print(f"{name}=false, because {escape(lacking_extra(name))}", soft_wrap=True)
    if check or accept:
        out = out or Path("build/regression")
        comparison = running.check(notebooks, out, parameters, only, baseline=baseline, accept=accept)
        return Output(comparison.plain(), [comparison], code=0 if comparison.holds else 1, wrapped=False)
    done = running.run_all(notebooks, out or Path("build/notebooks"), parameters, only)
    rows = [{"notebook": path, "page": page, "seconds": seconds} for path, page, seconds in done]
    pages = [f"  {escape(str(executed.page))}   the executed notebook as a page" for executed in done]
    figures = "  figures/   figures, tables and verdicts"
    lab = "make lab" if is_checkout() else "workbench lab"
    copies = f"  {lab}   working copies of the notebooks, in JupyterLab"
    whole = {"notebooks": rows, "figures": home() / parameters.get("figures", "figures")}
    return Output(whole, ["Look at:", *pages, figures, copies])
