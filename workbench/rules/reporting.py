"""Rule bodies of `community_report` and `global_map`: a report put together from what is known of a community, in its
own words, and the sentences of reports that share words with a question.

A report is an extract and says so: a title of its best-connected entities, a summary of its first relationships,
findings from the reports on its parts and from what else joins its entities, and, for a rating, its share of the
passages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from workbench.language.pipeline import content_words

NAMED = 3  # entities in a title
TOLD = 5  # relationships, and reports, in a summary
FINDINGS = 5
EXPLAINED = 5  # relationships of a finding
POINTS = 20  # sentences that are worth telling


class Extract(NamedTuple):
    title: str
    summary: str
    rating: float
    rating_explanation: str
    findings: list[tuple[str, str]]  # (what it is about, what is said)


def extract(
    entities: Sequence[tuple[str, str]],
    relationships: Sequence[tuple[str, str, str]],
    reports: Sequence[tuple[str, str]],
    share: float,
) -> Extract:
    """Entities are (name, description), relationships (source, target, description), reports (title, summary), the
    most important first; `share` is that of the passages, from 0 to 1."""
    about: dict[str, list[str]] = defaultdict(list)
    for source, target, description in relationships:
        for end in dict.fromkeys((source, target)):
            about[end].append(sentence(description))
    names = sorted(about, key=lambda name: -len(about[name])) or [name for name, _ in entities]
    told = [sentence(description) for _, _, description in relationships[:TOLD]]
    told += [f"It includes {title}." for title, _ in reports[:TOLD]]
    told = list(dict.fromkeys(told or [sentence(f"{name}: {description}") for name, description in entities[:TOLD]]))
    said, findings = set(told), list(reports[:FINDINGS])
    for name in names:
        new = [fact for fact in dict.fromkeys(about[name]) if fact not in said][:EXPLAINED]
        if new and len(findings) < FINDINGS:
            findings.append((name, " ".join(new)))
            said.update(new)
    return Extract(
        ", ".join((names or [title for title, _ in reports])[:NAMED]) or "a community without entities",
        " ".join(told),
        round(10 * min(max(share, 0.0), 1.0), 1),
        "rules: its passages, as a share of those of the largest community of its level",
        findings,
    )


def sentence(text: str) -> str:
    """One line that ends like a sentence.

    >>> sentence("orsby lies on\\nriver aldra"), sentence("Is it?")
    ('orsby lies on river aldra.', 'Is it?')
    """
    line = " ".join(text.split())
    return line if not line or line[-1] in ".!?…" else line + "."


def points(question: str, reports: Sequence[tuple[str, str]]) -> list[tuple[str, float]]:
    """(sentence, score) of the best sentences of reports, (title, text), that share words with the question, best
    first. The score is the share of the question's content words, from 0 to 100; a heading counts as said in its
    sentences.

    >>> points("Where does the Aldra rise?", [("aldra", "the aldra rises on mount kell. fog is rare.")])
    [('the aldra rises on mount kell.', 50.0)]
    """
    asked = content_words(question)
    found: dict[str, float] = {}
    for title, text in reports:
        heading = content_words(title) & asked
        for line in text.splitlines():
            if line.startswith("## "):
                heading = content_words(line) & asked
                continue
            for said in re.split(r"(?<=[.!?…])\s+", line):
                own = content_words(said) & asked
                if own:
                    found[said] = max(found.get(said, 0.0), round(100 * len(own | heading) / len(asked), 1))
    return sorted(found.items(), key=lambda point: -point[1])[:POINTS]
