"""Traces of DotRAG written by hand, after the contract of `workbench.methods.dotrag`: films, who made them, and where.

Glass Harbour —directed_by→ Ilse Varn      Salt Line —directed_by→ Ilse Varn
Glass Harbour —starred_actors→ Pia Norr    Salt Line —starred_actors→ Oskar Lind, Pia Norr
Glass Harbour —has_genre→ Drama            Salt Line —has_genre→ Drama, —written_by→ Ilse Varn
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.trace import Trace

QUESTION = "Who starred in the films of the director of Glass Harbour?"
DIRECTED, BACK = [["directed_by", True]], [["directed_by", False], ["written_by", False]]
STARRED, GENRE = [["starred_actors", True]], [["has_genre", True]]
TRIPLES = (
    "Glass Harbour|directed_by|Ilse Varn", "Glass Harbour|starred_actors|Pia Norr", "Glass Harbour|has_genre|Drama",
    "Salt Line|directed_by|Ilse Varn", "Salt Line|starred_actors|Oskar Lind", "Salt Line|has_genre|Drama",
    "Fog|directed_by|Ana Holm", "Fog|starred_actors|Pia Norr", "Fog|release_year|1971",
)  # fmt: skip
NEXT = "Which other films did Ilse Varn direct?"


def path(nodes: Sequence[str], relations: Sequence, similarity: float = 0.5) -> dict:
    return {"nodes": list(nodes), "relations": list(relations), "similarity": similarity}


def verdict(label: str, confidence: float, justification: str, next_question: str = "") -> dict:
    return {"label": label, "confidence": confidence, "justification": justification, "next_question": next_question}


def iteration(
    trace: Trace,
    number: int,
    queries: Sequence[Sequence[str]],
    candidates: Mapping[str, tuple[str, float, int]],
    paths: Mapping[str, dict],
    verdicts: Mapping[str, dict],
    kept: Sequence[str],
    dropped: Mapping[str, str],
    **more,
) -> None:
    """`candidates` are name → (type, similarity, query). `more` may hold repeated (queries), excluded, cut, without."""
    repeated = more.get("repeated", ())
    with trace.span("CHAIN", "iteration", iteration=number, queries=queries, dropped=repeated):
        with trace.span("RETRIEVER", "candidates") as span:
            span.set(
                types={name: kind for name, (kind, _, _) in candidates.items()},
                query={name: query for name, (_, _, query) in candidates.items()},
                excluded=more.get("excluded", 0),
            )
            span.score([(name, score) for name, (_, score, _) in candidates.items()])
        with trace.span("CHAIN", "paths") as span:
            span.set(paths=paths, cut=more.get("cut", ()), without=more.get("without", ()))
        with trace.span("CHAIN", "judge") as span:
            with trace.span("LLM", "judge_paths"):
                pass
            passages = {name: " → ".join(paths[name]["nodes"]) + ". So it is told." for name in verdicts}
            shown = set(paths) - set(verdicts) - set(more.get("cut", ()))
            span.set(verdicts=verdicts, passages=passages, unjudged=sorted(shown))
        with trace.span("CHAIN", "keep") as span:
            span.set(kept=kept, dropped=dropped)


def dot_trace(level: str = "full", *, tau: float = 0.6, h_max: int = 3, t_max: int = 2) -> Trace:
    """The director is found on the way in iteration 1, the actor at the end in 2, where his path supersedes the first.

    A `tau` above 0.9 loses the topic's DOT, one hop the end of the path, one iteration the second search.
    """
    trace = Trace(level)
    far, twice, topic = h_max > 1, t_max > 1, tau <= 0.9
    label = f"dotrag[h_max={h_max},t_max={t_max},tau={tau}]"
    with trace.span("CHAIN", label, question=QUESTION, k=10, budget=None) as root:
        with trace.span("CHAIN", "select regions") as span:
            span.set(
                anchors=[{"span": "Glass Harbour", "description": "A film.", "type": "movie"}],
                topics=["films of one director"],
                routing=0,
                accepted=[["low", "Glass Harbour"], *([["high", "films of one director"]] if topic else [])],
                named=[["Glass Harbour", "movie"]],
            )
        with trace.span("CHAIN", "dot", dot=0, concept="Glass Harbour", level="low") as dot:
            with trace.span("RETRIEVER", "anchors") as span:
                span.set(weak=False, exact=["Glass Harbour"], types={"Glass Harbour": "movie"})
                span.score([("Glass Harbour", 0.93)])
            rules(trace)
            region(trace, [1, 2, 1, 1][: h_max + 1], {"genre": 1})
            first = {
                "0.1.1": path(["Glass Harbour", "Ilse Varn"], [DIRECTED], 0.81),
                "0.1.2": path(["Glass Harbour", "Pia Norr"], [STARRED], 0.74),
                "0.1.3": path(["Glass Harbour", "Drama"], [GENRE], 0.31),
            }
            said = {
                "0.1.1": verdict("partial", 0.8, "names the director", NEXT),
                "0.1.2": verdict("irrelevant", 0.7, "the actor of the film that was named"),
            }
            found = {"Ilse Varn": ("person", 0.81, 0), "Pia Norr": ("person", 0.74, 0), "Drama": ("genre", 0.31, 0)}
            iteration(
                trace, 1, [["initial", "director of Glass Harbour"]], found, first, said,
                ["0.1.1"], {"0.1.2": "irrelevant"}, cut=["0.1.3"],
            )  # fmt: skip
            if twice:
                chain = ["Glass Harbour", "Ilse Varn", "Salt Line", "Oskar Lind"]
                second = {
                    "0.2.1": path(chain[:3], [DIRECTED, BACK], 0.77),
                    **({"0.2.2": path(chain, [DIRECTED, BACK, STARRED], 0.69)} if far else {}),
                }
                said = {
                    "0.2.1": verdict("partial", 0.6, "another film of hers", "Who starred in Salt Line?"),
                    "0.2.2": verdict("complete", 0.92, "ends at one who starred in it"),
                }
                found = {"Salt Line": ("movie", 0.77, 0), "Oskar Lind": ("person", 0.69, 0), "Quell": ("year", 0.2, 0)}
                iteration(
                    trace, 2, [["partial:0.1.1", NEXT]], found, second, {n: v for n, v in said.items() if n in second},
                    ["0.2.2" if far else "0.2.1"], {"0.1.1": "superseded", **({"0.2.1": "prefix"} if far else {})},
                    repeated=["director of Glass Harbour"], excluded=3, without=["Quell"],
                )  # fmt: skip
            dot.set(reason="t_max", kept=1)
        if topic:
            with trace.span("CHAIN", "dot", dot=1, concept="films of one director", level="high") as dot:
                with trace.span("RETRIEVER", "anchors") as span:
                    span.set(weak=True, exact=[], types={"Salt Line": "movie", "Ilse Varn": "person"})
                    span.score([("Salt Line", 0.42), ("Ilse Varn", 0.4)])
                rules(trace, failure="two answers could not be read")
                region(trace, [2, 4, 1][: h_max + 1], {})
                drawn = {"1.1.1": path(["Salt Line", "Pia Norr"], [STARRED], 0.5)}
                said = {"1.1.1": verdict("complete", 0.7, "starred in it")}
                found = {"Pia Norr": ("person", 0.5, 0)}
                iteration(trace, 1, [["initial", QUESTION]], found, drawn, said, ["1.1.1"], {})
                dot.set(reason="exhausted", kept=1)
        with trace.span("CHAIN", "aggregate") as span:
            first = [final(0, "0.2.2", chain, [DIRECTED, BACK, STARRED], "complete", 0.92)] if far and twice else []
            last = [final(1, "1.1.1", ["Salt Line", "Pia Norr"], [STARRED], "complete", 0.7)] if topic else []
            other = (
                [] if first
                else [final(0, "0.2.1", chain[:3], [DIRECTED, BACK], "partial", 0.6)] if twice
                else [final(0, "0.1.1", ["Glass Harbour", "Ilse Varn"], [DIRECTED], "partial", 0.8)]
            )  # fmt: skip
            span.set(paths=[*first, *last, *other], no_paths=False)
            span.score([("salt-line", 0.66), ("glass-harbour", 0.61)])
        root.set(scale="cosine", passages=2)
        root.score([("salt-line", 0.66), ("glass-harbour", 0.61)])
    return trace


def nothing_trace() -> Trace:
    """A question of which nothing could be read and for which nothing was kept."""
    trace = Trace()
    with trace.span("CHAIN", "dotrag", question="Who painted the fog?", k=10, budget=None) as root:
        with trace.span("CHAIN", "select regions") as span:
            topics = ["Who painted the fog?"]
            span.set(anchors=[], topics=topics, routing=0, accepted=[["high", *topics]], named=[], failure="no answer")
        with trace.span("CHAIN", "dot", dot=0, concept="Who painted the fog?", level="high") as dot:
            with trace.span("RETRIEVER", "anchors") as span:
                span.set(weak=True, exact=[], types={"Fog": "theme"})
                span.score([("Fog", 0.1)])
            rules(trace)
            region(trace, [1], {"person": 4}, relaxed=True, truncated=True)
            iteration(trace, 1, [["initial", "painter of the fog"]], {}, {}, {}, [], {})
            dot.set(reason="exhausted", kept=0)
        with trace.span("CHAIN", "aggregate") as span:
            span.set(paths=[], no_paths=True)
        root.set(fallback="no path was kept")
    return trace


def rules(trace: Trace, **more) -> None:
    with trace.span("CHAIN", "rules") as span:
        span.set(
            query_constraints="actors of films by the same director",
            intermediate_rules=["names the director or a film of hers"],
            terminal_rules=["names who starred"],
            allowed_types=["movie", "person"],
            initial_query="director of Glass Harbour",
            **more,
        )


def region(trace: Trace, hops: Sequence[int], pruned: Mapping[str, int], relaxed=False, truncated=False) -> None:
    with trace.span("CHAIN", "region") as span:
        span.set(hops=hops, nodes=sum(hops), edges=sum(hops) - 1, pruned=pruned, filter_relaxed=relaxed,
                 truncated=truncated)  # fmt: skip


def final(dot: int, name: str, nodes: Sequence[str], relations: Sequence, label: str, confidence: float) -> dict:
    return {"id": name, "dot": dot, "nodes": list(nodes), "relations": list(relations), "label": label,
            "confidence": confidence, "passage": " → ".join(nodes) + ". So it is told."}  # fmt: skip


def film_folder(folder: Path) -> Path:
    """A folder of data that holds a few films as triples, and nothing else."""
    folder.mkdir(parents=True)
    (folder / "triples.tsv").write_text("".join(line.replace("|", "\t") + "\n" for line in TRIPLES))
    return folder
