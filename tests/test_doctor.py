"""Each finding, where all is well and where it is not; every fault has one command that mends it."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbench.cli import doctor
from workbench.cli.doctor import Finding, examine

sys.path.insert(0, str(Path(__file__).parent / "llm"))
from chat_server import ChatServer, completion, error

KEY = "sk-a-key-that-nobody-may-see"


def only(what: str, findings) -> Finding:
    (finding,) = [finding for finding in findings if finding.what == what]
    return finding


# -- what is mended ---------------------------------------------------------------------------------------------------


def lacks(*names: str):
    real = doctor.version

    def version(name: str) -> str:
        if name in names:
            raise PackageNotFoundError(name)
        return real(name)

    return version


FAULTS = [  # what, its area, what is broken, part of what is found
    ("Python", lambda: doctor._environment(None), ("workbench.cli.doctor.sys.version_info", (3, 10, 0)), "is needed"),
    ("packages", lambda: doctor._environment(None), ("workbench.cli.doctor.version", lacks("scipy")), "scipy not inst"),
    ("encoder", doctor._models, ("workbench.encoding.encoder", lambda: 1 / 0), "ZeroDivisionError"),
    ("English pipeline", doctor._models, ("workbench.language.pipeline.nlp", lambda: 1 / 0), "ZeroDivisionError"),
    ("jupyterlab", doctor._notebooks, ("workbench.cli.doctor.version", lacks("jupyterlab")), "PackageNotFoundError"),
    ("kernel python3", doctor._notebooks, ("shutil.which", lambda name: None), "does not exist"),
    ("widgets of ipywidgets", doctor._notebooks, ("jupyter_core.paths.jupyter_path", lambda *_: []), "without its"),
    ("folder", lambda: doctor._machine(Path()), ("os.access", lambda *_: False), "may not be written"),
    ("disk", lambda: doctor._machine(Path()), ("shutil.disk_usage", lambda _: SimpleNamespace(free=2**30)), "an index"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "look", "broken", "found"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_a_fault_has_a_command_that_mends_it(what, look, broken, found, monkeypatch):
    assert only(what, look()).good
    monkeypatch.setattr(*broken)
    finding = only(what, look())
    assert finding.mark == "MISSING" and finding.remedy and found in finding.found


def test_packages_are_held_against_what_is_needed(monkeypatch):
    monkeypatch.setattr(doctor, "requires", lambda name: ["scipy>=1", "numpy>=99", 'dev; extra == "dev"'])
    finding = only("packages", doctor._environment(None))
    assert not finding.good and "needed >=99" in finding.found and "dev" not in finding.found


def test_the_device_of_encoders(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert only("device of encoders", doctor._models()).found == "cpu"
    monkeypatch.setenv("WORKBENCH_DEVICE", "cuda")
    finding = only("device of encoders", doctor._models())
    assert not finding.good and finding.remedy == "unset WORKBENCH_DEVICE" and "is not there" in finding.found


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
    findings = list(doctor._endpoint())
    assert findings[0].found == "set" and KEY not in repr(findings)
    monkeypatch.delenv("OPENAI_API_KEY")
    finding = only("OPENAI_API_KEY", doctor._endpoint())
    assert finding.good and finding.mark == "optional" and finding.remedy.startswith("export OPENAI_API_KEY")


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
    finding = doctor._answer("test-model")
    assert not finding.good and said in finding.found and remedy in finding.remedy
    assert KEY not in repr(finding) and len(server.seen) == 1


def test_another_endpoint_needs_a_model(endpoint):
    server = endpoint(lambda asked: completion("ok"))
    finding = doctor._answer(None)
    assert not finding.good and "name a model" in finding.found and "--model MODEL" in finding.remedy
    assert not server.seen


def test_without_key_and_address_nothing_is_asked(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    finding = doctor._answer(None)
    assert not finding.good and "no key" in finding.found and finding.remedy.startswith("export OPENAI_API_KEY")


# -- all of them ------------------------------------------------------------------------------------------------------


def test_an_examination_asks_nobody_unless_told_to(endpoint, tmp_path):
    server = endpoint(lambda asked: completion("ok"))
    examined = examine(tmp_path)
    areas = list(dict.fromkeys(finding.area for finding in examined))
    assert not server.seen and areas == ["environment", "models", "endpoint", "notebooks", "machine"]
    assert all(finding.remedy for finding in examined if finding.mark != "ok")
    assert {finding.what for finding in examined} >= {"folder", "kernel python3", "disk"}
    assert any(f.what == "answer" for f in examine(tmp_path, ask=True, model="m")) and len(server.seen) == 1


def test_the_verb_shows_what_is_to_be_mended(workbench, monkeypatch):
    evil = "<script>alert(1)</script>\x1b[31m"
    optional = Finding("Chromium", "not installed", True, "apt-get install chromium", True, "notebooks")
    findings = [Finding(evil, evil, False, evil, area="machine"), optional]
    monkeypatch.setattr(doctor, "examine", lambda **_: tuple(findings))
    told = workbench("doctor", code=1).output
    assert "1 of 2 things are to be mended." in told and "MISSING" in told and "\x1b" not in told
    del findings[0]
    assert "Nothing is to be mended." in workbench("doctor").output
