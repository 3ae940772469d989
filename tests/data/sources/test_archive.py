"""An archive is unpacked whole and inside its folder, or refused with nothing left behind; what no archive may do is in
`tests/attacks/test_inputs_attack.py`."""

from __future__ import annotations

import io
import tarfile
import zipfile

import pytest

from workbench.data.sources import archive
from workbench.data.sources.archive import unpack
from workbench.errors import DataError


def zipped(path, **members: bytes):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return path


def test_files_and_folders_come_out_as_they_went_in(tmp_path):
    path = zipped(tmp_path / "a.zip", **{"MetaQA/kb.txt": b"a|b|c", "MetaQA/1-hop/x.txt": b"y"})
    unpack(path, tmp_path / "out")
    assert (tmp_path / "out/MetaQA/kb.txt").read_bytes() == b"a|b|c"


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", ""])
def test_every_packing_of_a_tar_is_read(tmp_path, kind):
    path = tmp_path / f"a.tar{'.' * bool(kind)}{kind}"
    with tarfile.open(path, f"w:{kind}") as packed:
        for name in ("b/c.txt", "d.txt"):
            member = tarfile.TarInfo(name)
            member.size = 3
            packed.addfile(member, io.BytesIO(b"xyz"))
    unpack(path, tmp_path / "out")
    assert [(tmp_path / "out" / name).read_bytes() for name in ("b/c.txt", "d.txt")] == [b"xyz"] * 2


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_FILES", 3)
    with pytest.raises(DataError, match="more than 3 members"):
        unpack(zipped(tmp_path / "a.zip", a=b"", b=b"", c=b"", d=b""), tmp_path / "out")
