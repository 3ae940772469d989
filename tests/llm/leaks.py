"""What an error can show of the secrets near it."""

from __future__ import annotations

import traceback


def everything(error: BaseException | None) -> str:
    """All that an error can show: itself and what it is chained to, suppressed or not, with tracebacks."""
    if error is None:
        return ""
    shown = "".join(traceback.format_exception(error)) + repr(error) + repr(error.args) + repr(vars(error))
    return shown + everything(error.__cause__) + everything(error.__context__)
