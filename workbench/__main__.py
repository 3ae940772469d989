"""The program `workbench`, also as `python -m workbench`. Ctrl-C and SIGTERM end it from the first moment, so the
command line is imported only after their handlers are installed."""

from __future__ import annotations

import sys

from workbench.cli.stopping import stoppable


def main() -> None:
    with stoppable():
        from workbench.cli.app import app

        app()


if __name__ == "__main__":
    sys.exit(main())
