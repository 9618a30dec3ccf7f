"""`python -m draftgate` is the command `draftgate`."""

import sys

from draftgate.harness import main

if __name__ == "__main__":
    sys.exit(main())
