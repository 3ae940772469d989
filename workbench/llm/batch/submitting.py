"""The files of a round, given to an endpoint that has a batch API, looked after, and their results fetched.

What was submitted is written down at once, so the same command goes on where it was stopped and submits nothing twice.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm.auto import tqdm

from workbench.errors import DataError, SettingError
from workbench.llm.batch.endpoint import Batch, BatchEndpoint
from workbench.llm.batch.state import ENDED, File, State, held

_OFTEN = 60.0  # seconds between two looks at batches that are waited for


def submit(
    folder: str | Path, base_url: str | None = None, api_key: str | None = None, *, progress: bool = True, **sending
) -> list[File]:
    """Upload the files of the last round to the endpoint at `base_url` (OPENAI_BASE_URL, or OpenAI's own) and begin a
    batch for each. Files that were submitted are left alone. `sending` are `timeout` and `attempts`, as in
    `openai_engine`. Raises :class:`EngineError` where the endpoint fails; what was submitted stays submitted."""
    with _at_work(folder, base_url, api_key, sending) as (state, endpoint):
        files = state.of_round()
        if not files:
            raise DataError(f"round {state.round} of {folder} has no requests; export them first")
        if state.read == state.round:
            raise DataError(
                f"the results of round {state.round} of {folder} were imported; export the next round first"
            )
        for file in tqdm(files, desc="submit", unit="file", disable=not progress):
            if not file.batch:
                _submit(state, endpoint, file)
        return files


def status(folder: str | Path, base_url: str | None = None, api_key: str | None = None, **sending) -> list[File]:
    """The files of all rounds, with what the endpoint says of those that are under way."""
    if not any(file.batch and not file.fetched for file in State.open(folder).files):
        return State.open(folder).files  # nobody needs to be asked
    with _at_work(folder, base_url, api_key, sending) as (state, endpoint):
        for file in state.files:
            if file.batch and not file.fetched:
                _note(state, endpoint, file)
        return state.files


def fetch(
    folder: str | Path,
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    wait: bool = False,
    often: float = _OFTEN,
    progress: bool = True,
    **sending,
) -> list[File]:
    """Download the results of batches that have ended, complete or not; those of the others are left for later, or
    waited for, with a look every `often` seconds. Gives the files of the last round."""
    with _at_work(folder, base_url, api_key, sending) as (state, endpoint):
        mine = [file for file in state.of_round() if file.batch]
        if not mine:
            raise DataError(f"round {state.round} of {folder} is not submitted; workbench batch submit {folder}")
        with tqdm(total=len(mine), desc="fetch", unit="file", disable=not progress) as bar:
            while True:
                for file in mine:
                    if not file.fetched and _note(state, endpoint, file).status in ENDED:
                        _fetch(state, endpoint, file)
                bar.update(sum(file.fetched for file in mine) - bar.n)
                if not wait or all(file.fetched for file in mine):
                    return state.of_round()
                time.sleep(often)


@contextmanager
def _at_work(folder, base_url, api_key, sending) -> Iterator[tuple[State, BatchEndpoint]]:
    with held(folder):
        state, endpoint = State.open(folder), BatchEndpoint(base_url, api_key, **sending)
        try:
            elsewhere = {file.endpoint for file in state.files if file.under_way} - {endpoint.address}
            if elsewhere:
                raise SettingError(f"{folder} was submitted to {min(elsewhere)}, not to {endpoint.address}; name it")
            yield state, endpoint
        finally:
            endpoint.close()


def _submit(state: State, endpoint: BatchEndpoint, file: File) -> None:
    """One step after the other, each written down before the next."""
    if not file.upload:
        file.upload, file.endpoint = endpoint.upload(state.path(file)), endpoint.address
        state.save()
    maybe_begun, file.begun = file.begun, True
    state.save()
    _noted(file, endpoint.begin(file.upload, maybe_begun=maybe_begun))
    state.save()


def _note(state: State, endpoint: BatchEndpoint, file: File) -> Batch:
    batch = endpoint.look(file.batch)
    _noted(file, batch)
    state.save()
    return batch


def _noted(file: File, batch: Batch) -> None:
    file.batch, file.status, file.completed, file.failed = batch.id, batch.status, batch.completed, batch.failed
    file.outputs, file.errors = list(batch.outputs), list(batch.errors)


def _fetch(state: State, endpoint: BatchEndpoint, file: File) -> None:
    folder = state.results(file.round)
    folder.mkdir(parents=True, exist_ok=True)
    for number, output in enumerate(file.outputs, 1):
        endpoint.download(output, folder / f"{Path(file.name).stem}-{number}.jsonl", file.requests)
    file.fetched = True
    state.save()
