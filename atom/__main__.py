"""`python -m atom`."""

import sys

from atom.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
