"""Rows in a terminal: no word is broken while there is a line that it fits into."""

import pytest
from rich.console import Console

from workbench.records import Answer
from workbench.trace import Trace
from workbench.views.contexts import excerpt
from workbench.views.parts import details, group, interval, line, table
from workbench.views.render import text_of
from workbench.views.terminal import lay_out

ROWS = [
    {
        "method": "hipporag2",
        "paper": "From RAG to Memory (arXiv 2502.14802)",
        "settings": "seed_phrases=5, merge=overwrite",
        "n": 7,
    },
    {"method": "dense", "paper": "", "settings": "–", "n": None},
]


def shown(rows, width: int, lead: int = 1) -> str:
    console = Console(width=width)
    with console.capture() as captured:
        console.print(lay_out(rows, console, lead))
    return captured.get()


@pytest.mark.parametrize("width", [30, 40, 50, 60, 80, 120])
def test_words_stay_whole_and_lines_within_the_width(width):
    lines = shown(ROWS, width).splitlines()
    words = {word for row in ROWS for text in row.values() if isinstance(text, str) for word in text.split()}
    assert words - {word for line in lines for word in line.split()} <= {"–"}
    assert max(map(len, lines)) <= width


def test_a_table_has_one_line_for_a_row_where_there_is_room():
    lines = shown(ROWS, 120).splitlines()
    assert len(lines) == 3 and lines[0].split() == ["method", "paper", "settings", "n"]


def test_where_a_word_has_no_room_each_row_is_a_block_without_what_is_empty():
    assert shown(ROWS, 40).splitlines() == [
        "hipporag2",
        "  paper: From RAG to Memory (arXiv",
        "    2502.14802)",
        "  settings: seed_phrases=5,",
        "    merge=overwrite",
        "  n 7",
        "dense",
    ]


def test_several_columns_can_name_a_block():
    rows = [{"measure": "coverage:read", "method": "hipporag2[profile=paper]", "low": 0.5, "high": 1}]
    assert shown(rows, 42, lead=2).splitlines() == [
        "coverage:read  hipporag2[profile=paper]", "  low 0.5000, high 1",
    ]  # fmt: skip


def test_what_is_longer_than_a_line_is_broken_and_nothing_is_lost():
    (head, *rest) = shown([{"name": "a", "path": "/" + 50 * "x"}], 20).splitlines()
    assert head == "a" and "".join(line.strip() for line in rest) == "path:/" + 50 * "x"


def test_what_looks_like_markup_is_shown_as_it_is():
    assert "[bold]a[/]" in shown([{"name": "[bold]a[/]", "n": 1}], 80)
    assert "[bold]a[/]" in shown([{"name": "[bold]a[/]", "n": 1}], 12)


def test_what_stands_unfolded_on_a_page_is_its_text():
    rows = [(1, details("sum", line("folded"))), (20, None)]
    open_, shut = (details(name, line(f"in {name}"), open=name == "open") for name in ("open", "shut"))
    shown = group(line("a <b>"), table(["x", "y"], rows), open_, shut, interval(0, 0.5, 1, -1, 1))
    assert text_of(shown) == "a <b>\n  x   y\n  1   sum\n  20\n  open\n  in open\n  shut"
    assert text_of(group(*map(line, ["line"] * 1000))).endswith("\n… 600 more lines")


def test_no_rows_are_an_empty_table():
    assert not shown([], 80).strip()


def nested() -> Trace:
    trace = Trace()
    with trace.span("CHAIN", "outer"), trace.span("CHAIN", "inner") as span:
        span.set(**{f"output_{number}": "some words that go on " * 2 for number in range(6)})
    return trace


@pytest.mark.parametrize("columns", [40, 80])
def test_what_goes_on_of_a_trace_stands_further_in_than_where_it_began(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    _, outer, inner, *rest = repr(nested()).splitlines()
    assert outer == "  CHAIN outer" and inner.startswith("    CHAIN inner: output_0=some words")
    assert rest and all(line.startswith(" " * 8) and line[8] != " " for line in rest)
    assert max(map(len, [inner, *rest])) <= columns
    whole = " ".join(line.strip() for line in [inner, *rest])
    assert all(f"output_{number}=" in whole for number in range(6))


def test_a_trace_says_who_answered_a_step():
    trace = Trace()
    for engine in ("rules", "worked:meridian#546b8bf1", "openai:gpt-4o-mini"):
        with trace.span("LLM", "fact_filter", engine=engine):
            pass
    _, *lines = repr(trace).splitlines()
    assert [line.strip() for line in lines] == [
        "RULES fact_filter", "WRITTEN fact_filter", "LLM fact_filter (openai:gpt-4o-mini)",
    ]  # fmt: skip
    assert {event.kind for event in trace} == {"LLM"}  # what is stored is OpenInference's
    page = trace._repr_html_()
    assert [f"'tag'>{kind}</span>" in page for kind in ("RULES", "WRITTEN", "LLM")] == [True] * 3


# -- the sentence that holds the answer --------------------------------------------------------------------------------

LONG = "read in: " + " → ".join(f"Sentence {number} says nothing of it at all." for number in range(20))
HELD = f"{LONG} → The film was directed by Pia Normelle in 1951."


def test_the_sentence_that_holds_the_answer_is_shown_with_the_answer_marked():
    shown = str(excerpt(HELD, "Pia Normelle", 100))
    assert shown == "read in: … The film was directed by «Pia Normelle» in 1951."
    assert str(excerpt(HELD, "Pia Normelle", 5_000)) == HELD.replace("Pia Normelle", "«Pia Normelle»")
    trace = Trace()
    with trace.span("LLM", "answer", engine="rules") as span:
        span.set(thought=HELD, answer="Pia Normelle")
    answer = Answer("Who?", "Pia Normelle", thought=HELD, reader="direct", engine="rules", trace=trace)
    assert "«Pia Normelle»" in repr(trace) and "«Pia Normelle»" in repr(answer)
    assert "directed by <b>Pia Normelle</b> in 1951" in answer._repr_html_()


@pytest.mark.parametrize(
    ("answer", "start"), [("", "read in: Sentence 0"), ("Oslo", "read in: Sentence 0"), ("19", "read in: … Sentence ")]
)
def test_a_text_without_the_answer_is_cut_at_its_end(answer, start):
    assert str(excerpt(LONG, answer, 60)).replace("«", "").startswith(start)


def test_a_sentence_longer_than_the_room_is_cut_around_the_answer():
    text = f"{'so ' * 200}the harbour of Orsby {'and on ' * 200}"
    shown = excerpt(text, "orsby", 80)
    assert shown.answer == "Orsby" and len(str(shown)) < 100
    assert shown.before.endswith("harbour of ") and shown.after.endswith(" …")
