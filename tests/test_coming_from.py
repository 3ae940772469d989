"""What the README, the tutorial and the pages for users of other systems show is run as it stands, in a fresh folder.
`benchmarks/first_hour.py` does so in a fresh clone with a fresh environment, `make` and `pip` included."""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "exchange"))
import layouts  # noqa: E402

TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
# Verbs that other tests run: they speak of the machine, open JupyterLab, execute all notebooks, or ask a tiny model,
# whose nonsense may be no answer.
ELSEWHERE = {"doctor", "lab", "run", "--record", "--replay", "--help"}
STORY = """# Orsby

Orsby is a town. Orsby lies on the River Aldra. Nora Whitlock founded Orsby in 1821.

# River Aldra

The River Aldra flows into Lake Mira. Lake Mira lies in the north.
"""


def papers(folder: Path) -> None:
    """A PDF, a text, and a file that cannot be read."""
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure

    folder.mkdir(parents=True)
    (folder / "orsby.md").write_text(STORY, encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    with PdfPages(folder / "harbour.pdf", metadata={"Title": "Skarne"}) as pages:
        figure = Figure()
        figure.text(0.1, 0.5, "Skarne is a harbour on Lake Mira. Ilse Varnessel built the harbour of Skarne.")
        pages.savefig(figure)


def papers_with_a_question(folder: Path) -> None:
    papers(folder)
    asked = {"id": "q1", "question": "Into which lake does the river of Orsby flow?", "answers": ["Lake Mira"]}
    (folder / "questions.jsonl").write_text(json.dumps(asked) + "\n", encoding="utf-8")


# Pages whose Python asks whole question sets; tests/test_docs.py runs what begins the README.
ONLY_COMMANDS = ("README.md",)
# Page → what its reader has before (a folder, and what writes it), and what the commands end in.
PAGES = {
    "README.md": ("my/papers", papers_with_a_question, "(by rules, not by a language model)"),
    "docs/figure.md": ("my/papers", papers, "Lake Mira (by rules"),
    "docs/tutorial.md": ("my/papers", papers, "Lake Mira (by rules"),
    "docs/coming_from/hipporag.md": ("outputs", layouts.hipporag2, "Lake Mira (by rules"),
    "docs/coming_from/lightrag.md": ("rag_storage", layouts.lightrag, "Nora Whitlock (by rules"),
    "docs/coming_from/graphrag.md": ("ragtest", layouts.msgraphrag, "Nora Whitlock (by rules"),
    "docs/coming_from/pyterrier.md": (None, None, "ranking[tag=pipeline]"),
}


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """The blocks of a page in their order: commands (`sh`) and Python."""
    yield from re.findall(r"```(sh|python)\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


def run_as_shown(code: str, page: str, names: dict) -> None:
    """Run a block. What it shows without doing anything has a value."""
    exec(compile(code, page, "exec"), names)
    for statement in ast.parse(code, page).body:
        if isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Call):
            assert eval(ast.unparse(statement), names) is not None, ast.unparse(statement)


def test_every_page_is_run():
    pages = {f"docs/coming_from/{path.name}" for path in (ROOT / "docs" / "coming_from").glob("*.md")}
    assert pages - {"docs/coming_from/README.md"} < set(PAGES)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_everything_that_a_page_shows_runs(page, workbench, tmp_path, monkeypatch):
    folder, write, ends_in = PAGES[page]
    if folder:
        write(tmp_path / folder)
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "WORKBENCH_HOME"):
        monkeypatch.delenv(name, raising=False)
    names, said = {"__name__": "page"}, ""
    for language, code in blocks(page):
        if language == "python" and page in ONLY_COMMANDS:
            continue
        if language == "python":
            run_as_shown(code, page, names)
            continue
        for line in code.splitlines():
            program, *words = shlex.split(line, comments=True)
            assert program in ("git", "make", "pip", "workbench", ".venv/bin/workbench"), line
            if program == "make":
                assert set(words) <= TARGETS, line
            if program.endswith("workbench") and ELSEWHERE.isdisjoint(words):
                said += workbench(*words).output
    assert ends_in in said
    if page not in ONLY_COMMANDS:
        shown = "".join(code for language, code in blocks(page) if language == "python")
        drawn = re.findall(r'save\("([^"]+)"\)', shown)
        assert all((tmp_path / name).exists() for name in drawn)
