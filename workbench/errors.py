"""Errors, by who can fix them. Every message names the value, the expectation and the next step."""

from workbench.text import printable


class WorkbenchError(Exception):
    """Base of all errors for the user; the command line prints them without a traceback. What a message quotes (names
    of files, values) cannot steer the terminal that shows it."""

    def __init__(self, *said: object):
        super().__init__(*(printable(part) if isinstance(part, str) else part for part in said))


class DataError(WorkbenchError, ValueError):
    """Invalid data: the message names file, line and remedy."""


class FileDamaged(DataError):
    """A file that we wrote does not hold what was written. No question fails because of it: the run stops."""


class FileMissing(DataError, FileNotFoundError):
    """A file that another one names is not there."""

    def __init__(self, path: object, said: str):
        super().__init__(said)
        self.filename = str(path)

    def __str__(self) -> str:
        return str(self.args[0])


class SettingError(WorkbenchError, ValueError):
    """An unknown setting, name or SPEC."""


class IndexFault(WorkbenchError, RuntimeError):
    """An index cannot be opened, built or used as requested."""


class ClusterFault(WorkbenchError, RuntimeError):
    """A cluster cannot be reached or is lost, or a piece of work cannot be done on it. What is done is kept."""


class EngineError(WorkbenchError, RuntimeError):
    """An engine cannot run at all (as opposed to the failure of one input, which is a Result)."""


class EngineUnavailable(EngineError):
    """The endpoint could not be reached after all retries. Finished work is kept; the same command resumes it."""


class EngineRefused(EngineError):
    """The endpoint rejects every call: a wrong key, no permission, an unknown model."""


class RecordingMiss(EngineError):
    """A replay received a request that was never recorded."""


class BudgetSpent(EngineError):
    """The budget of an engine is spent. Finished work is kept; the same command with a larger budget resumes it."""


class MostFailed(EngineError):
    """Most of the requests for a layer of an index failed. What succeeded is kept; the same build asks for the rest."""


class Deferred(EngineError):
    """So many requests wait for the replies of a batch, and with them what was asked for. Nothing was sent; what does
    not depend on them goes on (`workbench.llm.deferring`)."""

    def __init__(self, requests: int):
        super().__init__(f"{requests:,} requests wait for the replies of a batch")
        self.requests = requests
