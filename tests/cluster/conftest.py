"""Two worker processes with a real scheduler, shared by the tests of this folder, and a chat server that they reach."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "llm"))  # the chat server

import works
from chat_server import ChatServer

from workbench.cluster import Cluster


@pytest.fixture(scope="session")
def local() -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    with Cluster.open("local[2]") as cluster:
        yield cluster


@pytest.fixture
def two(local) -> Cluster:
    """Both processes are there, and have loaded the package: an earlier test may have killed one."""
    end = time.monotonic() + 60
    while len({pid for _, pid in local.spread(range(8), works.of_process)}) < 2 or local.processes < 2:
        assert time.monotonic() < end
    return local


@pytest.fixture
def serve(monkeypatch) -> Iterator[Callable[..., ChatServer]]:
    """`serve(answer)` starts a server, which ends with the test."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    servers: list[ChatServer] = []

    def start(answer) -> ChatServer:
        servers.append(ChatServer(answer))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()
