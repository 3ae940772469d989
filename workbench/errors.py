"""What can go wrong, by whose concern it is. Every message names the value, what was expected and what to do next."""


class WorkbenchError(Exception):
    """Base of all errors that are meant for the user; the command line prints them without a traceback."""


class DataError(WorkbenchError, ValueError):
    """Something is wrong with the data: file, line and remedy are in the message."""


class SettingError(WorkbenchError, ValueError):
    """A setting, a name or a SPEC that nothing here knows."""


class IndexFault(WorkbenchError, RuntimeError):
    """An index cannot be opened, built or used as asked."""


class EngineError(WorkbenchError, RuntimeError):
    """An engine cannot run at all (as opposed to one input failing, which is a Result)."""


class EngineUnavailable(EngineError):
    """The endpoint could not be reached after all retries. What is done is kept; the same command goes on later."""


class EngineRefused(EngineError):
    """The endpoint refuses every call: a wrong key, no permission, an unknown model."""


class RecordingMiss(EngineError):
    """A replay was asked for something that was never recorded."""


class BudgetSpent(EngineError):
    """The budget of an engine is used up. What is done is kept; the same command with a larger one goes on."""
