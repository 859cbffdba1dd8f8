"""Where `dist-ms` begins, outside the package: whatever is imported from there imports all of `dist_ms` first."""

import os
import signal
import sys
from types import FrameType


def _leave(number: int, frame: FrameType | None) -> None:
    """End this process without a word, as nothing has been begun yet, or all is done."""
    os._exit(128 + number)


if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where interrupts are ignored
    signal.signal(signal.SIGINT, _leave)


def main() -> int:
    """Run `dist-ms` and return its exit code: 130 for a Ctrl-C, whenever it comes."""
    from dist_ms.launch.main import main

    if signal.getsignal(signal.SIGINT) is not _leave:
        return main()
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return main()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        signal.signal(signal.SIGINT, _leave)


if __name__ == "__main__":
    sys.exit(main())
