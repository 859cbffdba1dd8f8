"""Metrics on random inputs: the cases whose values MindSpore gave (`metric_values.json`).

`tests/parity/metric_values.py` runs them on MindSpore; no module of a package is imported here.
"""

import numpy as np


def scores(random, n, classes, dtype):
    """Rows of probabilities."""
    x = random.rand(n, classes).astype(dtype)
    return x / x.sum(axis=1, keepdims=True)


def one_hot(random, *shape):
    """Three classes, one-hot along axis 1."""
    return np.moveaxis(np.eye(3)[random.randint(0, 3, shape)], -1, 1)


def evaluated(metric, *batches, **options):
    """The value of a metric over batches."""
    metric.clear()
    for batch in batches:
        metric.update(*batch)
    return metric.eval(**options)


def class_cases(m, dtype):
    """Metrics of classes, on labels and on one-hot labels."""
    random = np.random.RandomState(0)
    labels = [(scores(random, 7, 4, dtype), random.randint(0, 4, 7)) for _ in range(3)]
    one_hots = [(x, np.eye(4)[y]) for x, y in labels]
    multilabel = [(random.randint(0, 2, (6, 4)).astype(dtype), random.randint(0, 2, (6, 4))) for _ in range(3)]
    images = [(random.rand(3, 4, 5, 2).astype(dtype), random.randint(0, 4, (3, 5, 2))) for _ in range(2)]
    kinds = {
        "accuracy": m.Accuracy,
        "precision": m.Precision,
        "recall": m.Recall,
        "f1": m.F1,
        "fbeta": lambda: m.Fbeta(0.5),
        "top1": m.Top1CategoricalAccuracy,
        "top2": lambda: m.TopKCategoricalAccuracy(2),
    }
    for name, make in kinds.items():
        yield f"{name} labels", lambda make=make: evaluated(make(), *labels)
        yield f"{name} one-hot", lambda make=make: evaluated(make(), *one_hots)
        if name in ("precision", "recall", "f1"):
            yield f"{name} average", lambda make=make: evaluated(make(), *labels, average=True)
        if name in ("accuracy", "precision", "recall"):
            yield f"{name} images", lambda make=make: evaluated(make(), *images)
            yield f"{name} multilabel", lambda make=make: evaluated(make("multilabel"), *multilabel)
        if name in ("precision", "recall"):
            yield (
                f"{name} multilabel average",
                lambda make=make: evaluated(make("multilabel"), *multilabel, average=True),
            )
    for norm in ("no_norm", "target", "prediction", "all"):
        yield f"matrix {norm}", lambda norm=norm: evaluated(m.ConfusionMatrix(4, norm), *labels)
        half = [(x[:, 0], y % 2) for x, y in labels]
        yield f"matrix of scores {norm}", lambda norm=norm, half=half: evaluated(m.ConfusionMatrix(2, norm, 0.3), *half)
        few = (np.array([0, 1, 1]), np.array([0, 1, 3]))
        yield f"matrix with holes {norm}", lambda norm=norm, few=few: evaluated(m.ConfusionMatrix(4, norm), few)
    for ignore in (None, 2):
        yield f"perplexity {ignore}", lambda ignore=ignore: evaluated(m.Perplexity(ignore), *labels)
    yield "perplexity of 0", lambda: evaluated(m.Perplexity(), (np.array([[0, 1]], dtype), np.array([0])))


def number_cases(m, dtype):
    """Metrics of numbers, and ROC."""
    random = np.random.RandomState(1)
    pairs = [(random.randn(5, 3).astype(dtype), random.randn(5, 3).astype(dtype)) for _ in range(3)]
    flat = (pairs[0][0], pairs[0][1].reshape(15))
    yield "mae", lambda: evaluated(m.MAE(), *pairs)
    yield "mae flat labels", lambda: evaluated(m.MAE(), flat)
    yield "mse", lambda: evaluated(m.MSE(), *pairs)
    yield "dice", lambda: evaluated(m.Dice(), *pairs)
    yield "dice smooth", lambda: evaluated(m.Dice(0.1), *pairs)
    losses = [(np.array(0.3, dtype),), (np.array([0.2, 0.5], dtype),)]
    yield "loss", lambda: evaluated(m.Loss(), *losses)
    for similarity in ("cosine", "dot"):
        for reduction in ("none", "sum", "mean"):
            for zero in (True, False):
                options = (similarity, reduction, zero)
                yield (
                    f"similarity {options}",
                    lambda options=options: evaluated(m.CosineSimilarity(*options), (pairs[0][0],)),
                )
    one = (random.rand(7).astype(dtype), np.arange(7) % 2)
    ties = (np.array([0.1, 0.1, 0.4, 0.4, 0.2], dtype), np.array([3, 1, 3, 2, 2]))
    square = (scores(random, 4, 4, dtype), np.arange(4))
    yield "roc", lambda: evaluated(m.ROC(pos_label=1), one)
    yield "roc ties", lambda: evaluated(m.ROC(pos_label=3), ties)
    yield "roc classes", lambda: evaluated(m.ROC(class_num=4), square)


