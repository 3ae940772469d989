"""A film graph of a few entities, for methods that search a typed graph; cosines and keywords as a test says."""

from __future__ import annotations

import numpy as np

from workbench.data import Dataset
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.index import Index
from workbench.llm.engine import RulesEngine
from workbench.llm.step import Result
from workbench.records import Passage
from workbench.steps import keywords

# (name, type, passages that it is described from)
ENTITIES = (
    ("Dune Fever", "movie", ("p1",)),
    ("Salt", "movie", ("p2",)),
    ("Rust", "movie", ("p3",)),
    ("Ada Lind", "person", ("p4", "p5")),
    ("Bo Dahl", "person", ("p6",)),
    ("Drama", "genre", ("p7",)),
)
# (source, label, target, passages, weight)
RELATIONS = (
    ("Dune Fever", "directed_by", "Ada Lind", ("p1", "p4"), 1.0),
    ("Dune Fever", "written_by", "Ada Lind", ("p1",), 2.0),
    ("Salt", "directed_by", "Ada Lind", ("p2", "p5"), 1.0),
    ("Salt", "written_by", "Bo Dahl", ("p2", "p6"), 1.0),
    ("Dune Fever", "has_genre", "Drama", ("p1", "p7"), 1.0),
    ("Salt", "has_genre", "Drama", ("p2", "p7"), 1.0),
    ("Rust", "has_genre", "Drama", ("p3", "p7"), 1.0),
    ("Rust", "remake_of", "Rust", ("p3",), 1.0),
)


class Pointing:
    """A text has the cosine of the first of `cosines` that stands in it, else -1, with every question."""

    name, dimension = "pointing", 2

    def __init__(self, cosines: dict[str, float]):
        self.cosines, self.queries = cosines, []

    def encode(self, texts):
        found = [next((cosine for name, cosine in self.cosines.items() if name in text), -1.0) for text in texts]
        return np.array([(cosine, np.sqrt(1 - cosine**2)) for cosine in found], dtype=np.float32).reshape(-1, 2)

    def encode_query(self, text, task=""):
        self.queries.append(text)
        return np.array([1.0, 0.0], dtype=np.float32)


def film_index(folder, cosines=None, entities=ENTITIES, relations=RELATIONS, titles=None, encoder=None) -> Index:
    """Passages say "text of p1"; entities are described as "about Salt"; a relation as "Salt directed_by Ada Lind" with
    its label as its keyword. In `cosines`, these words name passages, entities and relations."""
    names = sorted(
        {name for *_, names in entities for name in names} | {p for *_, names, _ in relations for p in names}
    )
    return Index.build(
        Dataset(
            "films",
            tuple(Passage(name, (titles or {}).get(name, name), f"text of {name}.") for name in names),
            profiles=Profiles(
                tuple(EntityProfile(name, kind, f"about {name}", passages) for name, kind, passages in entities),
                tuple(
                    RelationProfile(source, target, f"{source} {label} {target}", (label,), weight, passages, label)
                    for source, label, target, passages, weight in relations
                ),
            ),
        ),
        None,
        folder,
        encoder=encoder or Pointing(cosines or {}),
        layers=["typed"],
        progress=False,
    )


class Saying(RulesEngine):
    """A model that gives these keywords, or fails."""

    name = "openai:saying"

    def __init__(self, high=(), low=(), failure=None):
        super().__init__()
        self.output = keywords.Output(high_level=list(high), low_level=list(low))
        self.failure = failure

    def run(self, step, inputs, *, trace=None):
        if step is not keywords.STEP:
            return super().run(step, inputs, trace=trace)
        return [Result(None if self.failure else self.output, self.failure) for _ in inputs]
