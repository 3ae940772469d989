"""Whether the tests notice that the package is broken: known mistakes, made one after the other on purpose.

    python benchmarks/mutations.py [NAME ...] [--list]

Copies the tree to a temporary folder, runs the tests that the mutations name once without any change, then makes each
mutation in the copy, runs its tests, and takes it back. Prints a table: `caught` where a test failed, `SURVIVED` where
all passed, `broken` where the tests could not even be collected, so that nothing was shown. Exits with 1 unless all are
caught. A mutation is found by a text that occurs once below its folder; where it no longer does, this says so at once
(`tests/test_mutations.py` does as well)."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LEFT_OUT = (".git", ".venv", "indexes", "runs", "lab", "build", "dist", "__pycache__", ".*_cache", ".hypothesis")
LIMIT = 900  # seconds for the tests of one mutation


class Mutation(NamedTuple):
    """`old` stands once in the Python files below `folder` (or in that file) and becomes `new`; `tests` notice it."""

    name: str
    folder: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]


class Outdated(Exception):
    """The text of a mutation is not there, or more than once."""


M = Mutation
MUTATIONS = (
    M("damping inverted", "workbench/operators", "after *= d\n", "after *= 1 - d\n",
      "the walk restarts as often as it should follow an edge", ("tests/operators/test_pagerank.py",)),
    M("PageRank not normalised", "workbench/operators", "q / q.sum()\n", "q\n",
      "what dangling nodes hold is lost", ("tests/operators/test_pagerank.py",)),
    M("seeds without specificity", "workbench/methods", "score if passages_of is None else score / passages_of[phrase]",
      "score", "a phrase of many passages weighs as much as a rare one", ("tests/methods/test_phrase_seeds.py",)),
    M("activation forgotten", "workbench/methods", "np.maximum(self._mentioned_in @ through, values)",
      "self._mentioned_in @ through", "an entity of the question would fade",
      ("tests/methods/test_linearrag.py",)),
    M("one of two names", "workbench/methods", "(counts[:, a] > 0) & (counts[:, b] > 0)",
      "(counts[:, a] > 0) | (counts[:, b] > 0)", "a pair leads to what holds both",
      ("tests/methods/test_e2graphrag.py",)),
    M("tree not pruned", "workbench/operators", "and worth[node] - parents[node][1] > SAME", "",
      "a branch costs more than it is worth", ("tests/operators/test_steiner.py",)),
    M("region of any type", "workbench/operators", "frontier = met[admitted[met]]", "frontier = met",
      "the rules of a DOT say which types its region may have", ("tests/operators/test_region.py",)),
    M("judged nodes again", "workbench/methods/dotrag", "~np.isin(self.rows, list(without))",
      "np.ones(len(self.rows), dtype=bool)", "a search would find the same candidates for ever",
      ("tests/methods/test_dotrag.py", "tests/methods/test_dotrag_invariants.py")),
    M("synonym edges dropped", "workbench/index", "(synonyms.similarities.astype(float), (synonyms.sources",
      "(0 * synonyms.similarities.astype(float), (synonyms.sources", "two spellings of a name are no longer joined",
      ("tests/index/test_graph.py", "tests/methods/test_hipporag2.py")),
    M("threshold of synonyms", "workbench/index", "products >= threshold", "products > threshold + 0.05",
      "pairs at the threshold are synonyms", ("tests/index/test_synonyms.py",)),
    M("torn line kept", "workbench/index", "os.truncate(path, whole)", "None",
      "after a kill the next row is glued to half a row",
      ("tests/index/test_index_usage.py",)),
    M("rules replace a model", "workbench/index", "(by_rules(made_by) and not by_rules(entry.made_by))", "False",
      "answers that were paid for are thrown away", ("tests/index/test_journal.py", "tests/index/test_index_keeps.py")),
    M("seed of the mixture", "workbench/index", "GaussianMixture(size, random_state=how.seed)",
      "GaussianMixture(size, random_state=None, init_params='random', n_init=1)",
      "a tree of summaries differs from build to build", ("tests/index/test_summaries.py",)),
    M("ties by chance", "workbench/encoding", "np.flatnonzero(scores == worst)[: k - len(above)]",
      "np.flatnonzero(scores == worst)[::-1][: k - len(above)]", "equal scores stand in the order of their rows",
      ("tests/operators/test_similarity.py", "tests/methods/test_contract.py")),
    M("equal scores are worth nothing", "workbench/encoding", "np.ones_like(scores) if high == low",
      "np.zeros_like(scores) if high == low", "HippoRAG 2 scales equal scores to one",
      ("tests/operators/test_similarity.py", "tests/methods/test_hipporag2.py")),
    M("budget exceeded", "workbench/tokens.py", "if used + more > cap:", "if used + more > 2 * cap:",
      "a budget in tokens is a promise", ("tests/methods/test_contract.py",)),
    M("pools merged by the worst", "workbench/methods",
      "best = min((-score, evidence.question), (-old.score, old.query))",
      "best = max((-score, evidence.question), (-old.score, old.query))", "BDTR, Eq. 4: a passage keeps its best score",
      ("tests/methods/test_pool.py",)),
    M("verifier's numbers unchecked", "workbench/methods", "if 1 <= number <= len(batch)", "if number <= len(batch)",
      "document 0 of a model would choose the last one", ("tests/methods/test_bdtr.py",)),
    M("cap of paths ignored", "workbench/methods/dotrag", "return paths[:cap]", "return paths[: cap + 1]",
      "DotRAG judges at most `cap` paths in an iteration",
      ("tests/methods/test_dotrag.py", "tests/methods/test_dotrag_invariants.py")),
    M("longer paths first", "workbench/methods/dotrag", "(-candidates[rows[-1]], len(rows), rows)",
      "(-candidates[rows[-1]], -len(rows), rows)", "of two paths to a node the shorter is judged first",
      ("tests/methods/test_dotrag.py", "tests/methods/test_dotrag_invariants.py")),
    M("LightRAG truncates too late", "workbench/tokens.py", "and used + count(texts[len(fitting)]) <= cap",
      "and used <= cap", "the caps of entities and relations decide which passages are read",
      ("tests/methods/test_lightrag.py",)),
    M("compression beyond its budget", "workbench/reading", "values = asdict(given)",
      'values = asdict(given) | {"budget": 2 * given.budget}',
      "a compressed context fits into the tokens that it was promised", ("tests/reading/test_graph_walk.py",)),
    M("HTML not escaped", "workbench/views/render.py", "_stdlib_html.escape(string, quote=True)",
      "string", "a passage could run a script in the notebook", ("tests/test_views.py",)),
    M("recall by k", "workbench/measures", "len(gold & set(ranking[:k])) / len(gold)",
      "len(gold & set(ranking[:k])) / k", "that is precision", ("tests/measures",)),
    M("f1 without its harmonic mean", "workbench/measures", "2 * common / (len(answer) + len(right))",
      "common / max(len(answer), len(right))", "numbers would not be those of SQuAD", ("tests/measures",)),
    M("not counts for nothing", "workbench/measures", 'given[at - 1 : at] != ["not"]', "True",
      '"not Paris" is no answer Paris', ("tests/measures",)),
    M("a failed check holds", "workbench/evaluation", "return all(check.holds for check in self.checks)",
      "return any(check.holds for check in self.checks)", "a verdict holds where all of its checks do",
      ("tests/evaluation/test_verdict.py",)),
    M("Holm without steps", "workbench/evaluation", "(len(p_values) - rank) * p_values[position]",
      "(len(p_values) - rank - 1) * p_values[position]", "differences by chance would count as significant",
      ("tests/evaluation/test_significance.py", "tests/evaluation/test_runs.py")),
    M("rows of other settings hold", "workbench/evaluation",
      'row.get("key") == row_key(method["key"], reading, question)', "True",
      "a resumed run would keep rows that other settings made",
      ("tests/evaluation/test_stale.py", "tests/evaluation/test_evaluate_resume.py")),
    M("replay of the nearest", "workbench/llm", "WHERE key IN ({','.join('?' * len(some))}) ORDER BY key",
      "WHERE key >= ? ORDER BY key",
      "a replay answers what was asked, or says that it cannot",
      ("tests/llm/test_recording.py", "tests/llm/test_record_and_replay.py")),
    M("key in messages", "workbench/llm", "pattern.sub(_MARK, storable(text))", "storable(text)",
      "a key in a log is a key lost", ("tests/llm/test_key_secrecy.py",)),
    M("one call beyond the limit", "workbench/llm", "spent >= limit", "spent > limit",
      "a limit of calls is never exceeded", ("tests/llm/test_budget.py",)),
    M("one try too many", "workbench/llm", "stop_after_attempt(attempts)", "stop_after_attempt(attempts + 1)",
      "an endpoint is asked as often as was agreed", ("tests/llm/test_retrying.py",)),
    M("NaN is JSON", "workbench/llm", "json.JSONDecoder(parse_constant=_refuse)", "json.JSONDecoder()",
      "a score that is NaN would be sorted anywhere", ("tests/llm/test_parse_reply.py",)),
    M("rules without their label", "workbench/evaluation", "'by rules' if by == 'rules' else by",
      "'' if by == 'rules' else by", "a number says who made it", ("tests/evaluation/test_makers.py",)),
    M("thesis' code without articles", "workbench/measures/accuracy.py", "    if not articles:\n",
      "    if articles:\n", "the source's text drops articles, and its code keeps them", ("tests/measures",)),
    M("byte order mark of a name lost", "workbench/data", '"utf-8-sig" if text.startswith("\\ufeff") else "utf-8"',
      '"utf-8"', "a name that begins with the mark would come back without it", ("tests/data/test_writing.py",)),
    M("a token beyond the budget", "workbench/tokens.py", "tokens[: max(0, budget)]", "tokens[: max(0, budget) + 1]",
      "a text that is cut has at most as many tokens as it may", ("tests/test_tokens.py",)),
    M("data of a page not escaped", "workbench/views/render.py", 'page_data(value).replace("<", "\\\\u003c")',
      "page_data(value)", "a label that ends a script would begin another",
      ("tests/views/test_graph_page.py", "tests/views/test_map_page.py")),
    M("the walk's headings are free", "workbench/reading", "budget, hop = budget - _apart(heading(at)), at",
      "hop = at", "what is written counts against the budget", ("tests/reading/test_graph_walk.py",)),
    M("a grid forgets a run", "workbench/evaluation/grid.py",
      'begun = ("run.json", "results.jsonl")', 'begun = ("run.json",)',
      "a reader whose run lost its configuration is named, not left out", ("tests/evaluation/test_grid.py",)),
    M("repeats with one seed", "workbench/llm/chat.py", "self.seed + repeat()", "self.seed",
      "repeats would be the same answer", ("tests/evaluation/test_repeats.py", "tests/llm/test_chat_engine.py")),
    M("contexts without reports", "workbench/layouts", "tuple(report_of(report) for report, _ in evidence.reports)",
      "()", "what GraphRAG reads first would be gone", ("tests/test_layouts.py",)),
    M("half a character is kept", "workbench/exchange", "storable(value) if isinstance(value, str) else value",
      "value", "it could not be written to any file", ("tests/exchange/test_reading.py",)),
)  # fmt: skip


def place(mutation: Mutation, root: Path = ROOT) -> Path:
    """The file in which its text stands; :class:`Outdated` unless that is one, once."""
    named = root / mutation.folder
    files = [named] if named.is_file() else sorted(named.rglob("*.py"))
    counts = {file: count for file in files if (count := file.read_text(encoding="utf-8").count(mutation.old))}
    if sum(counts.values()) != 1:
        found = ", ".join(f"{file.relative_to(root)} ({count})" for file, count in counts.items()) or "nowhere"
        raise Outdated(f"{mutation.name!r}: {mutation.old!r} should stand once below {mutation.folder}, it is {found}")
    (file,) = counts
    return file


def run_tests(tree: Path, tests: list[str]) -> str:
    """`passed`, `failed`, or `broken` where they could not be run."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    # From the copy, whatever is installed: the working folder comes first for `python -m`.
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "failed"  # a search that does not end is noticed
    return {0: "passed", 1: "failed"}.get(done.returncode, "broken")


