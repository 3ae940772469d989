"""Adding to the workbench from outside: by `register`, and by the entry points of another package."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import SettingError
from workbench.testing import CHECKS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "adding_a_method.md").read_text(encoding="utf-8")
EXTENDING = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")


def write(folder: Path) -> dict:
    """The package of docs/adding_a_method.md: its files as the page shows them. Returns its pyproject.toml."""
    for name, content in re.findall(r"`([\w.]+)`(?: beside `[\w.]+`)?:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL):
        (folder / name).write_text(content, encoding="utf-8")
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def install(folder: Path, project: dict, **more: dict[str, str]) -> None:
    """What an installation leaves beside the modules: the metadata, with the entry points of the project and `more`."""
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = project["entry-points"] | {f"hopscope.{kind}": given for kind, given in more.items()}
    lines = (line for group, of_it in points.items() for line in (f"[{group}]", *map(" = ".join, of_it.items())))
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=400
    )


@pytest.mark.slow
def test_a_package_that_follows_the_page_passes_the_contract(tmp_path):
    """The contract takes half a minute in a process of its own."""
    project = write(tmp_path)
    install(tmp_path, project)
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {
        "two_stage.py", "test_two_stage.py", "pyproject.toml",
    }  # fmt: skip
    assert 25 <= len((tmp_path / "two_stage.py").read_text(encoding="utf-8").splitlines()) <= 40
    tested = run("-m", "pytest", "-q", "-p", "no:cacheprovider", folder=tmp_path)
    assert tested.returncode == 0 and f"{2 * len(CHECKS)} passed" in tested.stdout, tested.stdout[-3000:]


# -- what each part takes, as docs/extending.md says ------------------------------------------------------------------


def block(page: str, text: str, end: str = r"\Z", language: str = "python") -> str:
    """The block of a page that holds a text, up to what only tries it out."""
    (found,) = [one for one in re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL) if text in one]
    return re.split(end, found, maxsplit=1)[0].rstrip() + "\n"


def write_parts(folder: Path) -> dict[str, int]:
    """The files of the page's last table, each the block that shows it. Returns file → lines."""
    imports = block(EXTENDING, "from workbench.llm.step import Step")
    helps = block(EXTENDING, "HELPS = Step", r"\nengine = ")
    files = {
        "two_stage.py": block(PAGE, "class TwoStage"),
        "two_stages.py": block(PAGE, "def two_stages", r"\nsteps = "),
        "prompts/helps.md": block(EXTENDING, "=== system", language="text"),
        "helps.py": f"{imports}\n\n{helps}",
        "titles.py": block(EXTENDING, "class Titles", r"\nwb\.register"),
        "brief.py": block(EXTENDING, "def brief", r"\nwb\.register"),
        "papers/lakes.csv": re.search(r"(?: {4}(?:table|\d),.*\n)+", EXTENDING)[0].replace("    ", ""),
        "papers/lakes.toml": block(EXTENDING, 'title = "Lakes"', language="toml"),
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return {name: content.count("\n") for name, content in files.items()}


def test_each_part_takes_the_files_and_lines_that_the_page_says(tmp_path):
    rows = EXTENDING.partition("## What each takes")[2]
    stated = [re.findall(r"`([\w./]+)`|(\d+)", row) for row in re.findall(r"^\| .*`.*\|$", rows, re.MULTILINE)]
    names = [name for row in stated for name, _ in row if name]
    lines = [int(number) for row in stated for _, number in row if number]
    written = {name.removeprefix("papers/"): count for name, count in write_parts(tmp_path).items()}
    assert dict(zip(names, lines, strict=True)) == written


USE = """
from pathlib import Path
import json
import workbench as wb
from workbench import published
from workbench.views.widget import StageStepper
from two_stages import two_stages

data = wb.load("meridian")
index = wb.Index.build(data, None, "index", layers=["passages"], progress=False)
method = wb.method("two-stage[pool=20]", index)
steps = StageStepper(index, two_stages, data.questions, kind=method.label)
steps.ask("Who built the viaduct?")
evidence = method.retrieve("Who built the viaduct?", k=5)
answer = wb.reader("titles[k=3]", wb.engine("rules")).read("Who built the viaduct?", evidence)
run = wb.evaluate(data.questions[:2], [method], wb.reader("titles"), "run", measures=["brief"], progress=False)
step = wb.steps.catalogue()["helps"]
(helps,) = wb.engine("rules").run(step, [step.input("Who built the viaduct?", "The viaduct was built by Weiss.")])
tables = wb.tables
published.HERE, published._fingerprints = Path("papers"), dict
(vectors, words) = tables("lakes").cells
print(json.dumps({
    "passages": len(evidence.passages), "stages": [stage.name for stage in steps.shown], "reader": answer.reader,
    "measured": len(run.rows), "helps": helps.value.helps, "printed": [vectors.published, words.published]
}))
"""


@pytest.mark.slow
def test_each_part_of_the_page_works_from_a_package_of_its_own(tmp_path):
    """It builds an index with the encoder, in a process of its own."""
    write_parts(tmp_path)
    install(
        tmp_path, write(tmp_path), readers={"titles": "titles:Titles"}, measures={"brief": "brief:brief"},
        steps={"helps": "helps:HELPS"}
    )  # fmt: skip
    used = run("-c", USE, folder=tmp_path)
    assert used.returncode == 0, used.stderr[-3000:]
    assert json.loads(used.stdout) == {
        "passages": 5, "stages": ["bm25", "order by cosine"], "reader": "titles[k=3]", "measured": 2, "helps": True,
        "printed": [0.61, 0.52]
    }  # fmt: skip


MEASURE = '''
def answered(question, outcome):
    """1 where there is an answer of any kind."""
    return None if outcome.answer is None else float(bool(outcome.answer))
'''
LOOK = """
import json
from pathlib import Path
from typer.testing import CliRunner
import workbench as wb
from workbench.cli.app import app
from workbench.cli.doctor import checks, look

len(wb.reading.READERS)  # a look-up: the broken one is warned of
said = {verb: CliRunner().invoke(app, [verb, "--json"]).stdout for verb in ("methods", "readers", "measures")}
said = {verb: json.loads(rows) for verb, rows in said.items()}
said["table"] = CliRunner().invoke(app, ["methods"]).stdout
broken = [look(*check) for check in checks(Path.cwd()) if check[1].startswith("reader ")]
said["missing"] = [[one.what, one.found, one.remedy] for one in broken]
print(json.dumps(said))
"""


def test_another_package_adds_without_a_change_here_and_what_is_broken_is_named(tmp_path):
    (tmp_path / "measures_of_mine.py").write_text(MEASURE)
    install(
        tmp_path,
        write(tmp_path),
        readers={"broken": "no_such_module:Reader"},
        measures={"answered": "measures_of_mine:answered"},
    )
    looked = run("-c", LOOK, folder=tmp_path)
    said = json.loads(looked.stdout)
    packages = {row["method"]: row["package"] for row in said["methods"]}
    assert packages.pop("two-stage") == "hopscope-two-stage" and set(packages.values()) == {"hopscope"}
    assert packages.keys() == set(wb.methods.METHODS) and "hopscope-two-stage" in said["table"]
    (measure,) = [row for row in said["measures"] if row["package"] != "hopscope"]
    assert (measure["measure"], measure["says"]) == ("answered", "1 where there is an answer of any kind.")
    assert [row["reader"] for row in said["readers"]] == list(wb.reading.READERS), "the broken one is left out"
    assert "'broken' of hopscope-two-stage is left out" in looked.stderr
    ((what, found, remedy),) = said["missing"]
    assert what == "reader broken of hopscope-two-stage" and "no_such_module" in found
    assert remedy.endswith("-m pip install --upgrade hopscope-two-stage")


class Fixed(wb.methods.Method):
    """Nothing, whatever is asked."""

    name, paper, scale = "fixed", "none", "none"

    def search(self, question, k, trace):
        return wb.records.Evidence(question, self.label, self.scale, ())


def test_a_registered_method_goes_by_its_name(registries, tiny_index):
    assert wb.register(Fixed) is Fixed
    assert wb.method("fixed", tiny_index).retrieve("?").passages == ()
    assert wb.register(Fixed) is Fixed, "a cell that is run twice"
    again = type("Fixed", (Fixed,), {"__module__": Fixed.__module__, "__qualname__": "Fixed"})
    assert wb.register(again) is wb.methods.METHODS["fixed"] is again, "a cell that was edited"


def test_a_taken_name_is_refused(registries):
    class Dense(Fixed):
        name = "dense"

    with pytest.raises(SettingError, match=r"method 'dense' already exists, in workbench.methods.dense.Dense; give"):
        wb.register(Dense)

    def f1(question, outcome):
        return 0.0

    for kind, thing in (("measures", f1), ("encoders", type("E", (), {"name": "minilm", "encode": 0})),
                        ("steps", wb.steps.catalogue()["answer"])):  # fmt: skip
        with pytest.raises(SettingError, match=f"the {kind[:-1]} .* already exists"):
            wb.register(thing, kind=kind)


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (3, "3 cannot be registered; kind= should be one of methods, readers"),
        (lambda question, outcome: 0, "'<lambda>' is not a valid name of a measure"),
        (type("Nameless", (Fixed,), {"name": "a b"}), "'a b' is not a valid name of a method"),
        (type("Half", (), {"name": "half", "retrieve": print, "search": print}), "the method 'half' has no `paper`"),
    ],
)
def test_what_cannot_be_registered_is_told_why(thing, said, registries):
    with pytest.raises(SettingError, match=said):
        wb.register(thing)


