"""The files of a servers' checkpoint: what an index names lies in the checkpoint's folder."""

import json

import numpy as np
import pytest

from dist_ms.parallel.servers.files import Parts, write_part

WHAT = {"name": "w", "state": "", "kind": "dense", "shape": [3], "start": 0}


@pytest.fixture
def folder(tmp_path):
    """A checkpoint, and beside it a file that is none of its own."""
    write_part(str(tmp_path / "saved"), 0, 1, [(WHAT, np.float32([1, 2, 3]))], {})
    np.save(tmp_path / "other.npy", np.float32([7, 8, 9]))
    return tmp_path / "saved"


def rename(folder, name):
    """Have the index name another file."""
    index = folder / "server0.json"
    content = json.loads(index.read_text())
    content["parts"][0]["file"] = name
    index.write_text(json.dumps(content))


def values(folder):
    out = np.zeros(3, np.float32)
    Parts(str(folder)).read_flat("w", "", (3,), 0, out)
    return out.tolist()


def test_what_was_written_is_read(folder, monkeypatch):
    assert values(folder) == [1, 2, 3]
    monkeypatch.chdir(folder.parent)
    assert values("saved") == [1, 2, 3]
    (folder.parent / "link").symlink_to(folder)
    assert values(folder.parent / "link") == [1, 2, 3]


@pytest.mark.parametrize(
    "name", ["../other.npy", "{outside}", "sub/../../other.npy", "/dev/zero", "..", ".", "", 3, None, ["a"], "a\0b"]
)
def test_a_file_elsewhere_is_refused(folder, name):
    if name == "{outside}":
        name = str(folder.parent / "other.npy")
    rename(folder, name)
    with pytest.raises(ValueError, match="a checkpoint's files must lie in its folder .* but its index names"):
        Parts(str(folder))


def test_a_link_that_leads_elsewhere_is_refused(folder):
    (folder / "server0_9.npy").symlink_to(folder.parent / "other.npy")
    rename(folder, "server0_9.npy")
    with pytest.raises(ValueError, match="its index names 'server0_9.npy'"):
        Parts(str(folder))


def test_a_link_within_the_folder_is_read(folder):
    (folder / "other_name.npy").symlink_to("server0_0.npy")
    rename(folder, "other_name.npy")
    assert values(folder) == [1, 2, 3]


def test_objects_are_not_unpickled(folder):
    np.save(folder / "server0_0.npy", np.array([{"a": 1}] * 3, object), allow_pickle=True)
    with pytest.raises(ValueError, match="pickle|Python object"):
        values(folder)
