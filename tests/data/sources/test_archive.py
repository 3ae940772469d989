"""An archive is unpacked whole and inside its folder, or refused with nothing left behind."""

from __future__ import annotations

import gzip
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


def tarred(path, name: str, content: bytes = b"x", **fields):
    with tarfile.open(path, "w:gz") as packed:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        for field, value in fields.items():
            setattr(member, field, value)
        packed.addfile(member, io.BytesIO(content))
    return path


def test_files_and_folders_come_out_as_they_went_in(tmp_path):
    path = zipped(tmp_path / "a.zip", **{"MetaQA/kb.txt": b"a|b|c", "MetaQA/1-hop/x.txt": b"y"})
    unpack(path, tmp_path / "out")
    assert (tmp_path / "out/MetaQA/kb.txt").read_bytes() == b"a|b|c"
    unpack(tarred(tmp_path / "a.tar.gz", "b/c.txt", b"z"), tmp_path / "tar")
    assert (tmp_path / "tar/b/c.txt").read_bytes() == b"z"


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/evil", "..\\evil", "C:/evil"])
def test_members_that_would_lie_outside_are_refused(tmp_path, name):
    for path in (zipped(tmp_path / "a.zip", good=b"x", **{name: b"evil"}), tarred(tmp_path / "a.tar.gz", name)):
        with pytest.raises(DataError, match="would lie outside"):
            unpack(path, tmp_path / "out")
        assert sorted(tmp_path.rglob("*evil*")) == [] and not (tmp_path / "out").exists()
        assert not (tmp_path / "out.part").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(tmp_path, kind):
    with pytest.raises(DataError, match="is a link or a device"):
        unpack(tarred(tmp_path / "a.tar.gz", "x", b"", type=kind, linkname="/etc/passwd"), tmp_path / "out")


def test_a_link_in_a_zip_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        info = zipfile.ZipInfo("x")
        info.external_attr = 0o120777 << 16
        packed.writestr(info, "/etc/passwd")
    with pytest.raises(DataError, match="is a link"):
        unpack(tmp_path / "a.zip", tmp_path / "out")


def test_a_bomb_is_refused_by_what_comes_out_of_it(tmp_path):
    bomb = zipped(tmp_path / "a.zip", zeros=b"\0" * 30_000_000)
    assert bomb.stat().st_size < 50_000
    with pytest.raises(DataError, match="zip bomb"):
        unpack(bomb, tmp_path / "out")
    with pytest.raises(DataError, match="zip bomb"):
        unpack(tarred(tmp_path / "a.tar.gz", "zeros", b"\0" * 30_000_000), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar.gz", "a.zip"]


def test_what_a_tar_header_declares_is_no_more_trusted_than_what_is_unpacked(tmp_path, monkeypatch):
    """A name, or the properties of a member, of 30 MB, which tarfile would read into memory."""
    monkeypatch.setattr(archive, "_HEADERS", 1_000_000)
    for kind in (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE):
        member = tarfile.TarInfo("x")
        member.type, member.size = kind, 30_000_000
        with gzip.open(tmp_path / "a.tar.gz", "wb", 1) as file:
            file.write(member.tobuf())
            file.write(bytes(30_000_000))
        with pytest.raises(DataError, match="zip bomb"):
            unpack(tmp_path / "a.tar.gz", tmp_path / "out", max_bytes=1_000_000)


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


def test_a_name_that_is_not_what_its_archive_says_is_refused(tmp_path):
    path = zipped(tmp_path / "a.zip", é=b"x")
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xfe"))
    with pytest.raises(DataError, match="cannot be unpacked"):
        unpack(path, tmp_path / "out")
    for name in (".", "/"):
        with pytest.raises(DataError, match="would lie outside"):
            unpack(zipped(tmp_path / "b.zip", **{name: b""}), tmp_path / "out")


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_FILES", 3)
    with pytest.raises(DataError, match="more than 3 members"):
        unpack(zipped(tmp_path / "a.zip", a=b"", b=b"", c=b"", d=b""), tmp_path / "out")


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tar"])
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"\x1f\x8b\x08 torn"])
def test_what_is_damaged_is_said_to_be(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match="cannot be unpacked"):
        unpack(tmp_path / name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_member_twice_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed, pytest.warns(UserWarning, match="Duplicate"):
        packed.writestr("x", "1")
        packed.writestr("x", "2")
    with pytest.raises(DataError, match="cannot be unpacked"):
        unpack(tmp_path / "a.zip", tmp_path / "out")
