"""Rule body of `classify_question`."""

from __future__ import annotations

from workbench.language.questions import analyse
from workbench.steps.classify_question import DEFAULT, Input, Output, read


def classify_question(value: Input) -> Output:
    """The kind of the analysis: kin of kin is inference; a question of one hop, and no question, count as bridge."""
    return read(analyse(value.question).kind.replace("single", DEFAULT).replace("none", ""))