def test_every_kind_is_told_apart_and_found(registries, tiny, tmp_path):
    from tiny import TinyEncoder

    from workbench.llm.step import Step
    from workbench.reading.compression import COMPRESSORS, GraphWalk, compressor
    from workbench.steps import catalogue

    @wb.register
    def brief(question, outcome):
        """1 where the answer is short."""
        return 1.0

    assert wb.measures.measure("brief") is brief and wb.measures.is_known("brief")

    class Titles(wb.reading.Direct):
        name = "titles"

    class Shorter(GraphWalk):
        name = "shorter"

    class Own(TinyEncoder):
        name = "own"
        settings = {"spec": "own"}

    step = Step("own-step", catalogue()["answer"].output, lambda value: [], lambda values: [])
    for thing in (Titles, Shorter, Own, step):
        wb.register(thing)
    assert type(wb.reader("titles[k=3]")) is Titles and wb.reader("titles[k=3]").label == "titles[k=3]"
    assert type(compressor("shorter[budget=30]")) is Shorter and "shorter" in COMPRESSORS
    assert catalogue()["own-step"] is step
    index = wb.Index.build(tiny, None, tmp_path / "own", encoder="own", layers=["passages"], progress=False)
    assert type(wb.Index.open(index.folder).encoder) is Own, "its manifest names the encoder"
