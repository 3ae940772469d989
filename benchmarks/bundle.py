"""A bundle of a large run, written and then opened from the disk in Chromium: its size, seconds until it can be used,
frames while its list is scrolled, milliseconds from question to question, and every request that is made.

    python benchmarks/bundle.py [--questions 1000] [--methods hipporag2 bdtr dotrag] [--run FOLDER] [--keep FOLDER]

The run is a real one over the bundled corpus, by rules, whose rows, traces and contexts are then repeated under other
ids until there are enough. In every copy names and numbers are others, so that no copy compresses into another."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
import time
import zlib
from pathlib import Path

from tqdm import tqdm

import workbench as wb
from workbench.evaluation.run import summed, trace_name
from workbench.evaluation.sums import read_questions_of

NAMED = re.compile(r"(?<![\\\w])(?:[A-Z][a-z]{2,}|\d{3,})(?!\w)")
LETTERS, DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND"),
)
SCROLL = """async () => {
  const list = document.getElementById("list"), gaps = [];
  let last = performance.now();
  const started = last, whole = list.scrollHeight - list.clientHeight;
  while (performance.now() - started < 3000) {
    list.scrollTop = whole * (performance.now() - started) / 3000;
    const now = await new Promise(requestAnimationFrame);
    gaps.push(now - last);
    last = now;
  }
  gaps.sort((a, b) => a - b);
  return {frames: gaps.length / 3, worst: gaps[gaps.length - 1]};
}"""

MOVE = """async () => {
  const list = document.getElementById("list"), place = () => document.querySelector(".move span").innerText;
  const started = performance.now();
  for (let number = 0; number < 30; number++) {
    const before = place();
    list.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowUp", bubbles: true}));
    if (number === 0) list.dispatchEvent(new KeyboardEvent("keydown", {key: "End", bubbles: true}));
    while (place() === before) await new Promise(requestAnimationFrame);
  }
  return (performance.now() - started) / 30;
}"""
SEARCH = """async () => {
  const find = document.getElementById("find"), count = document.getElementById("count"), started = performance.now();
  find.value = "which bridge";
  find.dispatchEvent(new Event("input"));
  while (!count.innerText.includes(" of ")) await new Promise(requestAnimationFrame);
  return performance.now() - started;
}"""


def altered(text: str, copy: int) -> str:
    """The same text about others: its names and numbers are exchanged, letter by letter, alike in the whole copy."""

    def other(found: re.Match[str]) -> str:
        word = found[0]
        seed = zlib.crc32(f"{copy} {word}".encode())
        alphabet = DIGITS if word[0].isdigit() else LETTERS
        made = "".join(alphabet[(seed >> (at % 24)) % len(alphabet)] for at in range(len(word)))
        return made.replace("0", "1") if alphabet is DIGITS else made.capitalize()

    return NAMED.sub(other, text) if copy else text


def enlarged(source: Path, target: Path, questions: int) -> wb.Run:
    """A run of so many questions, made of copies of another."""
    run = wb.Run(source)
    for name in ("traces", "contexts"):
        (target / name).mkdir(parents=True)
    asked, rows = [], []
    for number in tqdm(range(questions), desc="copies", unit="question"):
        copy, at = divmod(number, len(run.questions))
        question = run.questions[at]
        stored = json.loads((source / "questions.jsonl").read_text("utf-8").splitlines()[at])
        asked.append(json.loads(altered(json.dumps(stored), copy)) | {"id": f"{question.id}-{copy}"})
        asked[-1]["support"] = stored["support"]
        for row in (row for row in run.rows if row["question_id"] == question.id):
            made = json.loads(json.dumps(row)) | {"question_id": f"{question.id}-{copy}"}
            made["answer"] = row["answer"] and altered(row["answer"], copy)
            for part in ("context", "retrieved"):
                if name := row[part]:
                    made[part] = f"{copy}-{name}"
                    text = (source / "contexts" / name).read_text("utf-8")
                    (target / "contexts" / made[part]).write_text(altered(text, copy), "utf-8")
            trace = (source / "traces" / trace_name(question.id, row["method"])).read_text("ascii")
            (target / "traces" / trace_name(made["question_id"], row["method"])).write_text(
                altered(trace, copy), "ascii"
            )
            rows.append(made)
    for name, lines in (("questions", asked), ("results", rows)):
        (target / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "ascii")
    config = json.loads((source / "run.json").read_text("utf-8"))
    config = summed(config, read_questions_of(target))
    (target / "run.json").write_text(json.dumps(config), "utf-8")
    return wb.Run(target)


def real(methods: list[str], folder: Path) -> Path:
    """A run over the bundled corpus, by rules."""
    data, engine = wb.load("meridian"), wb.engine("rules")
    index = wb.Index.build(data, engine, layers=["passages", "facts", "synonyms", "typed"])
    asked = [wb.method(spec, index, engine) for spec in methods]
    wb.evaluate(data.questions[:60], asked, wb.reader("direct[compress=graph-walk]", engine, index=index), folder)
    return folder


def opened(page_file: Path) -> dict[str, float | int | str]:
    """What Chromium makes of it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1400, "height": 950})
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        started = time.perf_counter()
        page.goto(page_file.as_uri() + "#questions", wait_until="commit")
        page.wait_for_selector("body[data-ready]", timeout=60_000)
        ready = time.perf_counter() - started
        page.wait_for_selector(".column", timeout=60_000)
        first = time.perf_counter() - started
        scrolled = page.evaluate(SCROLL)
        moved, searched = page.evaluate(MOVE), page.evaluate(SEARCH)
        browser.close()
    return {
        "seconds until it can be used": round(ready, 2), "seconds until the first question": round(first, 2),
        "frames a second while scrolling": round(scrolled["frames"], 1), "longest frame, ms": round(scrolled["worst"]),
        "ms from question to question": round(moved), "ms of a search": round(searched),
        "requests": len(asked), "of these to a network": sum(not url.startswith("file:") for url in asked),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--methods", nargs="+", default=["hipporag2", "bdtr", "dotrag"])
    parser.add_argument("--run", type=Path, help="a run with traces instead of one that is made")
    parser.add_argument("--keep", type=Path, help="write the bundle there and keep it")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run = enlarged(asked.run or real(asked.methods, place / "real"), place / "large", asked.questions)
        print(f"{len(run.questions):,} questions × {len(run.methods)} methods: {', '.join(run.methods)}")
        for name in ("bundle", "bundle.html"):
            target = (asked.keep or place) / name
            started = time.perf_counter()
            made = wb.bundle(run, out=target, title="a large run")
            seconds = time.perf_counter() - started
            size = sum(one.stat().st_size for one in ([made] if made.is_file() else made.rglob("*")) if one.is_file())
            print(f"\n{name}: {size / 1e6:.1f} MB, written in {seconds:.0f} s")
            for what, value in opened(made if made.is_file() else made / "index.html").items():
                print(f"  {what}: {value}")


if __name__ == "__main__":
    main()
