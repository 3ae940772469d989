"""The course of a training: what was measured when, as a record that shows itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from workbench import display
from workbench.errors import DataError
from workbench.records import Record

HISTORY = "history.json"


class Checked(NamedTuple):
    """A validation. `loss`: mean over the steps since the one before, None before the first step; `mrr`: mean over the
    positives of the held-out samples of 1 / rank among the phrases that are none."""

    stage: str
    step: int
    loss: float | None
    mrr: float


@dataclass(frozen=True, repr=False, eq=False)
class Trained(Record):
    """A finished training: its `folder`, which is a checkpoint, and its course. `skipped`: questions with support that
    could not be trained on."""

    folder: Path
    parameters: int
    skipped: int
    history: tuple[Checked, ...]

    @classmethod
    def open(cls, folder: str | Path) -> Trained:
        """The course of the training that wrote a checkpoint. Raises DataError where the folder has none."""
        file = Path(folder).expanduser() / HISTORY
        try:
            stored = json.loads(file.read_text(encoding="utf-8"))
            history = tuple(Checked(**one) for one in stored["history"])
            return cls(file.parent, stored["parameters"], stored["skipped"], history)
        except FileNotFoundError:
            raise DataError(f"{file} is missing: the checkpoint was not trained here") from None
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{file} is no course of a training ({type(error).__name__}: {error})") from None

    def content(self) -> str:
        """What `open` reads back."""
        history = [one._asdict() for one in self.history]
        stored = {"parameters": self.parameters, "skipped": self.skipped, "history": history}
        return json.dumps(stored, indent=1) + "\n"

    @property
    def stages(self) -> dict[str, tuple[Checked, ...]]:
        """The validations of each stage, the first one before its first step."""
        return {
            stage: tuple(one for one in self.history if one.stage == stage)
            for stage in dict.fromkeys(one.stage for one in self.history)
        }

    @property
    def picture(self):
        """Loss and MRR over the steps of all stages, as a `Picture`."""
        return display.picture("training", self)
