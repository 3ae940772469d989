"""What the texts that a model writes for an index will take: summaries of clusters, reports on communities.

How many there will be is not known before the vectors are clustered, or the graph of all facts. They are expected in
proportion, and the proportion is given with its range; so are the lengths, which the Steps cut at their limits."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench import tokens
from workbench.experiments.estimate.ranges import Range, exactly, priced
from workbench.experiments.estimate.record import Cost
from workbench.index import communities, summaries
from workbench.llm.engine import Engine
from workbench.records import Passage
from workbench.steps import community_report, summarise

# Low and high are about half and twice of what was measured, but where something bounds them.
CLUSTERS = Range(0.16, 0.08, 0.32)  # per text: of 250 and 700 passages of MuSiQue 0.16 and 0.15, of Meridian 0.21
MEMBERSHIPS = Range(1.0, 1.0, 1.1)  # clusters that a text is in: 1.00 to 1.01 of the same
REPORTS = Range(0.18, 0.09, 0.36)  # per fact: of HippoRAG's for 200 and 1,890 passages of MuSiQue 0.18
CONTEXT = Range(490, 245, 980)  # tokens that a report is written from: 460 reports on 300 passages of MuSiQue, the mean
REPORT = Range(1000, 300, community_report.STEP.max_tokens)  # tokens of a report: assumed
FACTS = Range(9, 3, 12)  # per passage, where none was extracted yet: 9 in MuSiQue's, 9 to 12 in published graphs


def of_summaries(passages: Sequence[Passage], engine: Engine, settings: summaries.Settings) -> tuple[Cost, str]:
    """What a tree over all these passages takes, and in words what that rests on."""
    step, limit = summarise.STEP, settings.summary_tokens
    own = sum(tokens.count(passage.content) for passage in passages)
    least = math.ceil(own / settings.cluster_tokens)
    calls, texts = [], []
    for share, times in zip(CLUSTERS, MEMBERSHIPS):
        levels = _levels(len(passages), share, settings, least)
        calls.append(sum(levels))
        texts.append(times * (own + limit * sum(levels[:-1])) if levels else 0)
    count = Range(*calls)
    prompt = Range(*texts) + count.times(_tokens(step.prompt(summarise.Input((), limit))))
    completion = count.times(Range(limit, limit / 2, limit))
    said = (
        f"summaries: the number is known once the passages are clustered; {_said(CLUSTERS)} for each text, "
        f"level by level, expected as in MuSiQue; assumed to have {limit / 2:g} to {limit} tokens, where they are cut"
    )
    return _cost("summaries", step.name, engine, count, prompt, completion), said


def _levels(nodes: int, share: float, settings: summaries.Settings, least: int) -> list[int]:
    """The number of summaries on each level; the first holds at least `least`."""
    found = []
    while nodes > settings.dimension + 1 and len(found) < settings.levels:
        nodes = max(1, round(nodes * share), 0 if found else least)
        found.append(nodes)
    return found


def of_reports(facts: Range, engine: Engine, settings: communities.Settings) -> tuple[Cost, str]:
    """What reports on the communities of a graph of so many facts take, and in words what that rests on."""
    step, count = community_report.STEP, facts.times(REPORTS)
    context = Range(*(min(length, settings.report_tokens) for length in CONTEXT))
    prompt = count.times(context + exactly(_tokens(step.prompt(community_report.Input("")))))
    said = (
        f"communities: the number is known once the graph is there; {_said(REPORTS)} reports for each of "
        f"{_said(facts)} facts, each from {_said(context)} tokens, expected as in MuSiQue; {_said(REPORT)} assumed"
    )
    return _cost("communities", step.name, engine, count, prompt, count.times(REPORT)), said


def _cost(part: str, step: str, engine: Engine, count: Range, prompt: Range, completion: Range) -> Cost:
    if engine.name == "rules":
        return Cost(part, step, seconds=None)
    return Cost(part, step, count, prompt, completion, priced(engine.name, prompt, completion), None)


def _tokens(messages: Sequence[dict]) -> int:
    return sum(tokens.count(message["content"]) for message in messages)


def _said(found: Range) -> str:
    value, low, high = (f"{number:,.2f}".rstrip("0").rstrip(".") for number in found)
    return value if low == high else f"{low} to {high} ({value})"
