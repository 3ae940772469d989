"""What the texts that a model writes for an index will take: summaries, reports, profiles, articles on a graph.

How many there will be is not known before the vectors are clustered, or the graph of all facts. They are expected in
proportion, and the proportion is given with its range; so are the lengths, which the Steps cut at their limits."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench import tokens
from workbench.data import Dataset
from workbench.experiments.estimate.ranges import Range, exactly, priced
from workbench.experiments.estimate.record import Cost
from workbench.index import communities, pieces, profiles, skeleton, summaries
from workbench.index.skeleton import core
from workbench.index.textualise import HUB, SHARD, facts_of
from workbench.llm.engine import Engine
from workbench.records import Passage
from workbench.steps import (
    community_report,
    describe_entity,
    describe_relations,
    entity_relations,
    graph_records,
    summarise,
    write_article,
)

# Low and high are about half and twice of what was measured, but where something bounds them.
CLUSTERS = Range(0.16, 0.08, 0.32)  # per text: of 250 and 700 passages of MuSiQue 0.16 and 0.15, of Meridian 0.21
MEMBERSHIPS = Range(1.0, 1.0, 1.1)  # clusters that a text is in: 1.00 to 1.01 of the same
REPORTS = Range(0.18, 0.09, 0.36)  # per fact: of HippoRAG's for 200 and 1,890 passages of MuSiQue 0.18
CONTEXT = Range(490, 245, 980)  # tokens that a report is written from: 460 reports on 300 passages of MuSiQue, the mean
REPORT = Range(1000, 300, community_report.STEP.max_tokens)  # tokens of a report: assumed
RECORDS = Range(1.5, 0.75, 3)  # tokens of a passage's records, per token of it: assumed
GLEANED = Range(0.3, 0.05, 1)  # of a further round, as a share of the first: assumed
ARTICLE = Range(400, 100, 700)  # tokens of an article: 300 to 500 words are asked for, fewer where little is known
ATTEMPTS = Range(1.3, 1, 4)  # until an article mentions all neighbours: assumed; 4 is the limit
DESCRIPTION = Range(60, 20, 120)  # tokens of an entity's description: assumed
SENTENCE = Range(25, 15, 40)  # tokens of a relation's sentence: assumed
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


def of_profiles(passages: Sequence[Passage], engine: Engine, settings: profiles.Settings) -> tuple[Cost, str]:
    """What profiles of all these passages take, and in words what that rests on. Descriptions that are fused are few,
    and not in it."""
    step, rounds = entity_relations.STEP, settings.gleanings
    first = sum(_tokens(step.prompt(entity_relations.Input(p.title, p.text))) for p in passages)
    records = exactly(sum(tokens.count(p.content) for p in passages)).times(RECORDS)
    completion = records + records.times(GLEANED).times(rounds)
    said = (
        f"profiles: each passage is asked about {1 + rounds} times; {_said(RECORDS)} tokens per token of it, and "
        f"{_said(GLEANED)} of that in a further round, assumed"
    )
    count = exactly(len(passages) * (1 + rounds))
    return _cost("profiles", step.name, engine, count, exactly(first * (1 + rounds)), completion), said


def of_skeleton(
    passages: Sequence[Passage], engine: Engine, cutting: pieces.Settings, settings: skeleton.Settings
) -> tuple[Cost, str]:
    """What extracting from the core of these passages takes, and in words what that rests on: which pieces are central
    is not known before they have vectors, so as many are drawn by lot (of MuSiQue these have 3 % fewer tokens, of
    Meridian 10 %), and the shortest and the longest are low and high. Descriptions that are fused are not in it."""
    sizes = [size for _, size, _, _ in pieces.cut(passages, cutting)]
    count, ranked = math.floor(settings.beta * len(sizes)), sorted(range(len(sizes)), key=sizes.__getitem__)
    cores = (core.at_random(len(sizes), count, settings.seed), ranked[:count], ranked[len(sizes) - count :])
    calls = Range(*(len(core.merged(rows, sizes, settings.merge_tokens)) for rows in cores))
    held = Range(*(sum(sizes[row] for row in rows) for rows in cores))
    rounds, step = 1 + settings.gleanings, graph_records.STEP
    own = exactly(_tokens(step.prompt(graph_records.Input("", "", settings.types))))
    records = held.times(RECORDS)
    said = (
        f"skeleton: {_said(calls)} chunks of {count:,} pieces, as of pieces drawn by lot, each asked about {rounds} "
        f"times; {_said(RECORDS)} tokens per token of it, and {_said(GLEANED)} of that in a further round, assumed"
    )
    return _cost(
        "skeleton",
        step.name,
        engine,
        calls.times(rounds),
        (calls.times(own) + held).times(rounds),
        records + records.times(GLEANED).times(settings.gleanings),
    ), said


def of_articles(data: Dataset, engine: Engine) -> tuple[list[Cost], str]:
    """What articles and descriptions for a graph of triples take, and in words what that rests on."""
    facts, _ = facts_of(data)
    shards = [shard for shard in facts.shards(SHARD) if len(facts.rows[shard.central]) <= HUB]
    articles = exactly(len(shards)).times(ATTEMPTS)
    entities = exactly(sum(shard.number == 1 for shard in shards))
    telling = exactly(sum(bool(facts.told_by(shard)) for shard in shards))
    told = exactly(sum(tokens.count(" ".join(triple)) for triple in facts.triples))
    empty = {
        write_article.STEP: write_article.Input("", "", ()),
        describe_entity.STEP: describe_entity.Input("", "", "", ()),
        describe_relations.STEP: describe_relations.Input("", "", ()),
    }
    own = {step: exactly(_tokens(step.prompt(value))) for step, value in empty.items()}
    rows = [
        (write_article.STEP, articles, told.times(2).times(ATTEMPTS), articles.times(ARTICLE)),
        (describe_entity.STEP, entities, entities.times(ARTICLE), entities.times(DESCRIPTION)),
        (describe_relations.STEP, telling, telling.times(ARTICLE) + told, exactly(len(facts.triples)).times(SENTENCE)),
    ]
    said = (
        f"articles: {len(shards):,} are wanted, each written {_said(ATTEMPTS)} times, with {_said(ARTICLE)} tokens; "
        f"{_said(DESCRIPTION)} of a description, {_said(SENTENCE)} of a relation's sentence; all assumed"
    )
    return [_cost("articles", s.name, engine, n, n.times(own[s]) + p, c) for s, n, p, c in rows], said


def _cost(part: str, step: str, engine: Engine, count: Range, prompt: Range, completion: Range) -> Cost:
    if engine.name == "rules":
        return Cost(part, step, seconds=None)
    return Cost(part, step, count, prompt, completion, priced(engine.name, prompt, completion), None)


def _tokens(messages: Sequence[dict]) -> int:
    return sum(tokens.count(message["content"]) for message in messages)


def _said(found: Range) -> str:
    value, low, high = (f"{number:,.2f}".rstrip("0").rstrip(".") for number in found)
    return value if low == high else f"{low} to {high} ({value})"
