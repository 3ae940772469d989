"""Damaged files are noticed, and made again by the command that their error names."""

from __future__ import annotations

import random
from pathlib import Path

import damage
import pytest

from workbench.cli.check import check
from workbench.errors import SettingError

pytestmark = pytest.mark.slow  # one of each kind on disk is made first, with every layer


def of(name: str) -> damage.Target:
    return next(target for target in damage.targets() if target.name == name)


def test_damage_is_noticed(tmp_path):
    """Each damaged copy is opened by each of its readers, which takes a third of a second: some of `make attack`."""
    tally = damage.attack(20, 7, tmp_path)
    assert tally.tried >= 20 and tally.holds, "\n".join(tally.failures)


@pytest.mark.parametrize("kind", ["index", "run", "grid", "recording"])
def test_what_is_damaged_is_made_again(kind, tmp_path):
    """Deleted, and made again by the command that made it: everything then gives what it gave."""
    target, chance = of(kind), random.Random(5)
    names = [name for name in damage.files_of(target) if Path(name).name not in ("run.json", "manifest.json")]
    for name in chance.sample(names, min(len(names), 2)):
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


def test_what_is_nothing_of_ours_is_not_checked(tmp_path):
    with pytest.raises(SettingError, match="is not an index, a run, a grid, a recording or a bundle"):
        check(tmp_path)
