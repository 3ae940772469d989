"""Names say what they hold: participles and pronouns that could stand for anything define nothing, but where a file on
disk, a prompt or a public record has them since before (docs/glossary.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "workbench"
EMPTY = {"one", "found", "said", "asked", "known", "shown", "told", "kept", "stands"}
EMPTY |= {"Asked", "Found", "Standing", "Said", "Told", "Hands", "Blot"}
# File → its names. The list shrinks: a name that is gone has to leave it.
ALLOWED = {
    "analyses/diagnose.py": "asked",
    "cli/doctor.py": "found",
    "evaluation/run.py": "asked",
    "index/usage.py": "known",
    "language/questions.py": "asked",
    "measures/__init__.py": "shown",
    "methods/agentic.py": "shown",
    "methods/bdtr.py": "asked",
    "methods/catrag/steering.py": "shown",
    "methods/composite.py": "asked",
    "methods/dotrag/__init__.py": "kept",
    "methods/dotrag/dots.py": "found kept",
    "methods/dotrag/events.py": "kept",
    "methods/dotrag/search.py": "kept",
    "methods/iterative/__init__.py": "asked shown",
    "methods/iterative/events.py": "found kept",
    "methods/rerank.py": "asked",
    "methods/youtu/__init__.py": "shown",
    "methods/youtu/routed.py": "found",
    "papers/placing.py": "asked",
    "reading/base.py": "asked",
    "reading/compression/budget_fill.py": "kept",
    "reading/compression/published.py": "kept",
    "reading/graphrag.py": "asked",
    "reading/render.py": "shown",
    "reading/sparql_exec.py": "asked",
    "records.py": "kept",
    "rules/sentences.py": "asked",
    "steps/corpus_questions.py": "Asked",
    "steps/dual_thoughts.py": "shown",
    "steps/entity_relations.py": "found",
    "steps/graph_records.py": "found",
    "steps/judge_paths.py": "kept",
    "steps/named_entities.py": "Found",
    "steps/rate_neighbours.py": "known",
    "steps/reporting.py": "found",
    "steps/textualising.py": "Told",
    "views/ablator.py": "shown",
    "views/replay_widget.py": "shown",
    "views/steering_widget.py": "shown",
    "views/verdicts_widget.py": "found",
    "views/widget.py": "shown",
}


def defined(tree: ast.AST) -> Iterator[str]:
    """Every name that a module binds: definitions, parameters, variables, fields, attributes, imports."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.arg():
                yield node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr
            case ast.alias():
                yield node.asname or node.name
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if node.name:
                yield node.name


def modules() -> dict[str, ast.Module]:
    files = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def test_names_say_what_they_hold():
    names = {file: set(defined(tree)) for file, tree in modules().items()}
    empty = {file: sorted(name for name in of_file if name.strip("_") in EMPTY) for file, of_file in names.items()}
    assert {file: " ".join(of_file) for file, of_file in empty.items() if of_file} == ALLOWED


def test_only_a_display_is_called_underscore():
    for file, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == "_":
                assert any(".register" in ast.unparse(by) for by in node.decorator_list), f"{file}:{node.lineno}"