def rate_cases(m, dtype):
    """Rates of confusion matrices."""
    random = np.random.RandomState(2)
    images = [(one_hot(random, 4, 5, 5), one_hot(random, 4, 5, 5)) for _ in range(2)]
    rows = [(one_hot(random, 6), one_hot(random, 6)) for _ in range(2)]
    names = (
        "sensitivity", "specificity", "precision", "negative predictive value", "miss rate", "fall out",
        "false discovery rate", "false omission rate", "prevalence threshold", "threat score", "accuracy",
        "balanced accuracy", "f1 score", "matthews correlation coefficient", "fowlkes mallows index", "informedness",
        "markedness", "CSI", "deltaP", "hit_rate",
    )  # fmt: skip
    all_right = (np.ones((2, 1, 2)), np.ones((2, 1, 2)))
    for name in names:
        for skip in (True, False):
            make = lambda skip=skip, name=name, *rest: m.ConfusionMatrixMetric(skip, name, *rest)  # noqa: E731
            yield f"rate {name} {skip} images", lambda make=make: evaluated(make(), *images)
            yield f"rate {name} {skip} rows", lambda make=make: evaluated(make(), *rows)
            each = lambda how, skip=skip, name=name: m.ConfusionMatrixMetric(skip, name, True, how)  # noqa: E731
            yield f"rate {name} {skip} mean", lambda each=each: evaluated(each("mean"), *images)
            yield f"rate {name} {skip} sum", lambda each=each: evaluated(each("sum"), *images)
        yield f"rate {name} undefined", lambda name=name: evaluated(m.ConfusionMatrixMetric(True, name), all_right)


def surface_cases(m, dtype):
    """Distances of surfaces, in 1 to 4 dimensions, with empty and touching masks."""
    random = np.random.RandomState(3)
    shapes = [(9,), (5, 5), (6, 7), (1, 6), (4, 5, 6), (3, 1, 5), (2, 2, 2, 2)]
    for shape in shapes:
        a, b = random.randint(0, 3, shape), random.randint(0, 3, shape)
        for kind in ("euclidean", "chessboard", "taxicab"):
            for flag in (True, False):
                args = (a, b, 1)
                yield (
                    f"mean surface {shape} {kind} {flag}",
                    lambda args=args, flag=flag, kind=kind: evaluated(m.MeanSurfaceDistance(flag, kind), args),
                )
                yield (
                    f"rms surface {shape} {kind} {flag}",
                    lambda args=args, flag=flag, kind=kind: evaluated(m.RootMeanSquareDistance(flag, kind), args),
                )
                yield (
                    f"hausdorff {shape} {kind} {flag}",
                    lambda args=args, flag=flag, kind=kind: evaluated(
                        m.HausdorffDistance(kind, None, flag, not flag), args
                    ),
                )
            yield (
                f"hausdorff 75 {shape} {kind}",
                lambda args=args, kind=kind: evaluated(m.HausdorffDistance(kind, 75.0), args),
            )
    empty, spot = np.zeros((3, 3), int), np.eye(3, dtype=int)
    yield "hausdorff empty", lambda: evaluated(m.HausdorffDistance(), (spot, empty, 1))
    yield "hausdorff empty directed", lambda: evaluated(m.HausdorffDistance(directed=True), (empty, spot, 1))
    yield "mean surface of masks", lambda: evaluated(m.MeanSurfaceDistance(), (spot > 0, spot[::-1] > 0, 0))
    yield "hausdorff of masks", lambda: evaluated(m.HausdorffDistance(), (spot > 0, spot[::-1] > 0, 0))


def text_cases(m, dtype):
    """BLEU scores and areas."""
    random = np.random.RandomState(4)

    def sentence(n):
        return ["abcdef"[i] for i in random.randint(0, 6, n)]

    corpora = [([sentence(12), sentence(9)], [[sentence(10), sentence(14)], [sentence(9)]]) for _ in range(3)]
    for n in (1, 2, 3, 4):
        for smooth in (True, False):
            yield f"bleu {n} {smooth}", lambda n=n, smooth=smooth: evaluated(m.BleuScore(n, smooth), *corpora)
    yield "bleu of nothing", lambda: evaluated(m.BleuScore(), ([["x"]], [[["y"]]]))
    x, y = np.sort(random.rand(6)), random.rand(6)
    yield "auc", lambda: m.auc(x, y)
    yield "auc falling", lambda: m.auc(x[::-1], y)
    yield "auc sorted", lambda: m.auc(x[[3, 1, 0, 5, 4, 2]], y, True)
    yield "auc column", lambda: m.auc(x[:, None], y)


