"""Batches: the next requests of a build or an evaluation, as files for a batch API or a program that reads such files;
and their results, as answers in a recording.

    with Export("batches/first") as export:
        wb.Index.build("meridian", export.engine("openai:gpt-4o-mini"))
    read("batches/first", ["results.jsonl"])

The folder of a batch holds

    batch.json            the rounds, their files, and what was submitted of them
    pending.sqlite        the requests that wait for a reply; replies go into the recording
    round-1/              requests-001.jsonl, …; results/, as fetched; failures.jsonl, what has no answer, and why

A round asks for everything that can be asked at once: what needs the replies of a round is in the next. The last one
asks for nothing, and what was to be made is then made.

File formats: OpenAI's batch input and output, https://platform.openai.com/docs/guides/batch, which `vllm run-batch`
reads and writes as well.
"""

from workbench.llm.batch.endpoint import fetch, submit
from workbench.llm.batch.export import Export
from workbench.llm.batch.results import read

__all__ = ["Export", "fetch", "read", "submit"]