def attempt(mutation: Mutation, tree: Path) -> str:
    """What the tests say of a mutation: `caught`, `SURVIVED` or `broken`."""
    file = place(mutation, tree)
    before = file.read_text(encoding="utf-8")
    file.write_text(before.replace(mutation.old, mutation.new), encoding="utf-8")
    try:
        said = run_tests(tree, list(mutation.tests))
    finally:
        file.write_text(before, encoding="utf-8")
    return {"passed": "SURVIVED", "failed": "caught"}.get(said, said)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these mutations")
    parser.add_argument("--list", action="store_true", help="print them and where they are made")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - {mutation.name for mutation in MUTATIONS}:
        parser.error(f"no mutation is called {sorted(unknown)[0]!r}; --list shows them")
    chosen = [mutation for mutation in MUTATIONS if not arguments.names or mutation.name in arguments.names]
    places = {mutation.name: place(mutation) for mutation in chosen}
    if arguments.list:
        for mutation in chosen:
            print(f"{mutation.name:32} {places[mutation.name].relative_to(ROOT)}: {mutation.why}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*LEFT_OUT))
        tests = sorted({test for mutation in chosen for test in mutation.tests})
        if (said := run_tests(tree, tests)) != "passed":
            sys.exit(f"without a mutation the tests are {said}; mend that first: pytest -x {' '.join(tests)}")
        outcomes = []
        for mutation in chosen:
            started = time.perf_counter()
            outcomes.append(attempt(mutation, tree))
            print(
                f"{outcomes[-1]:9} {time.perf_counter() - started:6.0f} s  {mutation.name}: {mutation.why}", flush=True
            )
    caught = outcomes.count("caught")
    print(f"{caught} of {len(chosen)} caught")
    return int(caught < len(chosen))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Outdated as error:
        sys.exit(str(error))