def error_cases(m, dtype):
    """Arguments of the wrong form: only the type of the error counts."""
    x, y = np.ones((3, 4), dtype), np.array([0, 1, 2])
    kinds = {
        "accuracy": m.Accuracy, "precision": m.Precision, "recall": m.Recall, "f1": m.F1, "mae": m.MAE, "mse": m.MSE,
        "top2": lambda: m.TopKCategoricalAccuracy(2), "loss": m.Loss, "dice": m.Dice, "perplexity": m.Perplexity,
        "matrix": lambda: m.ConfusionMatrix(4), "rate": m.ConfusionMatrixMetric, "similarity": m.CosineSimilarity,
        "roc": m.ROC, "accuracy multilabel": lambda: m.Accuracy("multilabel"), "bleu": m.BleuScore,
        "hausdorff": m.HausdorffDistance,
    }  # fmt: skip
    bad = {
        "one input": [(x,)], "four inputs": [(x, y, y, y)], "strings": [("a", "b")], "numbers": [(1, 2)],
        "lengths": [(x, y[:2])], "dimensions": [(x, x[None])], "class numbers": [(x, y), (x[:, :3], y)],
        "large labels": [(x, y + 7)], "tuples": [((x,), (y,))],
    }  # fmt: skip
    for name, make in kinds.items():
        yield f"error {name} nothing", lambda make=make: make().eval()
        for what, batches in bad.items():
            yield f"error {name} {what}", lambda make=make, batches=batches: evaluated(make(), *batches)
    wrong = {
        "eval_type": lambda: m.Precision("x"), "beta": lambda: m.Fbeta(0), "k": lambda: m.TopKCategoricalAccuracy(0),
        "k type": lambda: m.TopKCategoricalAccuracy(1.0), "ignore": lambda: m.Perplexity("a"),
        "smooth": lambda: m.Dice(0.0), "smooth type": lambda: m.Dice(1), "classes": lambda: m.ConfusionMatrix(2.0),
        "norm": lambda: m.ConfusionMatrix(2, "x"), "threshold": lambda: m.ConfusionMatrix(2, threshold=1),
        "skip": lambda: m.ConfusionMatrixMetric(1), "rate": lambda: m.ConfusionMatrixMetric(metric_name=1),
        "unknown rate": lambda: m.ConfusionMatrixMetric(metric_name="x")(np.eye(2), np.eye(2)),
        "decrease": lambda: m.ConfusionMatrixMetric(decrease="x"), "similarity": lambda: m.CosineSimilarity("x"),
        "similarity type": lambda: m.CosineSimilarity(1), "reduction": lambda: m.CosineSimilarity(reduction="x"),
        "class_num": lambda: m.ROC(1.0), "class_num value": lambda: m.ROC(class_num=3)(x, y),
        "no negatives": lambda: m.ROC()(np.ones(3), np.ones(3)), "margin": lambda: m.OcclusionSensitivity(margin="a"),
        "pad_val": lambda: m.OcclusionSensitivity(1), "n_gram": lambda: m.BleuScore(5),
        "n_gram type": lambda: m.BleuScore(2.0), "distance": lambda: m.HausdorffDistance("x"),
        "percentile": lambda: m.HausdorffDistance(percentile=3), "symmetric": lambda: m.MeanSurfaceDistance(1),
        "label type": lambda: m.RootMeanSquareDistance()(np.eye(2), np.eye(2), "x"),
        "label": lambda: m.HausdorffDistance()(np.eye(2), np.eye(2), 5), "name": lambda: m.get_metric_fn("x"),
        "auc type": lambda: m.auc([1], [1]), "auc zigzag": lambda: m.auc(np.array([0.0, 2, 1]), np.ones(3)),
        "auc lengths": lambda: m.auc(np.ones(3), np.ones(2)), "auc short": lambda: m.auc(np.ones(1), np.ones(1)),
        "indexes": lambda: m.Accuracy().set_indexes(1), "abstract": lambda: m.Metric(),
        "average": lambda: evaluated(m.Recall(), (x, y), average=3), "loss dims": lambda: m.Loss()(np.ones((2, 2))),
        "fewer classes than k": lambda: m.TopKCategoricalAccuracy(5)(x, y),
    }  # fmt: skip
    for name, make in wrong.items():
        yield f"error of {name}", make


GROUPS = (class_cases, number_cases, rate_cases, surface_cases, text_cases, error_cases)


def results(metrics):
    """All values as nested lists of floats, or names of errors, by case.

    Args:
        metrics: `mindspore.train` or `dist_ms.train`.
    """
    found = {}
    for dtype in (np.float32, np.float64):
        for group in GROUPS:
            if dtype is np.float64 and group in (rate_cases, surface_cases, text_cases, error_cases):
                continue
            for name, case in group(metrics, dtype):
                try:
                    value = _plain(case())
                except Exception as error:
                    value = type(error).__name__
                found[f"{name} {np.dtype(dtype).name}"] = value
    return found


def _plain(value):
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return np.asarray(value, dtype=float).tolist()
