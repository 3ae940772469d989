"""What the tests share: tiny and real indexes, the shared benchmark data, and a fence around the network."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tiny import TinyEncoder, tiny_dataset

import workbench as wb
from workbench.data import Dataset
from workbench.encoding import Encoder
from workbench.index import Index
from workbench.registry import KINDS

# Two cores shared with others make single examples slow now and then; that is no failure.
settings.register_profile(
    "workbench", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("workbench")


@pytest.fixture
def tiny() -> Dataset:
    return tiny_dataset()


@pytest.fixture
def tiny_encoder() -> Encoder:
    return TinyEncoder()


@pytest.fixture
def tiny_index(tiny, tmp_path) -> Index:
    return Index.build(tiny, None, tmp_path / "tiny", encoder=TinyEncoder(), progress=False)


@pytest.fixture(scope="session")
def meridian_index(tmp_path_factory) -> Index:
    """The bundled corpus with the real encoder and the rules engine, built once; not to be changed by a test."""
    folder = tmp_path_factory.mktemp("indexes") / "meridian"
    return Index.build(wb.load("meridian"), wb.engine("rules"), folder, progress=False)


@pytest.fixture
def registries() -> Iterator[None]:
    """Whatever a test registers is gone after it."""
    before = {kind: dict(known.registry._things) for kind, known in KINDS.items()}
    yield
    for kind, known in KINDS.items():
        known.registry._things.clear()
        known.registry._things.update(before[kind])


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of benchmark data and reference values that lies beside a checkout of the project."""
    folder = Path(os.environ.get("HOPSCOPE_SHARED") or Path(__file__).parents[2] / "shared")
    if not folder.is_dir():
        pytest.skip(f"no shared benchmark data in {folder}; set HOPSCOPE_SHARED to the folder that holds it")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _no_network():
    """Any connection that would leave this machine fails at once, so that no test can come to need the network."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _only_loopback(getattr(socket.socket, name)))
        yield


@pytest.fixture(scope="session", autouse=True)
def _interrupts():
    """A shell that runs this in the background has it ignore Ctrl-C, and every process that it starts as well."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _no_flushing():
    """Waiting for the disk takes a third of a small build, and a test that loses its power has failed anyway."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


def _only_loopback(connect):
    def guarded(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
            raise OSError(f"a test tried to reach {address[0]!r}; tests must not need the network")
        return connect(self, address)

    return guarded


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
