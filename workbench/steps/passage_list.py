"""The list of passages in the prompts of several Steps."""

from __future__ import annotations

from collections.abc import Sequence

# Used in the worked examples of several Steps; invented.
QUESTION = "In which country was the founder of Kestrel FM born?"
STATION = ("Kestrel FM", "Kestrel FM is a community radio station founded by Nora Whitlock in 1984.")
FOUNDER = ("Nora Whitlock", "Nora Whitlock is a broadcaster who was born in Alderby, Norway.")


def numbered(passages: Sequence[tuple[str, str]], words: int | None = None) -> str:
    """`[1] title` with the text below, a blank line between passages, and at most `words` words of each text."""
    return "\n\n".join(
        f"[{number}] {title}\n{_cut(text, words)}" for number, (title, text) in enumerate(passages, 1)
    ) or "none"  # fmt: skip


def _cut(text: str, words: int | None) -> str:
    parts = text.split(" ", words) if words else [text]
    return text if not words or len(parts) <= words else " ".join(parts[:words]) + " …"
