"""An audit of the printed numbers of GraphRAG-Bench (arXiv 2506.05690): whether tables and text agree.

`values` maps (backbone, method, data, measure) to a score; `printed` is its CSV."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from auditing import by_us, none_against

from workbench.evaluation.verdict import Verdict

NOVEL, MEDICAL = "graphrag-bench/novel", "graphrag-bench/medical"
LEVELS = ("Fact Retrieval", "Complex Reasoning", "Contextual Summarize", "Creative Generation")
MEAN, TOKENS, TOTAL = "ACC, mean of the levels", "tokens of a prompt", "construction of one book, total tokens"
Values = Mapping[tuple[str, str, str, str], float]


def audit(values: Values, printed: pd.DataFrame) -> Verdict:
    """Whether the printed numbers are consistent."""
    verdict = Verdict("")
    at = {(row.table, row.backbone, row.method, row.data, row.measure): row.value for row in printed.itertuples()}
    _sums(verdict, at)
    _sizes(verdict, values, at)
    _corpora(verdict, values, at)
    _prompts(verdict, at)
    _twice(verdict, values)
    return verdict


def _sums(verdict: Verdict, at: Mapping) -> None:
    methods = [key[2] for key in at if key[4] == TOTAL]
    parts = {one: [at["15", "", one, NOVEL, TOTAL.replace("total", part)] for part in ("input", "completion", "total")]
             for one in methods}  # fmt: skip
    against = [f"{one} {a + b:,.0f}, printed {whole:,.0f}" for one, (a, b, whole) in parts.items() if a + b != whole]
    claim = "input and completion tokens of the construction add up"
    none_against(verdict, claim, against, len(parts), by_us("Table 15"))


def _sizes(verdict: Verdict, values: Values, at: Mapping) -> None:
    means = {key[1:3]: value for key, value in at.items() if key[0] == "16" and key[4] == MEAN}
    own = {one: sum(at["16", *one, MEDICAL, f"ACC, {level}"] for level in LEVELS) / 4 for one in means}
    against = [f"{' '.join(one)} {own[one]:.5f}, printed {said:.4f}" for one, said in means.items()
               if abs(own[one] - said) > 0.00005 + 1e-9]  # fmt: skip
    none_against(verdict, "the means of Table 16 are those of its levels", against, len(means), by_us("Table 16"))
    stated = at["text", "Qwen2.5-3B", "HippoRAG2", MEDICAL, MEAN]
    verdict.check(
        "the mean of HippoRAG2 with Qwen2.5-3B that the text compares is that of the table",
        f"stated {stated:.2%}, in the table {means['Qwen2.5-3B', 'HippoRAG2']:.2%}", "equal",
        lambda _: stated == means["Qwen2.5-3B", "HippoRAG2"], where="appendix G.4",
    )  # fmt: skip
    model = "Qwen2.5-14B"
    for name, called in (("HippoRAG2", "HippoRAG2"), ("RAG", "RAG (w/ rerank)")):
        there = {level: values[model, called, MEDICAL, f"ACC, {level}"] for level in LEVELS}
        ours = {level: at["16", model, name, MEDICAL, f"ACC, {level}"] for level in LEVELS}
        against = [
            f"{level} {ours[level]:.4f}, there {there[level]:.4f}" for level in LEVELS if ours[level] != there[level]
        ]
        claim = f"{name} with {model} has the accuracies of Table 11 in Table 16"
        none_against(verdict, claim, against, len(LEVELS), by_us("Tables 11 and 16"))


def _corpora(verdict: Verdict, values: Values, at: Mapping) -> None:
    """Table 17 is of novels; its largest corpus is said to be the whole data set, of which Table 9 is."""
    model = "GPT-4o-mini"
    for name, called in (("HippoRAG2", "HippoRAG2"), ("RAG", "RAG (w/ rerank)")):
        rows = {size: [at["17", model, f"{name}, {size} tokens", NOVEL, f"ACC, {level}"] for level in LEVELS]
                for size in ("56k", "603k", "1132k")}  # fmt: skip
        for size, data, claim, holds in (
            ("1132k", NOVEL, f"{name} over the whole corpus of Table 17 has its accuracies of Table 9", True),
            ("56k", NOVEL, f"{name} over one book does not have its accuracies of Table 9 over all novels", False),
            (
                "56k",
                MEDICAL,
                f"{name} over one book of novels does not have the accuracies of Table 9 on medicine",
                False,
            ),
        ):
            there = [values[model, called, data, f"ACC, {level}"] for level in LEVELS]
            verdict.check(
                claim, f"{_percents(rows[size])}, there {_percents(there)}", "equal" if holds else "not all equal",
                lambda _, same=rows[size] == there, holds=holds: same == holds, where=by_us("Tables 9 and 17"),
            )  # fmt: skip


def _percents(shares: list[float]) -> str:
    return ", ".join(f"{100 * share:.2f}" for share in shares)


def _prompts(verdict: Verdict, at: Mapping) -> None:
    """The text rounds to powers of ten: within a factor of three is the same."""
    for key, said in at.items():
        if key[0] == "text" and key[4] == TOKENS:
            most = max(value for other, value in at.items() if other[0] != "text" and other[2::2] == (key[2], TOKENS))
            verdict.check(
                f"the length of {key[2]}'s prompts in the text is about that of the tables",
                f"stated {said:,.0f}, in the tables up to {most:,.0f}", "within a factor of three",
                lambda _, most=most, said=said: 1 / 3 <= most / said <= 3, where="Obs. 8, Tables 6 and 7",
            )  # fmt: skip


def _twice(verdict: Verdict, values: Values) -> None:
    """Rows of different tables or data sets that have the same numbers in the same order."""
    rows: dict[tuple[str, str, str, bool], list[float]] = {}
    for (model, method, data, measure), value in values.items():
        rows.setdefault((model, method, data, measure.startswith("Re")), []).append(value)
    places = list(rows)
    pairs = [(a, b, sum(x == y for x, y in zip(rows[a], rows[b]))) for i, a in enumerate(places) for b in places[:i]]
    same = [f"{_place(a)} and {_place(b)}: {n} of {len(rows[a])} numbers" for a, b, n in pairs if n > 3]
    claim = "no two rows share more than three numbers in their places"
    none_against(verdict, claim, same, len(pairs), by_us("Tables 9 to 11"))


def _place(key: tuple[str, str, str, bool]) -> str:
    table = "10" if key[3] else {"GPT-4o-mini": "9"}.get(key[0], "11")
    return f"{key[1]} on {key[2].partition('/')[2]} (Table {table})"
