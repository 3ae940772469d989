"""Invented worlds to train on: short encyclopedia articles about people, places, works and organisations, and questions
whose answers take two to four of them.

    python benchmarks/gfm_worlds.py FOLDER [--seed N] [--entities N]

writes a data folder. A world is drawn from a seed: its names are made of syllables of its own, its facts at random, and
each fact is told in one of several wordings, so a rule or a model has to extract it from prose. Nothing in it is real.
A question is a chain of facts: "Where was the director of the film … born?", or a comparison of two things of a kind.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import dataclass, field
from pathlib import Path

import workbench as wb
from workbench.data import Dataset
from workbench.records import Passage, Question

# Kind of subject → relation: the kind of its object, wordings that tell the fact, noun phrases for the object, and
# questions for it. {s} stands for the subject and {o} for the object.
FACTS = json.loads((Path(__file__).parent / "gfm_worlds.json").read_text(encoding="utf-8"))
SHARES = {
    "person": 46, "city": 14, "country": 5, "river": 7, "company": 14, "film": 16, "novel": 10, "song": 8, "band": 7,
    "university": 7, "ship": 5, "team": 5, "battle": 4, "award": 4,
}  # fmt: skip
COMPARED = {
    "film": ("year", ["Which film came out first, {a} or {b}?", "Which film was released earlier, {a} or {b}?"]),
    "company": ("year", ["Which company is older, {a} or {b}?", "Which was founded first, {a} or {b}?"]),
    "person": ("birth", ["Who was born first, {a} or {b}?", "Who is older, {a} or {b}?"]),
    "city": ("country", ["Are {a} and {b} in the same country?", "Are {a} and {b} both cities of one country?"]),
    "river": ("length", ["Which river is longer, {a} or {b}?"]),
}
TRADES = (
    "painter",
    "engineer",
    "actor",
    "writer",
    "merchant",
    "composer",
    "general",
    "chemist",
    "politician",
    "singer",
)
ADJECTIVES = (
    "Silent", "Broken", "Golden", "Distant", "Hollow", "Crimson", "Last", "Burning", "Hidden", "Paper", "Iron",
    "Winter", "Second", "Glass", "Bitter", "Northern", "Endless", "Blue", "Sleeping", "Stolen",
)  # fmt: skip
NOUNS = (
    "Harbour", "Garden", "Letter", "Mountain", "Mirror", "Orchard", "Kingdom", "Window", "Stranger", "Lantern",
    "Bridge", "Summer", "Horse", "Crown", "Voyage", "Door", "Island", "Shadow", "Promise", "Clock",
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


@dataclass
class World:
    """The entities of each kind, and (subject, relation) → object, with the subject's kind beside it."""

    rng: random.Random
    names: dict[str, list[str]] = field(default_factory=dict)
    facts: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)
    kind: dict[str, str] = field(default_factory=dict)


def world(seed: int, entities: int = 150) -> Dataset:
    """The data set of a seed, of about so many articles."""
    made = World(random.Random(f"world {seed}"))
    syllables = _syllables(made.rng)
    for kind, share in SHARES.items():
        count = max(3, round(share * entities / sum(SHARES.values())))
        made.names[kind] = _distinct(made, kind, count, syllables)
        made.kind.update(dict.fromkeys(made.names[kind], kind))
    for kind, names in made.names.items():
        for name in names:
            made.facts[name] = {
                relation: (one["object"], _object(made, one["object"], name))
                for relation, one in FACTS[kind].items()
                if made.rng.random() < 0.85
            }
    passages = tuple(Passage(_slug(name), name, _article(made, name)) for name in made.facts)
    return Dataset(f"world-{seed}", passages, tuple(_questions(made, seed, 2 * entities)))


def _article(made: World, name: str) -> str:
    kind, rng = made.kind[name], made.rng
    facts = list(made.facts[name].items())
    rng.shuffle(facts)
    said = [
        rng.choice(FACTS[kind][relation]["told"]).format(s=name, o=_called(made, thing))
        for relation, (_, thing) in facts
    ]
    trade = rng.choice(TRADES)
    opening = f"{name} was {'an' if trade[0] in 'aeiou' else 'a'} {trade}." if kind == "person" else ""
    return " ".join(filter(None, [opening, *said])) or f"{name} is little known."


def _called(made: World, thing: str) -> str:
    """How an article calls another one's subject: as often as not by a variant of its name, so that a chain crosses
    synonyms."""
    rng, kind = made.rng, made.kind.get(thing)
    if kind is None or rng.random() < 0.55:
        return thing
    first, _, rest = thing.partition(" ")
    return rng.choice(
        {
            "person": [f"{first} {rng.choice('ABDEFHJKLMNRST')}. {rest}", f"{rng.choice(('Sir', 'Dr'))} {thing}"],
            "city": [f"the city of {thing}", f"{thing} City", f"Old {thing}"],
            "country": [f"the Republic of {thing}", f"the Kingdom of {thing}"],
            "river": [f"the {thing}", f"the {rest} River"],
            "company": [f"{thing} Ltd", f"the {thing}", f"{thing} of {rng.choice(made.names['city'])}"],
            "film": [f"the film {thing}", f'"{thing}"'],
            "novel": [f"the novel {thing}", f'"{thing}"'],
            "song": [f"the song {thing}"],
            "band": [thing.removeprefix("The "), f"the group {thing.removeprefix('The ')}"],
            "university": [f"the {thing}", f"{thing.removeprefix('University of ')} University"],
            "ship": [f"the {thing}"],
            "team": [f"{thing} FC"],
            "battle": [f"the {thing}"],
            "award": [f"the {thing}", f"{thing} for Merit"],
        }[kind]
    )


