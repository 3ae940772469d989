"""The files of a checkpoint (bundled, in a folder, or on the Hugging Face hub), and the course of its training as a
record.

A hub id needs its commit, `owner/name@commit`: a repository may replace its weights, and other weights give other
results (the published one did so once). Its two files are fetched once, then taken from the hub's cache."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from workbench import display, integrity
from workbench.errors import DataError, SettingError
from workbench.records import Record

CONFIG, WEIGHTS = "config.json", "model.pth"  # the two files of a checkpoint
PUBLISHED = "rmanluo/GFM-RAG-8M"
BUNDLED = {"mini": Path(__file__).parent / "mini"}
_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")


def locate(name: str) -> Path:
    """The folder of a checkpoint. Raises SettingError for a name that is none, DataError where it cannot be fetched."""
    if name in BUNDLED:
        integrity.check_weights(f"gfm_rag {name}", BUNDLED[name])
        return BUNDLED[name]
    if (folder := Path(name).expanduser()).is_dir():
        return folder
    repository, _, commit = name.partition("@")
    if not _ID.fullmatch(repository):
        raise SettingError(
            f"checkpoint={name!r} is not a folder; name a folder with {CONFIG} and {WEIGHTS}, a hub id with its commit "
            f"({PUBLISHED}@…), {', '.join(BUNDLED)} or untrained"
        )
    if not _COMMIT.fullmatch(commit):
        raise SettingError(
            f"checkpoint={name!r} names no commit; write {repository}@ and the 40 digits of one (they are listed under "
            "Files, History, of the repository), because other weights give other results"
        )
    return _fetched(repository, commit)


def cached(repository: str = PUBLISHED) -> list[str]:
    """The commits of a repository whose checkpoint is in the hub's cache on this machine."""
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}" / "snapshots"
    return sorted(file.parent.name for file in folder.glob(f"*/{WEIGHTS}") if (file.parent / CONFIG).is_file())


def _fetched(repository: str, commit: str) -> Path:
    from huggingface_hub import hf_hub_download

    try:
        files = [Path(hf_hub_download(repository, name, revision=commit)) for name in (CONFIG, WEIGHTS)]
    except Exception as error:  # of the network, of the hub, of the disk
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise DataError(
            f"the checkpoint {repository}@{commit} cannot be fetched ({reason}); `hf download {repository} {CONFIG} "
            f"{WEIGHTS} --revision {commit} --local-dir FOLDER` on a machine with a network, then checkpoint=FOLDER"
        ) from None
    return files[0].parent


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
            history = tuple(Checked(**row) for row in stored["history"])
            return cls(file.parent, stored["parameters"], stored["skipped"], history)
        except FileNotFoundError:
            raise DataError(f"{file} is missing; only a checkpoint made by `workbench train gfm` has it") from None
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{file} is not the history of a training ({type(error).__name__}: {error}); train again"
            ) from None

    def content(self) -> str:
        """What `open` reads back."""
        history = [checked._asdict() for checked in self.history]
        stored = {"parameters": self.parameters, "skipped": self.skipped, "history": history}
        return json.dumps(stored, indent=1) + "\n"

    @property
    def stages(self) -> dict[str, tuple[Checked, ...]]:
        """The validations of each stage, the first one before its first step."""
        return {
            stage: tuple(checked for checked in self.history if checked.stage == stage)
            for stage in dict.fromkeys(checked.stage for checked in self.history)
        }

    @property
    def picture(self):
        """Loss and MRR over the steps of all stages, as a `Picture`."""
        return display.picture("training", self)
