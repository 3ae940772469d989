"""Rule bodies of `community_report` and `global_map`: a report put together from what is known of a community, in its
own words, and the sentences of reports that share words with a question.

A report is an extract and says so: a title of its best-connected entities, a summary of its first relationships,
findings from the reports on its parts and from what else joins its entities, and, for a rating, its share of the
passages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from workbench.language.pipeline import content_words
from workbench.steps import community_report as report
from workbench.steps import global_map as reports

NAMED = 3  # entities in a title
SUMMARISED = 5  # relationships, and reports, in a summary
FINDINGS = 5
EXPLAINED = 5  # relationships of a finding
POINTS = 20  # sentences that are worth telling


def community_report(value: report.Input) -> report.Output:
    """The rating is the share of the passages on a scale from 0 to 10."""
    about: dict[str, list[str]] = defaultdict(list)
    for source, target, description in value.relationships:
        for end in dict.fromkeys((source, target)):
            about[end].append(sentence(description))
    names = sorted(about, key=lambda name: -len(about[name])) or [name for name, _ in value.entities]
    summary = _summary(value)
    return report.Output(
        title=", ".join((names or [title for title, _ in value.reports])[:NAMED]) or "a community without entities",
        summary=" ".join(summary),
        rating=round(10 * min(max(value.share, 0.0), 1.0), 1),
        rating_explanation="rules: its passages, as a share of those of the largest community of its level",
        findings=_findings(value, [(name, about[name]) for name in names], summary),
    )


def _summary(value: report.Input) -> list[str]:
    """The first relationships and the titles of reports; the first entities where there are neither."""
    sentences = [sentence(description) for _, _, description in value.relationships[:SUMMARISED]]
    sentences += [f"It includes {title}." for title, _ in value.reports[:SUMMARISED]]
    entities = (sentence(f"{name}: {description}") for name, description in value.entities[:SUMMARISED])
    return list(dict.fromkeys(sentences or entities))


def _findings(
    value: report.Input, about: Sequence[tuple[str, Sequence[str]]], summary: Sequence[str]
) -> list[report.Finding]:
    """The reports on parts of the community, then of each entity the relationships that no text before states."""
    used, findings = set(summary), list(value.reports[:FINDINGS])
    for name, sentences in about:
        new = [text for text in dict.fromkeys(sentences) if text not in used][:EXPLAINED]
        if new and len(findings) < FINDINGS:
            findings.append((name, " ".join(new)))
            used.update(new)
    return [report.Finding(summary=title, explanation=text) for title, text in findings]


def global_map(value: reports.Input) -> reports.Output:
    found = points(value.question, value.reports)
    return reports.Output(points=[reports.Point(description=text, score=score) for text, score in found])


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