def _questions(made: World, seed: int, count: int) -> list[Question]:
    rng, found = made.rng, {}
    subjects = [name for name in made.facts if made.kind[name] != "person" or rng.random() < 0.4]
    while len(found) < count:
        if rng.random() < 0.2:
            asked = _comparison(made)
        else:
            asked = _chain(made, rng.choice(subjects), rng.choices((2, 3, 4), (6, 3, 1))[0])
        if asked:
            found.setdefault(asked[0], asked)
    return [
        Question(f"w{seed}-{at}", text, (answer,), hops=len(support), support=tuple(map(_slug, support)))
        for at, (text, answer, support) in enumerate(found.values())
    ]


def _chain(made: World, start: str, hops: int) -> tuple[str, str, list[str]] | None:
    """A walk along facts, each told in the article of its subject."""
    kind, at, support = made.kind[start], start, []
    said = f"the {kind} {start}" if made.rng.random() < 0.3 and kind not in ("person", "city", "country") else start
    for hop in range(hops):
        last, kind = hop == hops - 1, made.kind[at]
        going = [
            (relation, thing)
            for relation, (_, thing) in made.facts[at].items()
            if last or (thing in made.kind and thing not in (*support, at) and FACTS[kind][relation]["named"])
        ]
        if not going:
            return None
        relation, thing = made.rng.choice(going)
        support.append(at)
        wordings = FACTS[kind][relation]["asked" if last else "named"]
        said = made.rng.choice(wordings).format(s=said)
        at = thing
    return said, at, support


def _comparison(made: World) -> tuple[str, str, list[str]] | None:
    kind, (relation, wordings) = made.rng.choice(list(COMPARED.items()))
    one, other = made.rng.sample(made.names[kind], 2)
    if relation not in made.facts[one] or relation not in made.facts[other]:
        return None
    values = [made.facts[name][relation][1] for name in (one, other)]
    if relation == "country":
        answer = "yes" if values[0] == values[1] else "no"
    else:
        first, second = map(_size, values)
        answer = one if (first > second if relation == "length" else first < second) else other
    return made.rng.choice(wordings).format(a=one, b=other), answer, [one, other]


def _size(value: str) -> tuple[int, ...]:
    """A year, a date or a length as numbers that compare."""
    day, *rest = value.replace(" kilometres", "").split()
    return (int(rest[1]), MONTHS.index(rest[0]), int(day)) if rest else (int(day),)


def _object(made: World, wanted: str, subject: str) -> str:
    rng = made.rng
    if wanted in made.names:
        return rng.choice([name for name in made.names[wanted] if name != subject])
    year = rng.randint(1780, 2015)
    return {
        "date": f"{rng.randint(1, 28)} {rng.choice(MONTHS)} {year}", "year": str(year),
        "number": f"{rng.randint(4, 900)},{rng.randint(0, 999):03}", "length": f"{rng.randint(20, 1900)} kilometres",
    }[wanted]  # fmt: skip


def _distinct(made: World, kind: str, count: int, syllables: list[str]) -> list[str]:
    known = set(made.kind)
    found: dict[str, None] = {}
    while len(found) < count:
        name = _name(made.rng, kind, syllables)
        if name not in known and _slug(name) not in map(_slug, found):
            found[name] = None
    return list(found)


def _name(rng: random.Random, kind: str, syllables: list[str]) -> str:
    def word(least: int = 2, most: int = 3) -> str:
        return "".join(rng.choice(syllables) for _ in range(rng.randint(least, most))).capitalize()

    title = f"{rng.choice(('The ', ''))}{rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}"
    return {
        "person": f"{word()} {word()}", "city": word(), "country": f"{word()}ia", "river": f"River {word(1, 2)}",
        "company": f"{word()} {rng.choice(('Company', 'Brothers', 'Works', 'Press', 'Records', 'Group', 'Pictures'))}",
        "film": title, "novel": f"{title} of {word()}", "song": f"{rng.choice(ADJECTIVES)} {word()}",
        "band": f"The {word()} {rng.choice(NOUNS)}s", "university": f"University of {word()}",
        "ship": f"SS {word()}", "team": f"{word()} {rng.choice(('United', 'Rovers', 'Athletic', 'City'))}",
        "battle": f"Battle of {word()}", "award": f"{word()} {rng.choice(('Prize', 'Medal', 'Award'))}",
    }[kind]  # fmt: skip


def _syllables(rng: random.Random) -> list[str]:
    onsets = rng.sample(
        ["b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "br", "dr", "st", "tr", "th"], 11
    )
    vowels, codas = rng.sample(["a", "e", "i", "o", "u", "ai", "ea", "ou"], 5), ["", "", "n", "r", "l", "s", "nd", "rk"]
    return [onset + vowel + rng.choice(codas) for onset in onsets for vowel in vowels]  # fmt: skip


def _slug(name: str) -> str:
    return "-".join(name.lower().split())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--entities", type=int, default=150)
    given = parser.parse_args()
    print(wb.write_folder(world(given.seed, given.entities), given.folder))
