"""Rows in a terminal: no word is broken while there is a line that it fits into."""

import pytest
from rich.console import Console

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


def test_no_rows_are_an_empty_table():
    assert not shown([], 80).strip()
