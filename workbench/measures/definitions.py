"""The one-line definition and source of each measure; `docs/measures.md` lists the traps. A new measure needs a line
here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Definition(NamedTuple):
    says: str
    source: str = ""


def definition(name: str, measure: Callable) -> Definition:
    """What a measure says; one that is registered says the first paragraph of its docstring."""
    said = " ".join((measure.__doc__ or "").partition("\n\n")[0].split())
    return DEFINITIONS.get(name) or Definition(said or "a registered measure")


_HIPPORAG, _CATRAG, _DOTRAG = "HippoRAG 2", "CatRAG", "DotRAG"
_THESIS, _SQUAD = "The Reasoning Bottleneck in Graph-RAG (arXiv 2603.14045)", "SQuAD; HippoRAG 2"
_ANONYRAG = "Youtu-GraphRAG: AnonyRAG"
_LINE = "where a reply without an answer line is wrong whatever it holds"
_NODES = {
    "node_recall": "share of the gold nodes that were found",
    "node_precision": "share of the found nodes that are gold",
    "node_f1": "harmonic mean of both, per question",
}
_GOLD = {
    "": "found by method and passages; the start counts as gold",
    ":answers": "found by method and passages",
    ":nodes": "found by the method alone",
}

DEFINITIONS: dict[str, Definition] = {
    "recall@k": Definition("share of the gold passages that are among the first k", _HIPPORAG),
    "ndcg@k": Definition("discounted gain of the gold passages in the first k, best is 1", "Järvelin, Kekäläinen"),
    "mrr@k": Definition("1 / the rank of the first gold passage, 0 if it is not in the first k", "TREC-8 QA track"),
    "map@k": Definition("precision at the ranks of the gold passages in the first k, averaged over all of them",
                        "trec_eval: map_cut"),
    "all_gold@k": Definition("1 where all gold passages are among the first k", _CATRAG),
    "joint@k": Definition("1 where all gold passages are among the first k and the answer contains a gold answer",
                          _CATRAG),
    "em": Definition("1 where the normalised answer equals a gold answer", _SQUAD),
    "f1": Definition("overlap of the words of answer and gold answer", _SQUAD),
    "accuracy": Definition("1 where a gold answer occurs in the answer at word boundaries", f"{_CATRAG}, made strict"),
    "accuracy:answerable": Definition("accuracy, over questions with a gold answer"),
    "accuracy:thesis": Definition("substrings either way, an alias test, then a judge", _THESIS),
    "accuracy:thesis:text": Definition("accuracy:thesis, whose substrings are compared without articles", _THESIS),
    "accuracy:heuristic:text": Definition("accuracy:thesis:text without the judge", _THESIS),
    "accuracy:heuristic": Definition("accuracy:thesis without the judge; what it would be asked is wrong", _THESIS),
    "accuracy:line": Definition(f"accuracy, {_LINE}"),
    "accuracy:thesis:line": Definition(f"accuracy:thesis, {_LINE}"),
    "accuracy:heuristic:line": Definition(f"accuracy:heuristic, {_LINE}"),
    "judged": Definition("1 where the answer was left to the judge"),
    "judge_unknown": Definition("1 where the judge could not tell, or failed"),
    "abstained": Definition("1 where the answer says that it is none", f"{_THESIS}, made robust"),
    "abstained:answerable": Definition("abstained, over questions with a gold answer"),
    "abstained:unanswerable": Definition("abstained, over questions without a gold answer"),
    "abstained:thesis": Definition("1 where the answer is one of six phrases, or nothing", _THESIS),
    "read": Definition("passages that the reader was shown"),
    "read_tokens": Definition("cl100k tokens that the reader was shown"),
    "coverage": Definition("1 where a gold answer occurs in the retrieved context", f"{_THESIS}, made strict"),
    "coverage:substring": Definition("coverage as a lower-case substring", _THESIS),
    "coverage:bridge": Definition("1 where the answers of all steps of the decomposition occur", f"{_THESIS}: MuSiQue"),
    "coverage:titles": Definition("1 where the titles of all gold passages and a gold answer occur",
                                  f"{_THESIS}: HotpotQA"),
    "coverage:read": Definition("coverage of what the reader was shown: after compression"),
    "coverage:read:substring": Definition("coverage:substring of what the reader was shown"),
    "context_tokens": Definition("cl100k tokens of the retrieved context"),
    "flawed": Definition("1 where no answer could be read off the reply"),
    "misrouted": Definition("1 where the label of the question was none, so that the default was taken"),
    "retried": Definition("1 where the question was asked again after an abstention"),
    "verified": Definition("1 where the executed query verifies the answer"),
    "accuracy:verified": Definition("accuracy, over the answers that are verified"),
    "reversion_precision": Definition("share of the named originals that are right", _ANONYRAG),
    "reversion_recall": Definition("share of the placeholders whose original is named", _ANONYRAG),
    "reversion_f1": Definition("harmonic mean of both, per question", _ANONYRAG),
    "reversion_exact": Definition("1 where the originals of all placeholders are right and no other is named",
                                  _ANONYRAG),
    "choice": Definition("1 where the letter of the answer is the gold option's", _ANONYRAG),
    "tokens": Definition("tokens of all prompts and answers, as the model counts them"),
    "cost": Definition("US dollars of the same, by prices.csv"),
    **{f"{name}{gold}": Definition(f"{says}; {found}", _DOTRAG)
       for gold, found in _GOLD.items() for name, says in _NODES.items()},
    "node_count": Definition("nodes found by method and passages", _DOTRAG),
    "node_count:nodes": Definition("nodes found by the method alone", _DOTRAG),
}  # fmt: skip
