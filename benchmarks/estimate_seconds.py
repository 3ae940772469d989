"""The error of an estimate from a small sample, seconds included; `estimates.py` has every method, reader and layer.

    python benchmarks/estimate_seconds.py [--data meridian] [--sample 8] [--questions 20]

Runs once with rules and once with a local endpoint that imitates a model: names and facts in proportion to the passage,
tokens counted as cl100k, 20 ms plus 0.5 ms per token of the answer. Prints estimated and metered values as a table of
ratios (estimated / actual). Exits with 1 if calls differ at all, tokens or money by more than a factor of 1.25, or
seconds by more than a factor of 3: the machine may be busy, and the rules keep parses of known passages, which a sample
does not have.
"""

import argparse
import itertools
import json
import re
import sys
import tempfile
import time
from pathlib import Path

import workbench as wb
from workbench import tokens
from workbench.evaluation.estimate import Estimate, estimate_build, estimate_run
from workbench.llm.step import Usage

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "llm"))
from chat_server import ChatServer, completion

ALLOWED = {"calls": 1.0, "prompt_tokens": 1.25, "completion_tokens": 1.25, "money": 1.25, "seconds": 3.0}


def model(asked: dict) -> tuple:
    """Names are the capitalised words of the passage; each is linked to the next."""
    question = asked["messages"][-1]["content"]
    names = list(dict.fromkeys(re.findall(r"[A-Z]\w+(?: [A-Z]\w+)*", question)))
    schema = json.dumps(asked.get("response_format", {}))
    if "named_entities" in schema:
        said = {"named_entities": names}
    elif "triples" in schema:
        said = {"triples": [[a, "is followed by", b] for a, b in itertools.pairwise(names)]}
    elif "facts" in schema:
        said = {"facts": json.loads(question.partition("Candidate facts: ")[2])[:2]}
    else:
        said = None
    text = json.dumps(said, ensure_ascii=False) if said else f"Thought: {question[-300:]}\nAnswer: {names[0]}"
    written = tokens.count(text)
    time.sleep(0.02 + 0.0005 * written)
    return completion(text, prompt=sum(tokens.count(m["content"]) for m in asked["messages"]), completion=written)


def compare(what: str, estimate: Estimate, used: Usage, seconds: float) -> list[tuple[str, str, float, float]]:
    print(estimate, "\n")
    taken = {name: getattr(used, name) for name in ALLOWED} | {"seconds": seconds}
    total = estimate.total
    return [(what, name, getattr(total, name).value, taken[name]) for name in ALLOWED]


def asking(kind: str, server: ChatServer):
    return wb.engine("rules") if kind == "rules" else wb.engine(f"openai:gpt-4o-mini@{server.url}", api_key="none")


def measure(kind: str, data, sample: int, questions: int, folder: Path, server: ChatServer) -> list[tuple]:
    nothing, rows = kind == "rules", []
    estimate = estimate_build(data, asking(kind, server), sample, folder / f"{kind}-index")
    engine, started = asking(kind, server), time.perf_counter()
    index = wb.Index.build(data, engine, folder / f"{kind}-index", progress=False)
    seconds = time.perf_counter() - started
    rows += compare(f"{kind}: build", estimate, Usage() if nothing else engine.meter.total, seconds)

    def arguments(engine):
        return data.questions[:questions], [wb.method(name, index, engine) for name in ("hipporag2", "dense")], (
            wb.reader("direct", engine)
        )  # fmt: skip

    estimate = estimate_run(*arguments(asking(kind, server)), sample)
    engine = asking(kind, server)
    asked, started = arguments(engine), time.perf_counter()
    wb.evaluate(*asked, folder / f"{kind}-run", progress=False)
    seconds = time.perf_counter() - started
    return rows + compare(f"{kind}: run", estimate, Usage() if nothing else engine.meter.total, seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="meridian")
    parser.add_argument("--sample", type=int, default=8)
    parser.add_argument("--questions", type=int, default=20)
    asked = parser.parse_args()
    data, server = wb.load(asked.data), ChatServer(model)
    tokens.count("warm")
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            row
            for kind in ("rules", "endpoint")
            for row in measure(kind, data, asked.sample, asked.questions, Path(folder), server)
        ]
    server.stop()
    outside = 0
    print(f"{'':16} {'':18} {'estimated':>12} {'taken':>12} {'ratio':>7}  allowed")
    for what, name, said, taken in rows:
        ratio = said / taken if taken else 1.0 if not said else float("inf")
        allowed = ALLOWED[name]
        held = 1 / allowed <= ratio <= allowed
        outside += not held
        print(
            f"{what:16} {name:18} {said:12,.4g} {taken:12,.4g} {ratio:7.2f}  {allowed:g}{'' if held else '  OUTSIDE'}"
        )
    return int(outside > 0)


if __name__ == "__main__":
    sys.exit(main())
