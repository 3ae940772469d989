"""Traces of iterative retrieval written by hand, after the contract of `workbench.methods.iterative`."""

from __future__ import annotations

from workbench.trace import Trace

QUESTION = "Which lake does the river at Orsby flow into?"


def ranking(*ids: str) -> list[tuple[str, float]]:
    """The first of ids has the score 1, and each further one a tenth less."""
    return [(name, 1 - at / 10) for at, name in enumerate(ids)]


def search(trace: Trace, origin: str, query: str, *ids: str, **outputs) -> None:
    with trace.span("CHAIN", "search", origin=origin, query=query) as span:
        with trace.span("CHAIN", "dense", question=query, k=200, budget=None):
            pass
        span.set(scale="cosine", found=len(ids), **outputs)
        span.score(ranking(*ids))


def pool(trace: Trace, *ids: str, risen: dict | None = None, queries: dict | None = None, mixed: bool = False) -> None:
    with trace.span("CHAIN", "pool") as span:
        span.set(size=len(ids), scale="cosine", mixed=mixed, risen=risen or {}, queries=queries or {})
        span.score(ranking(*ids))


def think(trace: Trace, number: int, texts: dict, queries: list, done: bool = False, given: bool = False, **said):
    with trace.span("CHAIN", "think", round=number) as span:
        span.set(texts=texts, queries=queries, done=done, given=given, **said)


def bdtr_trace(level: str = "full") -> Trace:
    """One round after the first; p2 comes from rank 4 to 2, and from there to 1 because the verifier chose it."""
    trace = Trace(level)
    with trace.span("CHAIN", "bdtr[iterations=1]", question=QUESTION, k=10, budget=None) as root:
        with trace.span("CHAIN", "round 0", round=0):
            search(trace, "question", QUESTION, "p1", "p5", "p3", "p2")
            pool(trace, "p1", "p5", "p3", "p2", risen={"5": ["p1", "p5", "p3", "p2"]}, queries={"p1": QUESTION})
        with trace.span("CHAIN", "round 1", round=1):
            think(trace, 1, {"fast": "Where does it flow?", "slow": "River Aldra, flows into"},
                  [["fast", "Where does it flow?"], ["slow", "River Aldra, flows into"]])  # fmt: skip
            search(trace, "fast", "Where does it flow?", "p1", "p8", fallback="no fact was kept")
            search(trace, "slow", "River Aldra, flows into", "p2", "p3")
            pool(trace, "p1", "p2", "p5", "p3", "p8", risen={"5": ["p8"]}, queries={"p2": "River Aldra, flows into"})
        with trace.span("CHAIN", "reasoning chain") as span:
            span.set(chain="Orsby lies on the Aldra.", steps=["It lies there.", "It flows."], bridges=["River Aldra"])
        with trace.span("RERANKER", "verify", passages=["p1", "p2", "p5", "p3", "p8"]) as span:
            span.set(selected=["p2"], failures=0)
        with trace.span("RERANKER", "promote") as span:
            span.set(moved=[["p2", 2, 1]])
        with trace.span("RERANKER", "cut") as span:
            span.set(mu=0.8, sigma=0.14, threshold=0.94, policy="keep", kept=["p2", "p1"], filled=["p5"], selected=3)
            span.score([("p2", 0.9), ("p1", 1.0), ("p5", 0.8), ("p3", 0.7), ("p8", 0.6)])
        root.score([("p2", 0.9), ("p1", 1.0)])
    return trace


def ircot_trace() -> Trace:
    """The second thought has the answer, so that nothing is sought in round 2."""
    trace = Trace()
    with trace.span("CHAIN", "ircot[iterations=4]", question=QUESTION, k=2, budget=None) as root:
        with trace.span("CHAIN", "round 0", round=0):
            search(trace, "question", QUESTION, "p1", "p3")
            pool(trace, "p1", "p3")
        with trace.span("CHAIN", "round 1", round=1):
            think(trace, 1, {"thought": "It lies on the Aldra."}, [["thought", "It lies on the Aldra."]], given=True)
            search(trace, "thought", "It lies on the Aldra.", "p2")
            pool(trace, "p2", "p1", "p3", mixed=True)
        with trace.span("CHAIN", "round 2", round=2):
            think(trace, 2, {"thought": "So the answer is: Lake Mira."}, [["thought", "So the …"]], done=True)
        root.set(fallback="scores of different scales met as minmax(cosine, ppr)")
        root.score([("p2", 1.0), ("p1", 0.9)])
    return trace
