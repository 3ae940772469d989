"""Each finding, where all is well and where it is not; every fault has one command that fixes it."""

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


def only(what: str, folder: Path = Path("/"), **asking) -> Finding:
    """The finding of one check, which alone is made."""
    (check,) = [check for check in doctor.checks(folder, **asking) if check[1] == what]
    return doctor.look(*check)


# -- what is fixed ----------------------------------------------------------------------------------------------------


def lacks(*names: str):
    real = doctor.version

    def version(name: str) -> str:
        if name in names:
            raise PackageNotFoundError(name)
        return real(name)

    return version


FAULTS = [  # what, what is broken, part of what is found
    ("Python", ("workbench.cli.doctor.sys.version_info", (3, 10, 0)), "is needed"),
    ("packages", ("workbench.cli.doctor.version", lacks("scipy")), "scipy not inst"),
    ("encoder", ("workbench.encoding.encoder", lambda: 1 / 0), "ZeroDivisionError"),
    ("English pipeline", ("workbench.language.pipeline.nlp", lambda: 1 / 0), "ZeroDivisionError"),
    ("jupyterlab", ("workbench.cli.doctor.version", lacks("jupyterlab")), "PackageNotFoundError"),
    ("kernel python3", ("shutil.which", lambda name: None), "does not exist"),
    ("widgets of ipywidgets", ("jupyter_core.paths.jupyter_path", lambda *_: []), "without its"),
    ("folder", ("os.access", lambda *_: False), "may not be written"),
    ("disk", ("shutil.disk_usage", lambda _: SimpleNamespace(free=2**30)), "an index"),
]


@pytest.mark.parametrize(("what", "broken", "found"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_a_fault_has_a_command_that_fixes_it(what, broken, found, monkeypatch):
    assert only(what).mark == "ok"
    monkeypatch.setattr(*broken)
    finding = only(what)
    assert finding.mark == "MISSING" and finding.remedy and found in finding.found


def test_packages_are_held_against_what_is_needed(monkeypatch):
    monkeypatch.setattr(doctor, "requires", lambda name: ["scipy>=1", "numpy>=99", 'dev; extra == "dev"'])
    finding = only("packages")
    assert finding.mark == "MISSING" and "needed >=99" in finding.found and "dev" not in finding.found


def test_the_device_of_encoders(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert only("device of encoders").found == "cpu"
    monkeypatch.setenv("WORKBENCH_DEVICE", "cuda")
    finding = only("device of encoders")
    assert finding.mark == "MISSING" and finding.remedy == "unset WORKBENCH_DEVICE" and "not available" in finding.found


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
    assert only("OPENAI_API_KEY").found == "set" and KEY not in repr([only("OPENAI_API_KEY"), only("endpoint")])
    monkeypatch.delenv("OPENAI_API_KEY")
    finding = only("OPENAI_API_KEY")
    assert finding.mark == "optional" and finding.remedy.startswith("export OPENAI_API_KEY")


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
    finding = only("answer", ask=True, model="test-model")
    assert finding.mark == "MISSING" and said in finding.found and remedy in finding.remedy
    assert KEY not in repr(finding) and len(server.seen) == 1


def test_another_endpoint_needs_a_model(endpoint):
    server = endpoint(lambda asked: completion("ok"))
    finding = only("answer", ask=True)
    assert finding.mark == "MISSING" and "name a model" in finding.found and "--model MODEL" in finding.remedy
    assert not server.seen


def test_without_key_and_address_nothing_is_asked(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    finding = only("answer", ask=True)
    assert (
        finding.mark == "MISSING" and "no key" in finding.found and finding.remedy.startswith("export OPENAI_API_KEY")
    )


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
    optional = Finding("notebooks", "Chromium", "not installed", "optional", "apt-get install chromium")
    findings = [Finding("machine", evil, evil, "MISSING", evil), optional]
    monkeypatch.setattr(doctor, "examine", lambda **_: tuple(findings))
    told = workbench("doctor", code=1).output
    assert "1 of 2 things need to be fixed." in told and "MISSING" in told and "\x1b" not in told
    del findings[0]
    assert "Nothing needs to be fixed." in workbench("doctor").output
