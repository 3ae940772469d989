"""The frame of the command line: verbs register here (`verb`) and return an `Output`, which is shown as tables, or as
JSON with `--json`. Errors meant for the user have no traceback."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table

from workbench.cli.options import flattened
from workbench.errors import Deferred, WorkbenchError
from workbench.text import clean, printable, printable_json

# Group in the help → its verbs, both in the order in which the help shows them.
GROUPS = {
    "Start": ("doctor", "list", "index", "ask", "lab", "notebooks", "run"),
    "Evaluate": ("estimate", "evaluate", "grid", "runs", "compare", "diagnose", "table"),
    "Share": ("bundle", "export"),
    "Models": ("answers", "batch", "train"),
    "Maintain": ("insert", "delete", "check"),
}
KINDS = ("methods", "readers", "compressors", "measures", "datasets")  # of `list`; each is also short for it
GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}


class _Grouped(typer.core.TyperGroup):
    """Lists the verbs in the order of `GROUPS`; the name of a kind stands for `list KIND`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, ["list", *args] if args[0] in KINDS else args)

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(self.commands, key=lambda name: [*GROUP_OF, name].index(name))


app = typer.Typer(
    name="workbench", cls=_Grouped, no_args_is_help=True, pretty_exceptions_show_locals=False,
    help="Multi-hop question answering over graphs: build an index, retrieve, ask, evaluate.",
)  # fmt: skip


class Terminal(Console):
    """A console to which no text that is printed can send a command of its own."""

    def render_str(self, text: str, **how: Any) -> Any:
        return super().render_str(printable(text), **how)


out = Terminal(highlight=False, width=None if sys.stdout.isatty() else 200)  # what is piped or logged is not folded
err = Terminal(highlight=False, stderr=True)
DEFERRED = 75  # the code of a verb that waits for a batch: try again later


class Output(NamedTuple):
    """The output of a verb: `json` with --json, else its `parts`, one after the other, and then the `notes`, on the
    error stream. Lines are marked up for rich, records display themselves. Any `code` but 0 is a fault."""

    json: Any
    parts: Sequence[Any]
    notes: Sequence[str] = ()
    code: int = 0
    wrapped: bool = True


def _say_versions(wanted: bool) -> None:
    if wanted:
        from platform import python_version

        from workbench import __version__

        out.print(f"hopscope {__version__}, Python {python_version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_say_versions, help="say the versions, Python's too")
    ] = False,
) -> None:
    """Options before the verb."""


def verb(function: Callable | None = None, *, json: bool = True, of: typer.Typer = app, **settings: Any) -> Callable:
    """Register a verb, with the option --json. An error meant for the user is printed in one line, with exit code 1."""
    if function is None:
        return lambda function: verb(function, json=json, of=of, **settings)

    call = flattened(function, json)

    @wraps(call)
    def guarded(**given: Any) -> None:
        as_json = json and given.pop("json")
        try:
            if output := call(**given):
                show(output, as_json)
        except Deferred:
            raise typer.Exit(DEFERRED) from None
        except (WorkbenchError, OSError) as error:  # a full disk, a locked folder
            more = "" if isinstance(error, WorkbenchError) else "; what was finished is kept"
            err.print(f"[bold red]{type(error).__name__}[/]: {escape(str(error))}{more}", soft_wrap=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:  # `stopping` prints the message
            raise typer.Exit(130) from None

    if of is app:
        settings["rich_help_panel"] = GROUP_OF.get(settings.get("name") or function.__name__)
    return of.command(**settings)(guarded)


def warning_lines(warnings: Sequence[str]) -> list[str]:
    """What displays of an index or a run begin with, as a line of its own."""
    return [escape(f"Warning: {clean('; '.join(warnings))}")] if warnings else []


def code_of(runs) -> int:
    """1 where a run is mostly failures."""
    return 1 if any(run.mostly_failed for run in runs) else 0


def fields_of(record: Any, *names: str, **more: Any) -> dict:
    """Some fields of a record."""
    return {name: getattr(record, name) for name in names} | more


def table_of(rows: Any, columns: Sequence[str] | None = None, lead: int = 1):
    """Some columns of rows or of a data frame, laid out for the terminal, where the first `lead` of them name a row."""
    from workbench.views.terminal import lay_out

    rows = plain(rows)
    return lay_out([{name: row[name] for name in columns or row if name in row} for row in rows], out, lead)


def listed(rows: list[dict]) -> Output:
    return Output(rows, [table_of(rows)])


def show(output: Output, as_json: bool) -> None:
    """Print what a verb gives; JSON without colours and folds, so that it can be piped."""
    if as_json:
        written = json.dumps(plain(output.json), indent=1, ensure_ascii=False, default=str)
        sys.stdout.write(printable_json(written) + "\n")
    else:
        for part in output.parts:
            text = part if isinstance(part, str | Table | Group) else escape(repr(part))
            out.print(text, soft_wrap=not output.wrapped)
        for note in output.notes:
            err.print(note, soft_wrap=True)
    if output.code:
        raise typer.Exit(output.code)


def plain(value: Any) -> Any:
    """A value as JSON has it: records are objects, data frames lists of rows, and NaN, which JSON lacks, is null."""
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return plain(value.to_dict("records"))
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and value != value else value
