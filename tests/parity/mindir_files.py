"""Files of MINDIR in both directions between MindSpore 2.10 and dist_ms. Run by hand:

    python -m tests.parity.mindir_files --mindspore /path/to/mindspore/venv/bin/python
    ... --record    let MindSpore write tests/serial/mindir/recorded.zip anew

The Python that runs this has dist_ms; the other one MindSpore. Each side is this file again: `write` exports the
networks of tests/serial/mindir/networks.py with their outputs, `check` loads what the other side wrote, runs it by
`GraphCell`, and prints what differs by more than 1e-5 of the largest value.
"""

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from tests.serial.mindir.networks import built, flat, networks, values

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "serial" / "mindir" / "recorded.zip"
LIMIT = 1e-5
KEY = b"0123456789abcdef"
MODES = ("AES-GCM", "AES-CBC", "SM4-CBC")


def cases(ms):
    """The small networks, and for dist_ms those of its tests of ONNX."""
    found = networks(ms)
    if ms.__name__ == "dist_ms":
        from tests.serial.onnx import networks as larger

        ids = np.random.RandomState(0).randint(0, 29, (2, 6)).astype(np.int32)
        found |= {
            "larger LeNet": (larger.LeNet, (2, 1, 28, 28)),
            "ResNet18": (larger.ResNet18, (2, 3, 64, 64)),
            "GPT": (larger.GPT, ids),
            "Words": (larger.Words, ids),
            "WideDeep": (larger.WideDeep, ids, (2, 5)),
        }
    return found


def write(ms, folder):
    """Export all networks, with their inputs and outputs."""
    for name, (make, *forms) in cases(ms).items():
        net, inputs = built(ms, make), [ms.Tensor(values(form)) for form in forms]
        ms.export(net, *inputs, file_name=str(folder / name), file_format="MINDIR")
        arrays = {f"input_{i}": x.asnumpy() for i, x in enumerate(inputs)}
        arrays |= {f"output_{i}": t.asnumpy() for i, t in enumerate(flat(net(*inputs)))}
        np.savez(folder / f"{name}.npz", **arrays)
    for mode in MODES:
        sealed = {"enc_key": KEY, "enc_mode": mode}
        make, form = networks(ms)["relu"]
        net, inputs = built(ms, make), [ms.Tensor(values(form))]
        ms.export(net, *inputs, file_name=str(folder / mode), file_format="MINDIR", **sealed)
        np.savez(folder / f"{mode}.npz", input_0=inputs[0].asnumpy(), output_0=net(*inputs).asnumpy())


def check(ms, folder):
    """Load and run every file of a folder."""
    nn, wrong = importlib.import_module(f"{ms.__name__}.nn"), 0
    files = sorted(folder.glob("*.mindir"))
    for path in files:
        held = np.load(path.with_suffix(".npz"))
        sealed = {"dec_key": KEY, "dec_mode": path.stem} if path.stem in MODES else {}
        inputs = [ms.Tensor(held[k]) for k in held.files if k.startswith("input")]
        wanted = [held[k] for k in held.files if k.startswith("output")]
        try:
            found = [t.asnumpy() for t in flat(nn.GraphCell(ms.load(str(path), **sealed))(*inputs))]
        except Exception as error:
            found, told = [], f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
        else:
            told = f"{len(found)} results"
        same = [a.shape == b.shape and a.dtype == b.dtype for a, b in zip(found, wanted)]
        if len(found) != len(wanted) or not all(same):
            print(f"{path.stem}: {told}, {[b.shape for b in wanted]} wanted")
            wrong += 1
            continue
        pairs = [(a.astype(np.float64), b.astype(np.float64)) for a, b in zip(found, wanted)]
        distance = max(float(np.abs(a - b).max()) / max(1.0, float(np.abs(b).max())) for a, b in pairs)
        if distance > LIMIT:
            print(f"{path.stem}: differs by {distance:.1e}")
            wrong += 1
    print(f"{ms.__name__} ran {len(files) - wrong} of {len(files)} files as the other side did")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mindspore", help="a Python that has MindSpore")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--side", nargs=3, metavar=("MODULE", "ACTION", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        module, action, folder = options.side
        {"write": write, "check": check}[action](importlib.import_module(module), Path(folder))
        return
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as place:
        for writer, reader in (("dist_ms", "mindspore"), ("mindspore", "dist_ms")):
            folder = Path(place) / writer
            folder.mkdir()
            pythons = {"dist_ms": sys.executable, "mindspore": options.mindspore}
            for module, action in ((writer, "write"), (reader, "check")):
                command = [
                    pythons[module],
                    "-W",
                    "ignore",
                    "-m",
                    "tests.parity.mindir_files",
                    "--side",
                    module,
                    action,
                    str(folder),
                ]
                subprocess.run(command, check=True, cwd=place, env=environment, stderr=subprocess.DEVNULL)
        if options.record:
            with zipfile.ZipFile(Path(place) / "all.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
                for path in sorted((Path(place) / "mindspore").iterdir()):
                    if path.suffix == ".npz":
                        held = np.load(path)
                        np.savez(path, **{k: held[k] for k in held.files if k.startswith("output")})
                    archive.write(path, path.name)
            shutil.copy(Path(place) / "all.zip", RECORDED)


if __name__ == "__main__":
    main()
