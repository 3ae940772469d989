"""The attacks share servers and small Steps with the tests of engines."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "llm"))
