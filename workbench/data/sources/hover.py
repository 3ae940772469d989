"""HoVer's claims as CatRAG samples them, and their number of hops from HoVer's own development set.

CatRAG publishes 1,000 claims with a pooled corpus in HippoRAG's layout. Its paper describes its claims as 3- and 4-hop,
but no public description of `hover.json` mentions hops. `hover_dev_release_v1.1.json` of HoVer does: it is a list of
{"uid", "claim", "supporting_facts": [[title, sentence]], "label", "num_hops", "hpqa_id"}, without texts of Wikipedia.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from workbench.data.sources import hipporag
from workbench.data.sources.entry import Converted, Entry, File
from workbench.errors import DataError
from workbench.records import Question

_CATRAG = "https://raw.githubusercontent.com/kwunhang/CatRAG/ce06b459e2987a47342dfd23c71246c70d6de273"
_HOVER = "https://raw.githubusercontent.com/hover-nlp/hover/39b84697f196308f398a251a7aea9b82ae0f0562"
_DEV = "hover_dev_release_v1.1.json"
_MANY = (3, 4)  # hops


def read(folder: Path) -> Converted:
    """CatRAG's sample: `hover.json` and `hover_corpus.json`."""
    return hipporag.read(folder, "hover")


def read_many_hops(folder: Path) -> Converted:
    """The claims of the sample that HoVer's development set counts as 3- or 4-hop, with that number of hops."""
    found, hops = read(folder), _hops(folder / _DEV)
    counted = [replace(question, hops=_of(question, hops)) for question in found.questions]
    kept = tuple(question for question in counted if question.hops in _MANY)
    return replace(found, questions=kept, notes=(*found.notes, *_left_out(counted)))


def _hops(path: Path) -> dict[str, int]:
    """uid, and claim, → number of hops."""
    found: dict[str, int] = {}
    for number, row in enumerate(hipporag.read_json(path, list), 1):
        try:
            found |= dict.fromkeys((str(row["uid"]), _plain(row["claim"])), int(row["num_hops"]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            why = f"{type(error).__name__}: {error}"
            raise DataError(
                f"{path}, claim {number}: it has not HoVer's fields uid, claim and num_hops ({why})"
            ) from None
    return found


def _of(question: Question, hops: Mapping[str, int]) -> int | None:
    return hops.get(question.id, hops.get(_plain(question.question)))


def _plain(claim: str) -> str:
    return " ".join(claim.split())


def _left_out(questions: list[Question]) -> Iterator[str]:
    """What is said of the claims that are neither 3- nor 4-hop."""
    for hops, count in Counter(question.hops for question in questions if question.hops not in _MANY).items():
        why = "HoVer's development set does not hold" if hops is None else f"HoVer counts as {hops}-hop"
        yield f"{count:,} claims that {why} are left out"


_FILES = tuple(File(name, f"{_CATRAG}/reproduce/dataset/{name}") for name in ("hover.json", "hover_corpus.json"))
_PUBLISHED = (
    "MIT (claims), CC BY-SA (Wikipedia texts)",
    "Jiang et al. 2020, HoVer, Findings of EMNLP",
    "https://github.com/kwunhang/CatRAG/tree/ce06b459e2987a47342dfd23c71246c70d6de273/reproduce/dataset",
)
_UNSEEN = "the fields of hover.json are described by its README only and could not be checked"

ENTRIES = (
    Entry(
        "hover/dev/catrag-1000",
        "HoVer v1.1, 1,000 claims as sampled by CatRAG's reproduction, with their passages pooled",
        _FILES,
        read,
        *_PUBLISHED,
        passages=9440,
        questions=1000,
        note=_UNSEEN,
    ),
    Entry(
        "hover/dev/3-4hop-1000",
        "HoVer v1.1, the same 1,000 claims, each checked to be 3- or 4-hop by HoVer's development set",
        (*_FILES, File(_DEV, f"{_HOVER}/data/hover/{_DEV}")),
        read_many_hops,
        *_PUBLISHED,
        passages=9440,
        questions=1000,
        note=f"{_UNSEEN}, nor could the address of {_DEV}; that all 1,000 claims are 3- or 4-hop is the paper's word, "
        "and loading fails if it does not hold",
    ),
)
