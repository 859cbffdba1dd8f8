"""Messages of scripts."""

import subprocess
import sys

import pytest

SCRIPT = """
import os
import dist_ms
os.environ["GLOG_v"] = "1"  # too late
from dist_ms import log, get_level, get_log_config
for say in (log.debug, log.info, log.warning, log.error, log.critical):
    say("%s says %d", say.__name__, 3)
print(get_level(), get_log_config())
"""


@pytest.mark.parametrize("level, first", [(None, 2), ("0", 0), ("3", 3), ("zz", 2)])
def test_messages_from_a_level_on(level, first, monkeypatch):
    monkeypatch.delenv("GLOG_v", raising=False)
    if level is not None:
        monkeypatch.setenv("GLOG_v", level)
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    names = ("debug", "info", "warning", "error", "critical")
    assert [n for n in names if f"{n} says 3" in done.stderr] == list(names[first:])
    assert "[WARNING] ME(" in done.stderr or first > 2
    assert done.stdout == f"{first} {{'GLOG_v': '{first}', 'GLOG_logtostderr': '1'}}\n"
