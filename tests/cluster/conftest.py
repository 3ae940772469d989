"""Two worker processes with a real scheduler, shared by the tests of this folder, and a chat server that they reach."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "llm"))  # the chat server

import works
from chat_server import ChatServer

from workbench.cluster import Cluster


@pytest.fixture(scope="session")
def reopen() -> Iterator[Callable[..., Cluster]]:
    """`reopen()` is the cluster in use, and `reopen(True)` another one in its place."""
    pytest.importorskip("distributed")
    with ExitStack() as stack:
        opened: list[Cluster] = []

        def use(again: bool = False) -> Cluster:
            if again or not opened:
                opened.append(stack.enter_context(Cluster.open("local[2]")))
            return opened[-1]

        yield use


@pytest.fixture
def two(reopen) -> Cluster:
    """Both processes are there, and have loaded the package: an earlier test may have killed one. Dask gives up one
    that takes long to come back beside a busy browser, and then another cluster takes its place."""
    if not _whole(reopen()):
        assert _whole(reopen(True))
    return reopen()


def _whole(cluster: Cluster) -> bool:
    end = time.monotonic() + 60
    while len({pid for _, pid in cluster.spread(range(8), works.of_process)}) < 2 or cluster.processes < 2:
        if time.monotonic() > end:
            return False
    return True


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
