"""`python -m dist_ms.compat.msrun`: msrun's command line."""

import sys

from dist_ms.launch.msrun import main

if __name__ == "__main__":
    sys.exit(main())
