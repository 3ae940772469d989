"""The measures, by name. Each is a function with its definition and source; `measure("recall@5")` returns one.

A measure maps a question and its outcome to a number, or to None if it is undefined (no gold passages, no gold answer).
Undefined questions do not count, and `Run.counts` returns the number that do. `docs/measures.md` is the catalogue.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.errors import SettingError
from workbench.measures import (
    abstained,
    accuracy,
    anonyrag,
    answers,
    cost,
    coverage,
    graphrag_bench,
    ranking,
)
from workbench.records import Question, Reading
from workbench.registry import Registry
from workbench.settings import parse_spec


@dataclass(frozen=True)
class Outcome:
    """The results of a method, a reader and optionally a judge for a question; `answer` is None without a reader.

    `abstained` is the reader's own statement, `failed` means that the question broke. `context` is the retrieved text
    before any compression, `read` the number of passages that the reader was shown, `usage` Step → calls, tokens,
    money. `verdict` is the judge's, None if it was not called. `nodes` are the names of the method's own nodes,
    `resolved` those that its passages represent; None without a graph. `titles` are those of the gold passages. `shown`
    is the text that the reader saw, `shown_tokens` its length; `reading` is the answer's, `mark` that of its proof.
    `claims` is what a judge of claims said, measure → value.
    """

    ranking: Sequence[str]
    answer: str | None = None
    abstained: bool = False
    failed: bool = False
    context: str | None = None
    context_tokens: int | None = None
    read: int | None = None
    usage: Mapping[str, Mapping] = field(default_factory=dict)
    verdict: str | None = None
    nodes: Sequence[str] = ()
    resolved: Collection[str] | None = None
    titles: Sequence[str] = ()
    shown: str | None = None
    shown_tokens: int | None = None
    reading: Reading | None = None
    mark: str = ""
    claims: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def flawed(self) -> bool:
        """Whether the reply held no answer; the reader's answer may then be empty, or the whole reply."""
        return bool(self.reading and self.reading.flaw)

    @property
    def lost(self) -> bool:
        """Whether there is no text to evaluate: the question failed, or the reply had no readable answer. Neither is an
        abstention."""
        return self.failed or (self.flawed and not self.answer)

    @property
    def stated(self) -> str | None:
        """The text of the answer; None if the reader abstained without any text."""
        return None if self.abstained and not self.answer else self.answer


Measure = Callable[[Question, Outcome], float | None]


def left_to_judge(question: Question, outcome: Outcome) -> bool:
    """Whether `accuracy:thesis` leaves the question to the judge."""
    read = outcome.answer is not None and not outcome.lost
    return read and accuracy.heuristic(outcome.stated, question.answers) is None


def _is_set(question: Question) -> bool:
    """Whether an answer has to list several things."""
    return question.answer_set and len(question.answers) > 1


def _accuracy(question: Question, outcome: Outcome) -> float:
    return 0.0 if outcome.lost else accuracy.accuracy(None if outcome.abstained else outcome.answer, question.answers)


def _of_thesis(*, judged: bool, articles: bool = True) -> Measure:
    """`accuracy:thesis`, or without a judge `accuracy:heuristic`."""

    def measured(question: Question, outcome: Outcome) -> float:
        verdict = outcome.verdict if judged else None
        right = accuracy.accuracy_thesis(outcome.stated, question.answers, verdict, articles)
        return 0.0 if outcome.lost else right

    return measured


def _abstained(question: Question, outcome: Outcome) -> float:
    return float(not outcome.lost and (outcome.abstained or abstained.is_abstention(outcome.answer)))


def _of_level(name: str, taken: Measure) -> Measure:
    """A measure of GraphRAG-Bench, undefined for questions of a level that does not use it."""
    return lambda question, outcome: (
        taken(question, outcome) if name in graphrag_bench.of_level(question.type) else None
    )


def _reversion(taken: Callable[[float, float], float]) -> Measure:
    """A measure (precision, recall) → value of the pairs of placeholder and name."""

    def measured(question: Question, outcome: Outcome) -> float | None:
        counts = anonyrag.reversion("" if outcome.lost else outcome.answer, question.answers)
        return None if counts is None else float(taken(*counts))

    return measured


def _of_nodes(taken: Callable, *, own: bool = False, start: bool = False) -> Measure:
    """A measure (nodes, gold) → value, for answers that are a set of nodes. `own`: counts the method's nodes alone;
    `start`: the start entity of the question is gold as well."""

    def measured(question: Question, outcome: Outcome) -> float | None:
        if outcome.resolved is None or not (question.answer_set and question.answers):
            return None
        nodes = {*outcome.nodes, *(() if own else outcome.resolved)}
        return float(taken(nodes, {*question.answers, *(question.start if start else ())}))

    return measured


