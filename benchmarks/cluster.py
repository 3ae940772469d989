"""Two workers against one process, when every answer of the model takes some time; and with a worker that is killed.

    python benchmarks/cluster.py [--latency .3] [--concurrency 4] [--passages 256] [--questions 64]

The model is a server in a process of its own that waits `--latency` seconds and then writes an answer which depends on
the request alone. One process asks `--concurrency` requests at a time, and so does each of the two workers: that is the
fair peer, since one process could have more in flight as well, up to what the server bears. Vectors are hashed words.
Prints seconds with the workers ready (their start is a line of its own), and whether all files are the same."""

import argparse
import json
import multiprocessing
import os
import re
import signal
import tempfile
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import workbench as wb
from workbench.cluster import Cluster
from workbench.data import Dataset
from workbench.records import Passage, Question
from workbench.spread import over
from workbench.testing.data import HashEncoder

WORKERS = 2
NAMES = ("Orsby", "Quell", "Tarn Hall", "Lake Mira", "Aldra", "Nora Whitlock", "Fenwick")


def made(passages: int, questions: int) -> Dataset:
    texts = (f"{NAMES[at % 7]} {at} lies near {NAMES[at * 3 % 7]} {at // 2}." for at in range(passages))
    corpus = tuple(Passage(f"p{at}", f"{NAMES[at % 7]} {at}", text) for at, text in enumerate(texts))
    asked = (Question(f"q{at}", f"What lies near {NAMES[at % 7]} {at}?", (NAMES[0],)) for at in range(questions))
    return Dataset("cluster", corpus, tuple(asked))


# -- the model --------------------------------------------------------------------------------------------------------


def serve(latency: float, port) -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            time.sleep(latency)
            body = json.dumps(completion(answer(asked))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # a killed worker has left
                self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.request_queue_size = True, 128
    port.send(server.server_port)
    server.serve_forever()


def answer(asked: dict) -> str:
    question = asked["messages"][-1]["content"]
    if "response_format" not in asked:
        return "Thought: it is said so.\nAnswer: Orsby"
    names = list(dict.fromkeys(re.findall(rf"(?:{'|'.join(NAMES)}) \d+", question)))
    schema = asked["response_format"]["json_schema"]["schema"]
    known = {"named_entities": names, "triples": [[names[0], "lies near", one] for one in names[1:]] if names else []}
    return json.dumps({name: known.get(name, filled(part, question)) for name, part in schema["properties"].items()})


def filled(schema: dict, text: str):
    kinds = {"string": text[:200], "integer": 1, "number": 1, "boolean": False}
    if schema.get("type") == "array":
        return [filled(schema["items"], text)]
    if schema.get("type") == "object":
        return {name: filled(part, text) for name, part in schema["properties"].items()}
    return schema["enum"][0] if "enum" in schema else kinds.get(schema.get("type"))


def completion(content: str) -> dict:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


# -- what is measured -------------------------------------------------------------------------------------------------


def build(data: Dataset, url: str, folder: Path, concurrency: int) -> tuple[float, Path]:
    engine = wb.engine(f"openai:m@{url}", concurrency=concurrency)
    started = time.perf_counter()
    wb.Index.build(data, engine, folder, encoder=HashEncoder(), layers=["facts"], progress=False)
    return time.perf_counter() - started, folder


def evaluate(data: Dataset, url: str, index: Path, folder: Path, concurrency: int) -> tuple[float, Path]:
    engine = wb.engine(f"openai:m@{url}", concurrency=concurrency)
    opened = wb.Index.open(index, HashEncoder())
    methods, reader = [wb.method("bdtr[backbone=dense]", opened, engine)], wb.reader("direct[k=3]", engine)
    started = time.perf_counter()
    wb.evaluate(data.questions, methods, reader, folder, progress=False)
    return time.perf_counter() - started, folder


def contents(folder: Path) -> dict[str, bytes]:
    apart = ("timings.jsonl", "usage.jsonl", ".lock")
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if not name.endswith(apart)}


def killed(cluster: Cluster, after: float) -> threading.Timer:
    """Kills one of the workers in so many seconds."""
    timer = threading.Timer(after, os.kill, (cluster.pids[0], signal.SIGKILL))
    timer.start()
    return timer


def compared(what: str, one: tuple[float, Path], two: tuple[float, Path], dead: tuple[float, Path]) -> dict:
    return {
        f"{what}: one process, s": round(one[0], 2),
        f"{what}: two workers, s": round(two[0], 2),
        f"{what}: times as fast": round(one[0] / two[0], 2),
        f"{what}: same bytes": contents(one[1]) == contents(two[1]),
        f"{what}: one worker killed, s": round(dead[0], 2),
        f"{what}: same bytes with a killed worker": contents(one[1]) == contents(dead[1]),
    }


def measure(latency: float, concurrency: int, passages: int, questions: int) -> dict:
    receiving, sending = multiprocessing.Pipe(False)
    server = multiprocessing.Process(target=serve, args=(latency, sending), daemon=True)
    server.start()
    url, data = f"http://127.0.0.1:{receiving.recv()}/v1", made(passages, questions)
    small = made(8 * concurrency, 2 * concurrency)
    with tempfile.TemporaryDirectory() as work:
        place = Path(work)
        index = build(small, url, place / "small", concurrency)[1]  # imports, connections, what the endpoint takes
        evaluate(small, url, index, place / "small-run", concurrency)
        builds = [build(data, url, place / "one", concurrency)]
        runs = [evaluate(data, url, place / "one", place / "run-one", concurrency)]
        started = time.perf_counter()
        with Cluster.open(f"local[{WORKERS}]") as cluster, over(cluster):
            build(small, url, place / "small-2", concurrency)
            evaluate(small, url, index, place / "small-run-2", concurrency)
            ready = time.perf_counter() - started
            for name in ("two", "dead"):
                timer = killed(cluster, builds[0][0] / 4) if name == "dead" else None
                builds.append(build(data, url, place / name, concurrency))
                assert timer is None or timer.finished.is_set()
                timer = killed(cluster, runs[0][0] / 4) if name == "dead" else None
                runs.append(evaluate(data, url, place / "one", place / f"run-{name}", concurrency))
                assert timer is None or timer.finished.is_set()
        found = {**compared("index", *builds), **compared("evaluate", *runs)}
    server.kill()
    said = {"latency, s": latency, "requests at a time, each process": concurrency, "workers": WORKERS}
    return {**said, "passages": passages, "questions": questions, "workers ready after, s": round(ready, 1), **found}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--latency", type=float, default=0.3)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--passages", type=int, default=256)
    parser.add_argument("--questions", type=int, default=64)
    print(json.dumps(measure(**vars(parser.parse_args())), indent=1))
