"""A chat server per test, and no key, address or proxy of the machine's own."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator

import pytest
from chat_server import ChatServer

from workbench.llm import engine, negotiation
from workbench.llm.chat import ChatEngine


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    negotiation.forget()  # a port may be one of an earlier test's server
    # Reading the machine's certificates takes 40 ms per client, and nothing here is encrypted.
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)


@pytest.fixture
def serve() -> Iterator[Callable[..., ChatServer]]:
    """`serve(answer)` starts a server, which ends with the test."""
    servers: list[ChatServer] = []

    def start(answer, get=None) -> ChatServer:
        servers.append(ChatServer(answer, get))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def ask() -> Callable[..., ChatEngine]:
    """`ask(server, …)` is an engine for it, which asks once only unless told otherwise."""

    def make(server: ChatServer, **options) -> ChatEngine:
        return engine(f"openai:test-model@{server.url}", **{"attempts": 1, **options})

    return make
