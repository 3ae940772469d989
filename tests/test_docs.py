"""What the documents show is run, so that they cannot go stale."""

import re
import shutil
from pathlib import Path

import workbench as wb
from workbench.views.render import text_of

ROOT = Path(__file__).parents[1]


def code(document: str) -> str:
    """The first Python block of a document."""
    return blocks(document)[0]


def blocks(document: str, language: str = "python") -> list[str]:
    """All its blocks in a language."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.DOTALL)


def test_the_first_lines_of_the_readme(meridian_curated, tmp_path, monkeypatch, capfd):
    """The index that they build stands already, as after `make run`; the answer is the one that they show."""
    shutil.copytree(meridian_curated.folder, tmp_path / "indexes" / "meridian-curated")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(code("README.md"), names)
    assert names["ev"].passages and f"# {names['answer'].text}\n" in code("README.md")
    assert len(names["run"].rows) == 2 * len(names["data"].questions)


def test_the_runs_that_grow(meridian_index, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    data, engine = wb.load("meridian"), wb.engine("rules")
    names = {"wb": wb, "data": type("Data", (), {"questions": data.questions[:3]}), "engine": engine}
    names |= {"hippo": wb.method("hipporag2", meridian_index, engine), "dense": wb.method("dense", meridian_index)}
    exec(code("docs/runs.md"), names)
    (folder,) = (tmp_path / "runs").iterdir()
    assert names["run"].measures == ["f1", "ndcg@5"] and len(wb.Run(folder).rows) == 6


def test_the_method_that_is_added(meridian_index, registries, monkeypatch, tmp_path):
    """The blocks for a notebook; tests/test_register.py follows the page for a package."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "two_stage", "index": meridian_index, "dataset": wb.load("meridian")}
    for block in blocks("docs/adding_a_method.md")[:3]:
        exec(block, names)
    steps, page = names["steps"], (tmp_path / "two_stages.html").read_text("utf-8")
    assert [stage.name for stage in steps.shown] == ["bm25", "order by cosine"]
    assert "viaduct" in text_of(steps.stage("order by cosine").part).lower()
    assert "<b>bm25</b>" in page and page.count("<table>") == 2
    evidence = wb.method("two-stage[pool=20]", meridian_index).retrieve("Who built the viaduct?", k=5)
    scores = [score for _, score in evidence.ranking]
    assert len(scores) == 5 and scores == sorted(scores, reverse=True)
    assert [event.step for event in evidence.trace if event.parent == 0] == ["bm25", "order by cosine"]


def test_what_extends_the_workbench(meridian_index, registries, monkeypatch, tmp_path):
    """All blocks of the page, in their order; the text of a prompt is the file that the page says."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prompts").mkdir()
    (prompt,) = blocks("docs/extending.md", "text")
    (tmp_path / "prompts" / "helps.md").write_text(prompt, encoding="utf-8")
    names = {"__name__": "extending", "index": meridian_index}
    for block in blocks("docs/extending.md"):
        exec(block, names)
    assert names["result"].value.helps and names["result"].value.reason == "viaduct"
    assert names["answer"].reader == "titles[prompt=cot,k=3]" and len(names["answer"].passages) == 3
    assert wb.reader("titles[k=4]").steps == ("answer",)
    assert wb.steps.catalogue()["helps"] is names["HELPS"] and wb.measures.measure("brief") is names["brief"]
    assert wb.reader("direct", compress="chunks-only[budget=300]").label == "direct[compress=chunks-only[budget=300]]"
    assert "helps" in names["Careful"](wb.engine("rules")).steps and names["careful"].failure is None
    assert names["shorter"].reading.compressor == "chunks-only[budget=300]" and names["shorter"].reading.tokens <= 300
    asked = wb.records.Question("q", "?", answers=("Karl Weiss",))
    assert names["brief"](asked, names["Outcome"]([], "Karl Weiss")) == 1
    assert names["brief"](asked, names["Outcome"]([])) is None
    assert len(names["run"].rows) == 5 and names["run"].folder.parent == tmp_path / "runs"
    assert "viaduct" in names["tree"]._event.html and "<iframe" in (tmp_path / "event_tree.html").read_text()


OUTSIDE = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
DOCUMENTS = [path.relative_to(ROOT) for path in [*OUTSIDE, *sorted((ROOT / "docs").rglob("*.md"))]]


def prose(document: Path) -> list[str]:
    """The lines of a document without its code blocks and tables."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [line for line in text.splitlines() if not line.startswith(("|", "    "))]


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = (line.lstrip("# ").lower() for line in prose(document) if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere_and_prose_is_wrapped():
    for document in DOCUMENTS:
        for link, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", (ROOT / document).read_text(encoding="utf-8")):
            if "://" not in link:
                target = (ROOT / document).parent / link if link else ROOT / document
                assert target.exists(), (document, link)
                assert not anchor or anchor in anchors(target), f"{document}: {link}#{anchor}"
        assert [line for line in prose(document) if len(line) > 120] == [], document


def test_the_layers_and_methods_of_the_documents_exist():
    architecture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for place in re.findall(r"`(workbench/[\w/.]+)`", architecture):
        assert (ROOT / place).exists(), place
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in [*wb.methods.METHODS, *wb.reading.READERS]:
        assert f"`{name}`" in readme


FOLDERS = {"docs": "*.md", "benchmarks": "*.py", "workbench": "*.py", "tests": "*.py"}
SOURCES = [
    path.relative_to(ROOT)
    for path in [
        ROOT / "README.md",
        *(path for name, ending in FOLDERS.items() for path in (ROOT / name).rglob(ending)),
    ]
    if path.name not in ("traps.md", "test_docs.py")
]


def test_references_lead_somewhere():
    """Papers are cited by section, and traps by the page that lists them: `docs/traps.md`."""
    lost = re.compile(r"\(spec |[,;] spec [A-D]?\d|\btraps? T?\d", re.IGNORECASE)
    lines = ((path, line) for path in SOURCES for line in (ROOT / path).read_text(encoding="utf-8").splitlines())
    pages = re.compile(r"\[trap \d+\]\(traps\.md")
    assert [f"{path}: {line.strip()}" for path, line in lines if lost.search(pages.sub("", line))] == []
