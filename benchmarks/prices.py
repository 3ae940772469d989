"""Write the list of prices that the workbench brings, from the models that genai-prices (MIT) keeps.

    pip install genai-prices
    python benchmarks/prices.py [workbench/llm/prices.csv]

US dollars per million tokens, also in batches where the provider has a price for them, as of today. Where the price
depends on the length of the prompt or on the time of day, the list has that of short prompts at the dearest time. Of a
model that several providers serve, it has the price of the first of `PROVIDERS`: whoever uses another writes its price
into a list of their own, which stands above this one."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

PROVIDERS = ("openai", "anthropic", "google", "deepseek", "groq", "mistral", "together", "openrouter")
MODELS = re.compile(r"(gpt|o\d|text-embedding|claude|gemini|llama|deepseek|qwen|mi[sx]tral)[-.\d]")
OTHER_USES = re.compile(r"audio|realtime|image|tts|transcribe|vision|search|live|guard|:|instruct-lite|codex|veo|vl-")
ALSO = {  # names under which papers and their code ask for a model: what the list calls it
    "gpt-3.5-turbo-0125": "gpt-3.5-turbo", "llama-3.1-8b-instruct": "llama-3.1-8b-instant",
    "meta-llama-3.1-8b-instruct": "llama-3.1-8b-instant", "llama-3.3-70b-instruct": "llama-3.3-70b-versatile",
    "deepseek-v3-0324": "deepseek-chat-v3-0324",
}  # fmt: skip
COLUMNS = ("model", "prompt", "completion", "since", "batch_prompt", "batch_completion")


def rows() -> Iterator[tuple[str, ...]]:
    from genai_prices.data import providers

    found: dict[str, tuple[str, ...]] = {}
    by_name = {provider.id: provider for provider in providers}
    for provider in (by_name[name] for name in PROVIDERS):
        for model in provider.models:
            name = model.id.rpartition("/")[2].casefold()
            if MODELS.match(name) and not OTHER_USES.search(name) and (price := _price(model)):
                found.setdefault(name, (name, *price))
    found |= {name: (name, *found[listed][1:]) for name, listed in ALSO.items()}
    yield from (found[name] for name in sorted(found))


def _price(model: Any) -> tuple[str, ...] | None:
    """Of a million tokens of prompt and completion, since when, and of both in batches; None if it is not by tokens."""
    plain = model.prices if isinstance(model.prices, list) else [model.prices]
    sets = [getattr(one, "prices", one) for one in plain]
    known = [
        pair for one in sets if None not in (pair := (_dollars(one, "input_mtok"), _dollars(one, "output_mtok", 0)))
    ]
    if not known:
        return None
    batch = next((one.prices for one in model.price_variants or () if one.when == {"processing": "batch"}), None)
    in_batches = [_dollars(batch, name) if batch else None for name in ("input_mtok", "output_mtok")]
    in_batches = ["" if None in in_batches else f"{one:g}" for one in in_batches]
    return (*(f"{one:g}" for one in max(known)), date.today().isoformat(), *in_batches)


def _dollars(prices: Any, name: str, default: float | None = None) -> float | None:
    value = getattr(prices, name, None)
    value = getattr(value, "base", value)  # of tiers, the price of short prompts
    return default if value is None else float(value)


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "workbench" / "llm" / "prices.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows())


if __name__ == "__main__":
    main()
