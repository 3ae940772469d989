"""Damaged files are noticed, and made again by the command that their error names."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import damage
import pytest

from workbench.cli.check import check
from workbench.errors import SettingError


def of(name: str) -> damage.Target:
    return next(target for target in damage.targets() if target.name == name)


@pytest.mark.slow
def test_damage_is_noticed(tmp_path):
    """Each damaged copy is opened by each of its readers, which takes a third of a second: a tenth of `make attack`."""
    tally = damage.attack(40, 7, tmp_path)
    assert tally.tried >= 40 and tally.holds, "\n".join(tally.failures)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["index", "run", "grid", "recording"])
def test_what_is_damaged_is_made_again(kind, tmp_path):
    """Deleted, and made again by the command that made it: everything then gives what it gave."""
    target, chance = of(kind), random.Random(5)
    names = [name for name in damage.files_of(target) if Path(name).name not in ("run.json", "manifest.json")]
    for name in chance.sample(names, min(len(names), 4)):
        how = chance.choice((damage._flipped, damage._cut, *([damage._removed] if name else [])))
        assert damage.made_again(target, name, how, random.Random(name), tmp_path) is None


@pytest.mark.parametrize(("kind", "name"), [("index", "manifest.json"), ("run", "run.json"), ("grid", "grid.json")])
def test_what_describes_the_others_is_made_again(kind, name, tmp_path):
    assert damage.made_again(of(kind), name, damage._flipped, random.Random(2), tmp_path) is None


def test_check_changes_nothing(tmp_path):
    copy = damage.copied(of("run"), tmp_path)
    rows = (copy / "results.jsonl").read_bytes()
    (copy / "results.jsonl").write_bytes(rows.replace(b"0.", b"1.", 1))
    before = damage.bytes_of(copy)
    assert [Path(one.file).name for one in check(copy).damage] == ["results.jsonl"]
    assert damage.bytes_of(copy) == before


def test_a_row_without_its_files_counts_as_not_made(tmp_path):
    target = of("run")
    copy = damage.copied(target, tmp_path)
    for name in ("traces", "contexts"):
        next((copy / name).iterdir()).unlink()
    (note,) = target.make(copy).notes
    assert "rows were asked again, because a trace or a context of theirs was missing" in note
    assert damage.bytes_of(copy) == damage.bytes_of(target.place) and check(copy).good
    for trace in (copy / "traces").iterdir():
        trace.unlink()
    assert not target.make(copy).notes, "somebody wanted the room"


def test_a_moved_and_a_linked_folder_are_the_same(tmp_path):
    for kind, reader in (("index", "retrieve"), ("run", "texts")):
        target = of(kind)
        moved = damage.copied(target, tmp_path).rename(tmp_path / f"{kind} moved")
        (tmp_path / f"{kind} linked").symlink_to(moved, target_is_directory=True)
        for place in (moved, tmp_path / f"{kind} linked"):
            assert dict(target.read(place))[reader]() == damage._whole(target)[reader]
            assert check(place).good


# Root without the rights that it has over the files of others.
_PLAIN = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner")


def _is_plain() -> bool:
    """Whether this process may start another one that has no rights over the files of others."""
    with suppress(OSError):
        return os.geteuid() == 0 and subprocess.run([*_PLAIN, "true"]).returncode == 0
    return False


_STRANGER = """
import sys
import workbench as wb
from workbench.errors import WorkbenchError
import workbench.testing.data
index = wb.Index.open(sys.argv[1])
found = [wb.method(name, index).retrieve("Where does the River Aldra flow?", k=2).ranking for name in ("dense", "bm25")]
assert all(found), found
try:
    wb.evaluate([], {}, out=sys.argv[2])
except (WorkbenchError, OSError) as error:
    print(type(error).__name__)
try:
    index.delete(["p6"])
except (WorkbenchError, OSError) as error:
    print(type(error).__name__, error)
print(wb.Index.open(sys.argv[1]).passages.passages[4].title.encode("ascii", "backslashreplace").decode())
"""


@pytest.mark.slow
@pytest.mark.skipif(not _is_plain(), reason="only root can give files away, and setpriv can take its rights")
def test_a_user_without_a_home_reads_what_it_may_not_write(tmp_path):
    """No HOME, no cache folder, the C locale, and an index of somebody else."""
    copy = damage.copied(of("index"), tmp_path)
    for path in (tmp_path, copy, *copy.rglob("*")):
        os.chown(path, 65534, 65534)
        path.chmod(path.stat().st_mode | 0o444 | (0o111 if path.is_dir() else 0))
    done = subprocess.run(
        [*_PLAIN, sys.executable, "-c", _STRANGER, str(copy), str(tmp_path / "run")], timeout=300,
        env={"LC_ALL": "C", "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}, cwd="/",
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Permission" in done.stdout and "\\u6771" in done.stdout, done.stdout
    assert check(copy).good


def test_what_is_nothing_of_ours_is_not_checked(tmp_path):
    with pytest.raises(SettingError, match="is no index, run, grid, recording or bundle"):
        check(tmp_path)
