"""`python -m workbench.cli`, where the command is not on the path."""

import sys

from workbench.cli import main

if __name__ == "__main__":
    sys.exit(main())
