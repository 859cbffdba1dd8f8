"""A file is replaced in one step: killed or failing writers leave the old one whole."""

import os
import signal
import subprocess
import sys

import pytest

from dist_ms.common import atomic_file
from dist_ms.common.atomic_file import replacing

KILLED_WRITER = """
import os, signal, sys
from dist_ms.common.atomic_file import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half of the new")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "a.ckpt"
    path.write_bytes(b"old")
    path.chmod(0o400)
    return path


def test_the_new_file_takes_the_place_of_the_old(old):
    with replacing(str(old)) as file:
        file.write(b"new")
        file.flush()
        assert old.read_bytes() == b"old"
    assert old.read_bytes() == b"new"
    assert old.stat().st_mode & 0o777 == 0o400
    assert os.listdir(old.parent) == ["a.ckpt"]


def test_nobody_else_can_look_into_the_unfinished_file(old):
    with replacing(str(old)) as file:
        assert os.stat(file.name).st_mode & 0o777 == 0o600


def test_the_bytes_are_on_the_disk_before_the_rename_and_the_rename_after(old, monkeypatch):
    order = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: order.append(os.readlink(f"/proc/self/fd/{fd}")) or fsync(fd))
    monkeypatch.setattr(os, "replace", lambda a, b: order.append("replace") or replace(a, b))
    with replacing(str(old)) as file:
        file.write(b"new")
        aside = file.name
    assert order == [aside, "replace", str(old.parent)]


def test_whoever_sees_the_file_may_rename_its_folder_at_once(tmp_path, monkeypatch):
    making, done = tmp_path / "making", tmp_path / "done"
    making.mkdir()
    replace = os.replace

    def replace_and_rename(old, new):
        replace(old, new)
        os.rename(making, done)

    monkeypatch.setattr(os, "replace", replace_and_rename)
    with replacing(str(making / "a.json")) as file:
        file.write(b"whole")
    assert os.listdir(done) == ["a.json"] and (done / "a.json").read_bytes() == b"whole"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
def test_a_failing_writer_leaves_the_old_file(old, error):
    with pytest.raises(error), replacing(str(old)) as file:
        file.write(b"half")
        raise error("full")
    assert old.read_bytes() == b"old"
    assert os.listdir(old.parent) == ["a.ckpt"]


def test_a_failing_rename_leaves_the_old_file(old, monkeypatch):
    def fail(*_):
        raise OSError("no")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no"), replacing(str(old)) as file:
        file.write(b"half")
    assert old.read_bytes() == b"old"
    assert os.listdir(old.parent) == ["a.ckpt"]


def test_a_killed_writer_leaves_the_old_file_and_the_next_one_cleans_up(old):
    killed = subprocess.run([sys.executable, "-c", KILLED_WRITER, str(old)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert old.read_bytes() == b"old"
    assert len(os.listdir(old.parent)) == 2
    with replacing(str(old)) as file:
        file.write(b"new")
    assert old.read_bytes() == b"new"
    assert os.listdir(old.parent) == ["a.ckpt"]


def test_files_of_living_writers_and_other_files_are_kept(old):
    prefix = atomic_file._aside_prefix("a.ckpt")
    kept = {
        f"{prefix}{os.getpid()}.77.tmp",
        f"{prefix}x.1.tmp",
        f"{prefix}999999999.1.other",
        "b.ckpt",
    }
    for name in kept:
        (old.parent / name).touch()
    with replacing(str(old)) as file:
        file.write(b"new")
    assert set(os.listdir(old.parent)) == kept | {"a.ckpt"}


def test_a_link_stays_a_link(old):
    link = old.parent / "newest.ckpt"
    link.symlink_to("a.ckpt")
    with replacing(str(link)) as file:
        file.write(b"new")
    assert link.is_symlink() and old.read_bytes() == b"new"


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match="must not name a folder"), replacing(str(tmp_path)):
        pass


def test_a_missing_folder_is_named(tmp_path):
    path = tmp_path / "none" / "a.ckpt"
    text = f"The folder {path.parent} of the checkpoint file a.ckpt must exist"
    with pytest.raises(FileNotFoundError, match=text), replacing(str(path)):
        pass


def test_a_long_name(tmp_path):
    path = tmp_path / ("n" * 250 + ".ckpt")
    with replacing(str(path)) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