RANKING = {  # (ranking, gold, k) -> value
    "recall": ranking.recall,
    "ndcg": ranking.ndcg,
    "mrr": ranking.mrr,
    "map": ranking.map_,
    "all_gold": ranking.all_gold,
}
JOINT = {"joint": answers.joint}  # (ranking, gold passages, answer, gold answers, k) -> value; need a reader
WHOLE = ("all_gold", "joint")  # 0 for a question with more than k gold passages
ANSWER: dict[str, Measure] = {  # need a reader
    "em": lambda q, o: (
        (answers.set_em if _is_set(q) else answers.exact_match)(o.answer, q.answers) if q.answers else None
    ),
    "f1": lambda q, o: (answers.set_f1 if _is_set(q) else answers.f1)(o.answer, q.answers) if q.answers else None,
    "accuracy": _accuracy,
    "accuracy:answerable": lambda q, o: _accuracy(q, o) if q.answers else None,
    "accuracy:thesis": _of_thesis(judged=True),
    "accuracy:thesis:text": _of_thesis(judged=True, articles=False),
    "accuracy:heuristic": _of_thesis(judged=False),
    "accuracy:heuristic:text": _of_thesis(judged=False, articles=False),
    "judged": lambda q, o: float(o.verdict is not None) if q.answers else None,
    "judge_unknown": lambda q, o: float(o.verdict == "unknown") if q.answers else None,
    "abstained": _abstained,
    "abstained:answerable": lambda q, o: _abstained(q, o) if q.answers else None,
    "abstained:unanswerable": lambda q, o: None if q.answers else _abstained(q, o),
    "abstained:thesis": lambda q, o: float(not o.lost and abstained.is_abstention_thesis(o.stated)),
    "read": lambda q, o: None if o.read is None else float(o.read),
    "read_tokens": lambda q, o: None if o.shown_tokens is None else float(o.shown_tokens),
    "coverage:read": lambda q, o: coverage.coverage(o.shown or "", q.answers),
    "coverage:read:substring": lambda q, o: coverage.coverage_substring(o.shown or "", q.answers),
    "flawed": lambda q, o: None if o.reading is None else float(o.flawed),
    "misrouted": lambda q, o: float(o.reading.invalid) if o.reading and (o.reading.kind or o.reading.invalid) else None,
    "retried": lambda q, o: None if o.reading is None else float(o.reading.retried),
    "reversion_precision": _reversion(lambda precision, recall: precision),
    "reversion_recall": _reversion(lambda precision, recall: recall),
    "reversion_f1": _reversion(anonyrag.harmonic),
    "reversion_exact": _reversion(lambda precision, recall: precision == recall == 1),
    "choice": lambda q, o: anonyrag.choice("" if o.lost else o.answer, q.answers, q.question),
    "verified": lambda q, o: float(o.mark == "verified") if o.mark else None,
    "accuracy:verified": lambda q, o: _accuracy(q, o) if o.mark == "verified" else None,
}
ANSWER["rouge_l"] = _of_level(
    "rouge_l", lambda q, o: graphrag_bench.rouge_l("" if o.lost else o.stated or "", q.answers)
)
ANSWER |= {
    name: _of_level(name, lambda q, o, name=name: 0.0 if o.failed and q.answers else o.claims.get(name))
    for name in graphrag_bench.JUDGED
}
ANSWER |= {  # the same, but a reply without an answer line is wrong whatever it contains
    f"{name}:line": lambda q, o, taken=ANSWER[name]: 0.0 if o.flawed else taken(q, o)
    for name in ("accuracy", "accuracy:thesis", "accuracy:heuristic")
}
EVIDENCE: Registry[Measure] = Registry("measures", {  # need no reader; registered ones are here
    "coverage": lambda q, o: coverage.coverage(o.context or "", q.answers),
    "coverage:substring": lambda q, o: coverage.coverage_substring(o.context or "", q.answers),
    "coverage:bridge": lambda q, o: coverage.coverage_bridge(o.context or "", q.answers, _steps(q)),
    "coverage:titles": lambda q, o: coverage.coverage_titles(o.context or "", q.answers, o.titles),
    "context_tokens": lambda q, o: None if o.context_tokens is None else float(o.context_tokens),
    "tokens": lambda q, o: cost.tokens(o.usage),
    "cost": lambda q, o: cost.cost(o.usage),
}, taken=lambda name: name in (*RANKING, *JOINT, *ANSWER, *NODES, "seconds"))  # fmt: skip
NODES: dict[str, Measure] = {  # need no reader, but a graph and answers that are a set of its nodes
    f"{name}{reading}": _of_nodes(taken, **what)
    for reading, what in (("", {"start": True}), (":answers", {}), (":nodes", {"own": True}))
    for name, taken in (
        ("node_recall", ranking.node_recall),
        ("node_precision", ranking.node_precision),
        ("node_f1", ranking.node_f1),
    )
} | {
    "node_count": _of_nodes(lambda nodes, _: len(nodes)),
    "node_count:nodes": _of_nodes(lambda nodes, _: len(nodes), own=True),
}
DEFAULT = (
    "recall@1", "recall@2", "recall@5", "recall@10", "ndcg@10", "all_gold@5", "em", "f1", "accuracy", "coverage",
    "abstained", "abstained:answerable", "abstained:unanswerable", "read", "context_tokens", "tokens", "cost",
)  # fmt: skip
# Added by a reader's settings: for compression, replies, routes, second attempts and proofs.
OF_READER = {
    "compress": ("coverage:read", "coverage:read:substring", "read_tokens"),
    "prompt": ("flawed",),
    "route": ("flawed", "misrouted"),
    "retry": ("retried",),
    "check": ("verified", "accuracy:verified"),
}
PROMPTED = ("sparql", "cot", "sparql-exec")  # readers whose name states the prompt
OF_SHORT = ("em", "f1")  # of the short answer, if the reader had it rewritten; all others are of the answer itself
JUDGED = ("accuracy:thesis", "judged", "judge_unknown")  # need a judge
GRAPHRAG_BENCH = graphrag_bench.MEASURES  # of arXiv 2506.05690: all but `rouge_l` need a judge as well
# How much was read and paid, and how many questions each value stands for: they answer no hypothesis about quality.
COSTS = ("read", "read_tokens", "context_tokens", "tokens", "cost", "seconds", "node_count", "node_count:nodes")
UNDEFINED_AS_A_WHOLE = ("cost",)  # the mean is unknown if one value is


