"""Downloads against a server on this machine: whole or not at all, and never changed unnoticed."""

from __future__ import annotations

import hashlib
import http.server
import multiprocessing
import os
import signal
import socketserver
import threading
import time
from dataclasses import replace

import pytest

from workbench.data.origin import SourceFile
from workbench.data.sources import fetch as fetching
from workbench.data.sources.entry import Converted, Entry, File
from workbench.data.sources.fetch import fetch, source_folder
from workbench.errors import DataError

BODY = b'[{"title": "Orsby", "text": "A town."}]\n' * 2000
HASH = hashlib.sha256(BODY).hexdigest()


class Answers(http.server.BaseHTTPRequestHandler):
    """/good, /moved (to /good), /torn (half of what it promises), /stalls, /slow (a little at a time), else 404."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/good")
            self.end_headers()
        elif self.path in ("/good", "/torn", "/stalls", "/slow"):
            self.send_response(200)
            self.send_header("Content-Length", str(len(BODY)))
            self.end_headers()
            self._send()
        else:
            self.send_error(404)

    def _send(self):
        self.wfile.write(BODY[:20_000])
        if self.path == "/stalls":
            self.server.released.wait(10)
        elif self.path == "/slow":
            for start in range(20_000, len(BODY), 10_000):
                time.sleep(0.15)
                self.wfile.write(BODY[start : start + 10_000])
        elif self.path != "/torn":
            self.wfile.write(BODY[20_000:])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answers) as server:
        server.daemon_threads, server.asked, server.released = True, [], threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.released.set()
        server.shutdown()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HOPSCOPE_OFFLINE", raising=False)
    monkeypatch.setattr(fetching, "TIMEOUT", (2.0, 0.5))
    return tmp_path / "cache"


def entry(server, path: str, sha256: str | None = None, **more) -> Entry:
    url = f"http://127.0.0.1:{server.server_address[1]}{path}"
    file = File("corpus.json", url, sha256, **more)
    return Entry("tiny/dev", "a test", (file,), lambda folder: Converted(), "CC0", "nobody", "https://example.org")


def left(wanted: Entry) -> list[str]:
    return sorted(path.name for path in source_folder(wanted).iterdir() if path.name != ".lock")


@pytest.mark.parametrize("path", ["/good", "/moved", "/slow"])
def test_a_file_with_a_known_hash_is_fetched_once(server, path):
    wanted = entry(server, path, HASH)
    expected = (SourceFile("corpus.json", HASH, "publisher's hash"),)
    assert fetch(wanted, progress=False) == expected
    asked = len(server.asked)
    assert fetch(wanted, offline=True) == expected and len(server.asked) == asked
    assert (source_folder(wanted) / "corpus.json").read_bytes() == BODY and left(wanted) == ["corpus.json"]


def test_without_a_known_hash_the_first_one_is_remembered(server):
    wanted = entry(server, "/good")
    assert fetch(wanted, progress=False) == (SourceFile("corpus.json", HASH, "hash recorded at the first use"),)
    path = source_folder(wanted) / "corpus.json"
    assert (source_folder(wanted) / "corpus.json.sha256").read_text() == f"{HASH}  corpus.json\n"
    path.write_bytes(BODY + b" ")
    with pytest.raises(DataError, match=r"corpus\.json\.sha256 recorded at the first use; delete the file"):
        fetch(wanted)
    path.unlink()
    assert fetch(wanted, progress=False)[0].sha256 == HASH


def test_a_wrong_checksum_keeps_nothing(server):
    wanted = entry(server, "/good", "0" * 64)
    with pytest.raises(DataError, match=r"has not the SHA-256 0{64} that its publisher gives; nothing was kept"):
        fetch(wanted, progress=False)
    assert left(wanted) == []


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/nowhere", "HTTPError: 404"),
        ("/torn", "could not be downloaded"),
        ("/stalls", "could not be downloaded .*timed out"),
    ],
)
@pytest.mark.parametrize("sha256", [HASH, None])
def test_what_goes_wrong_keeps_nothing_and_says_what_to_do(server, path, said, sha256):
    wanted = entry(server, path, sha256, megabytes=0.08)
    with pytest.raises(DataError, match=said) as error:
        fetch(wanted, progress=False)
    for part in (wanted.files[0].url, str(source_folder(wanted) / "corpus.json"), "about 0.08 MB", "HOPSCOPE_DATA"):
        assert part in str(error.value)
    assert (sha256 or "SHA-256 not published") in str(error.value)
    assert left(wanted) == []


def test_a_file_longer_than_expected_is_refused(server):
    with pytest.raises(DataError, match="sends more than the 15,000 bytes expected"):
        fetch(entry(server, "/good", megabytes=0.01), progress=False)


@pytest.mark.parametrize("switch", ["argument", "environment"])
def test_offline_tries_no_connection(server, monkeypatch, switch):
    wanted = entry(server, "/good", HASH)
    if switch == "environment":
        monkeypatch.setenv("HOPSCOPE_OFFLINE", "1")
    with pytest.raises(DataError, match="offline is asked for") as error:
        fetch(wanted, offline=True if switch == "argument" else None)
    assert HASH in str(error.value) and wanted.files[0].url in str(error.value)
    assert server.asked == []
    (source_folder(wanted) / "corpus.json").write_bytes(BODY)
    assert fetch(wanted)[0].sha256 == HASH and server.asked == []


def test_a_file_without_an_address_is_asked_for_by_hand(server):
    wanted = replace(entry(server, "/good"), files=(File("a.txt", None), File("b.txt", "http://127.0.0.1:9/b")))
    with pytest.raises(DataError, match=r"a\.txt cannot be downloaded .*https://example\.org → .*a\.txt"):
        fetch(wanted)
    assert server.asked == []


def test_two_processes_at_once_download_once(server):
    wanted = entry(server, "/slow", HASH)
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=fetch, args=(wanted, None, False)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(20)
    assert [process.exitcode for process in processes] == [0, 0]
    assert server.asked == ["/slow"] and left(wanted) == ["corpus.json"]


def test_a_process_killed_in_the_middle_leaves_no_half_file(server):
    wanted = entry(server, "/stalls", HASH)
    process = multiprocessing.get_context("fork").Process(target=fetch, args=(wanted, None, False))
    process.start()
    part = source_folder(wanted) / ".part"
    deadline = time.monotonic() + 10
    while not (part.exists() and any(path.stat().st_size for path in part.iterdir())):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join(10)
    assert left(wanted) == [".part"]
    good = replace(wanted, files=entry(server, "/good", HASH).files)
    assert fetch(good, progress=False)[0].sha256 == HASH and left(wanted) == ["corpus.json"]
