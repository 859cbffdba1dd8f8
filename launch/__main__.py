"""`python -m dist_ms.launch` is the command `dist-ms`."""

import sys

from dist_ms.launch.main import main

if __name__ == "__main__":
    sys.exit(main())
