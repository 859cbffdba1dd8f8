"""Export models of the PyPI package mindcv to ONNX and compare onnxruntime's outputs; run by hand.

    pip install --no-deps --target FOLDER mindcv==0.3.0 PyYAML tqdm
    python tests/parity/mindcv_onnx.py --mindcv FOLDER [MODEL ...]

Weights and images are those of mindcv_models.py. A file is exported with an open batch and run with one image and with
three. A row shows the largest difference of the outputs, relative to the largest value.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

LIMIT = 1e-5


def compared(name: str, size: int) -> float:
    """Export a model, run it in both, and return how far the outputs lie apart."""
    import mindspore as ms
    import onnxruntime
    from mindcv.models import create_model

    from tests.parity.mindcv_models import weights

    network = create_model(name)
    network.set_train(False)
    for p in network.get_parameters():
        if p.dtype == ms.float32:
            p.set_data(ms.Tensor(weights(p.name, p.shape)))
    far = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "net.onnx")
        ms.export(network, ms.Tensor(shape=[None, 3, size, size], dtype=ms.float32), file_name=path, file_format="ONNX")
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        for batch in (1, 3):
            images = np.random.default_rng(batch).standard_normal((batch, 3, size, size)).astype(np.float32)
            wanted = network(ms.Tensor(images))
            wanted = wanted[0] if isinstance(wanted, (tuple, list)) else wanted
            found = session.run(None, {session.get_inputs()[0].name: images})[0]
            far = max(far, float(np.abs(found - wanted.asnumpy()).max() / np.abs(wanted.asnumpy()).max()))
    return far


def main() -> int:
    """Print a row per model."""
    from tests.parity.mindcv_models import MODELS, SIZES

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--mindcv", required=True, help="the folder mindcv was installed into")
    options = parser.parse_args()
    sys.path.insert(0, options.mindcv)

    import dist_ms.compat

    dist_ms.compat.install()
    failed = 0
    for name in options.models:
        try:
            far = compared(name, SIZES.get(name, 224))
            text, fine = f"{far:.1e}", far <= LIMIT
        except Exception as error:  # whatever a model raises is a row of the table
            text, fine = " ".join(f"{type(error).__name__}: {error}".split())[:200], False
        failed += not fine
        print(f"{'ok  ' if fine else 'FAIL'} {name:26} {text}", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    sys.exit(main())