def measure(name: str) -> Measure:
    """The measure of this name, such as `recall@5` or `f1`."""
    base, _, cut = name.partition("@")
    if cut.isdigit() and int(cut) > 0 and base in (*RANKING, *JOINT):
        return _at(base, int(cut))
    if name in ANSWER:
        return lambda question, outcome: None if outcome.answer is None else ANSWER[name](question, outcome)
    for table in (EVIDENCE, NODES):
        if name in table:
            return table[name]
    if name == "seconds":
        raise SettingError(
            "seconds are not a measure, because they differ from run to run; Run.table(seconds=True) has them as a "
            "column"
        )
    raise SettingError(
        f"no measure is called {name!r}; there are {', '.join(f'{base}@k' for base in (*RANKING, *JOINT))}, "
        f"{', '.join([*ANSWER, *EVIDENCE, *NODES])}, and seconds as a column of Run.table(seconds=True)"
    )


def _at(base: str, k: int) -> Measure:
    if base in RANKING:
        return lambda question, outcome: (
            RANKING[base](outcome.ranking, question.support, k) if question.support else None
        )
    return lambda question, outcome: (
        JOINT[base](outcome.ranking, question.support, "" if outcome.lost else outcome.answer, question.answers, k)
        if question.support and question.answers and outcome.answer is not None
        else None
    )


def needs_reader(name: str) -> bool:
    """Whether a measure is one of answers.

    >>> needs_reader("joint@5"), needs_reader("f1"), needs_reader("all_gold@5")
    (True, True, False)
    """
    return name in ANSWER or name.partition("@")[0] in JOINT


def is_known(name: str) -> bool:
    """Whether a measure has this name.

    >>> is_known("recall@7"), is_known("mine")
    (True, False)
    """
    try:
        return bool(measure(name))
    except SettingError:
        return False


def of_reader(label: str) -> tuple[str, ...]:
    """Measures of a reader with this SPEC, in addition to `DEFAULT`.

    >>> of_reader("direct[k=3]"), of_reader("direct[compress=similarity,retry=cot]")
    ((), ('coverage:read', 'coverage:read:substring', 'read_tokens', 'retried'))
    """
    name, settings = parse_spec(label)
    given = [key for key in OF_READER if settings.get(key) not in (None, False)]
    given += ["prompt"] * (name in PROMPTED) + ["check"] * (name == "sparql-exec")
    return tuple(dict.fromkeys(measure for key in given for measure in OF_READER[key]))


def deepest(names: Sequence[str]) -> int:
    """The largest k of the measures (0 if none uses a ranking)."""
    return max((int(name.partition("@")[2]) for name in names if "@" in name), default=0)


def _steps(question: Question) -> list[str]:
    answers = [step.get("answer") for step in question.decomposition or ()]
    return [str(answer) for answer in answers] if None not in answers else []
