"""What two processes do at once comes out as if they had worked one after the other, or one of them is refused."""

from __future__ import annotations

import random
from contextlib import nullcontext

import damage
import on_disk
import pytest
import two_processes
from filelock import FileLock

from workbench.cli.check import check
from workbench.errors import FileDamaged, IndexFault, SettingError
from workbench.evaluation import Run
from workbench.index import Index
from workbench.index.store import Store
from workbench.places import is_locked, locked
from workbench.views.bundle import bundle

pytestmark = pytest.mark.slow  # one of each kind on disk is made first, with every layer


def copy_of(name, folder):
    return damage.copied(next(target for target in damage.targets() if target.name == name), folder)


def test_two_processes_at_once_harm_nothing(tmp_path, monkeypatch):
    """Five pairs of deeds by chance: each is done twice at once, and anew to compare; `make attack` has all."""
    monkeypatch.setattr(two_processes, "PAIRS", random.Random(3).sample(two_processes.PAIRS, 5))
    tally = two_processes.attack(5, 3, tmp_path)
    assert tally.tried and tally.holds, "\n".join(tally.failures)


def test_an_index_that_is_replaced_while_it_is_opened_is_read_again(tmp_path, monkeypatch):
    copy = copy_of("index", tmp_path)
    before = Store(copy).read_manifest()
    Index.open(copy).delete(["p6"], on_disk.RULES, progress=False)
    manifests = iter([before])
    now = Store.read_manifest
    monkeypatch.setattr(Store, "read_manifest", lambda store: next(manifests, None) or now(store))
    assert [one.id for one in Index.open(copy).passages.passages] == ["p1", "p2", "p3", "p4", "p5"]


def test_an_open_index_that_was_changed_says_so_where_it_needs_its_files(tmp_path):
    copy = copy_of("index", tmp_path)
    opened = Index.open(copy)
    Index.open(copy).delete(["p6"], on_disk.RULES, progress=False)
    with pytest.raises(IndexFault, match=r"its index was changed after this one was opened; open it again with Index"):
        _ = opened.passages.hash


@pytest.mark.parametrize("kind", ["index", "run", "grid"])
def test_what_another_process_writes_is_not_checked(kind, tmp_path):
    copy = copy_of(kind, tmp_path)
    with FileLock(copy / ".lock"), pytest.raises((IndexFault, SettingError), match="another process is"):
        check(copy)
    assert check(copy).good


def test_who_may_only_read_checks_without_a_lock(tmp_path, monkeypatch):
    class Forbidden:
        def __init__(self, *_, **__):
            raise PermissionError("read-only")

    copy = copy_of("run", tmp_path)
    (copy / ".lock").touch()
    monkeypatch.setattr("workbench.places.FileLock", Forbidden)
    assert check(copy).good and not is_locked(copy)


def test_a_run_that_is_being_written_is_not_called_damaged(tmp_path):
    copy = copy_of("run", tmp_path)
    rows = (copy / "results.jsonl").read_bytes().splitlines(keepends=True)
    (copy / "results.jsonl").write_bytes(b"".join(reversed(rows)))
    with FileLock(copy / ".lock"), pytest.raises(FileDamaged, match=r"another process is writing the run .* wait"):
        _ = Run(copy).rows
    for held in (False, True):  # who writes it has no other to wait for
        with locked(copy, RuntimeError()) if held else nullcontext(), pytest.raises(FileDamaged, match="delete it"):
            _ = Run(copy).rows


def test_two_bundles_do_not_share_a_folder(tmp_path):
    run, out = Run(copy_of("run", tmp_path)), tmp_path / "bundle"
    (tmp_path / ".bundle.part").mkdir()
    with FileLock(tmp_path / ".bundle.part" / ".lock"), pytest.raises(SettingError, match="another process is writing"):
        bundle(run, out=out, progress=False)
    bundle(run, out=out, progress=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bundle", "run"]
    assert check(out).good
