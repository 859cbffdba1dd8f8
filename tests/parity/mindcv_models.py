"""Compare the models of the PyPI package mindcv between MindSpore and dist_ms; run by hand.

    pip install --no-deps --target FOLDER mindcv==0.3.0 PyYAML tqdm
    python tests/parity/mindcv_models.py --mindcv FOLDER --oracle MINDSPORE_VENV/bin/python --results RESULTS resnet50

Every model is built by `mindcv.models.create_model`, gets weights drawn from each parameter's name and
sees one random image of 3 x SIZE x SIZE, in evaluation mode. The table shows the largest difference of the
output and of the input's gradient, relative to MindSpore's largest value, and how the parameters compare.
In brackets: how far dist_ms' own
gradient moves when the pixels change by 2e-7 of their value, the rounding of float32. Where that is as large as the
difference, a ReLU or a pool turns over within rounding, and the gradient of this image decides nothing.
Results are kept in --results, one file per package and model: MindSpore's are computed once.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np

LIMIT = 2e-3
MODELS = (
    "resnet50 densenet121 mobilenet_v3_small_100 efficientnet_b0 convnext_tiny swin_tiny vit_b_16_224 pvt_v2_b1 "
    "shufflenet_v2_x1_0 googlenet"
).split()
SIZES = {
    "inception_v3": 299,
    "inception_v4": 299,
    "xception": 299,
    "swinv2_tiny_window8": 256,
    "edgenext_xx_small": 256,
}


def weights(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """A parameter's values, drawn from its name: variances near 0.5, scales near 1, the rest near 0."""
    drawn = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape).astype(np.float32) * 0.05
    if "variance" in name:
        return np.abs(drawn) + 0.5
    return drawn + 1 if "gamma" in name else drawn


def run(package: str, models: list[str], results: Path, seed: int, side: int | None = None) -> None:
    """Run models with one package and save parameters, output and gradient; an error is printed and saved."""
    if package == "dist_ms":
        import dist_ms.compat

        dist_ms.compat.install()
    import mindspore as ms
    from mindcv.models import create_model

    for model in models:
        start = time.time()
        size = side or SIZES.get(model, 224)
        image = np.random.default_rng(seed).standard_normal((1, 3, size, size)).astype(np.float32)
        saved: dict = {}
        try:
            network = create_model(model)
            network.set_train(False)
            parameters = list(network.get_parameters())
            for p in parameters:
                if p.dtype == ms.float32:
                    p.set_data(ms.Tensor(weights(p.name, p.shape)))
            saved["parameters"] = np.array([f"{p.name} {tuple(p.shape)}" for p in parameters])

            def first(x: ms.Tensor, network: ms.nn.Cell = network) -> ms.Tensor:
                y = network(x)
                return y[0] if isinstance(y, (tuple, list)) else y

            saved["output"] = first(ms.Tensor(image)).asnumpy()
            gradient = ms.grad(lambda x: first(x).sum(), 0)
            saved["gradient"] = gradient(ms.Tensor(image)).asnumpy()
            if package == "dist_ms":
                noise = np.random.default_rng(1).standard_normal(image.shape).astype(np.float32)
                saved["moved"] = gradient(ms.Tensor(image * (1 + 2e-7 * noise))).asnumpy()
        except Exception as error:  # whatever a model of another package raises is a row of the table
            trace = error.__traceback__
            while trace.tb_next is not None:
                trace = trace.tb_next
            where = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
            text = " ".join(f"{type(error).__name__}: {error}".split())
            saved["error"] = np.array(f"{text[:200]} ({where})")
        np.savez(results / f"{package}-{model}.npz", **saved)
        print(f"{package} {model} {time.time() - start:.1f} s {saved.get('error', '')}", flush=True)


def compare(model: str, results: Path) -> tuple[bool, str]:
    """One row of the table, and whether the model agrees."""
    files = [results / f"{package}-{model}.npz" for package in ("mindspore", "dist_ms")]
    missing = [f.name for f in files if not f.exists()]
    if missing:
        return False, f"no result: {', '.join(missing)}"
    wanted, found = (dict(np.load(f)) for f in files)
    for package, saved in (("mindspore", wanted), ("dist_ms", found)):
        if "error" in saved:
            return False, f"{package}: {saved['error']}"
    same = list(wanted["parameters"]) == list(found["parameters"])
    far = [float(np.abs(wanted[k] - found[k]).max() / np.abs(wanted[k]).max()) for k in ("output", "gradient")]
    moved = float(np.abs(found["moved"] - found["gradient"]).max() / np.abs(found["gradient"]).max())
    text = f"output {far[0]:.1e}  gradient {far[1]:.1e} ({moved:.1e})  {len(wanted['parameters'])} parameters"
    return same and max(far) <= LIMIT, text + ("" if same else " DIFFER")


def main() -> int:
    """Run both packages, each in its own interpreter, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--mindcv", required=True, help="the folder mindcv was installed into")
    parser.add_argument("--oracle", help="a Python that has MindSpore; not needed with --package")
    parser.add_argument("--seed", type=int, default=0, help="of the image; give each seed its own --results")
    parser.add_argument("--size", type=int, help="of the image, for every model; also with its own --results")
    parser.add_argument("--results", type=Path, required=True, help="a folder to keep results in")
    parser.add_argument("--package", choices=["mindspore", "dist_ms"], help="only run this one, in this interpreter")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    if options.package:
        sys.path.insert(0, options.mindcv)
        run(options.package, options.models, options.results, options.seed, options.size)
        return 0
    if not options.oracle:
        parser.error("--oracle is needed to compare")
    for package, python in (("mindspore", options.oracle), ("dist_ms", sys.executable)):
        kept = package == "mindspore"
        todo = [m for m in options.models if not (kept and (options.results / f"{package}-{m}.npz").exists())]
        if todo:
            common = ["--mindcv", options.mindcv, "--results", str(options.results), "--package", package]
            common += ["--seed", str(options.seed), *(["--size", str(options.size)] if options.size else [])]
            subprocess.run([python, __file__, *common, *todo], check=False)
    rows = {m: compare(m, options.results) for m in options.models}
    for model, (agrees, text) in rows.items():
        print(f"{model:28} {'ok' if agrees else 'NO':3} {text}")
    print(f"{sum(agrees for agrees, _ in rows.values())} of {len(rows)} models agree to {LIMIT:g}.")
    return 0 if all(agrees for agrees, _ in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
