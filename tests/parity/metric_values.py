"""Run the metric cases on MindSpore and write the values that tests/serial/train/metrics/test_metrics.py pins.

MS_VENV/bin/python tests/parity/metric_values.py    (from any folder; mindspore 2.10.0, numpy 1.26)
"""

import json
import sys
import warnings
from pathlib import Path

METRICS = Path(__file__).parents[1] / "serial" / "train" / "metrics"

if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    sys.path.insert(0, str(METRICS))
    import metric_cases
    import mindspore.train

    values = metric_cases.results(mindspore.train)
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items()]
    (METRICS / "metric_values.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(len(values), "values")
