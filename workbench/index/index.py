"""The index: a folder of layers over one corpus, built once and opened by every method.

    index = Index.build(data, engine, "indexes/meridian")
    index = Index.open("indexes/meridian")
    index = index.insert(passages, engine); index = index.delete(["p7"])

An `Index` is a value: it shows the state in which it was opened. `insert` and `delete` change the folder and return
the new state; a method built on the old value goes on giving the old answers."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.data import Dataset, Extraction, load
from workbench.data.curated import extracted
from workbench.data.profiles import Profiles, joined, within
from workbench.encoding import CachedEncoder, Encoder, cached
from workbench.encoding import encoder as known_encoder
from workbench.errors import IndexFault, SettingError
from workbench.index.building import (
    LAYERS,
    check_data,
    check_kinds,
    check_made_by,
    closure,
    encoder_of,
    made_with,
    opened_layers,
    write_layers,
)
from workbench.index.journal import ending_where_most_fail
from workbench.index.layer import Build, Layer, warnings_of
from workbench.index.store import Store
from workbench.index.usage import ARTICLES, IndexUsage, metered, usage_of
from workbench.index.vectors import answers_now
from workbench.llm.engine import Engine, RulesEngine, spread_out
from workbench.llm.engine import engine as known_engine
from workbench.places import folder_name, home
from workbench.records import Passage, Record
from workbench.settings import check_names
from workbench.spread import Workers, over

if TYPE_CHECKING:
    from workbench.index.communities import CommunitiesLayer
    from workbench.index.entity_summaries import EntitySummariesLayer
    from workbench.index.extractions import ExtractionsLayer
    from workbench.index.facts import FactsLayer
    from workbench.index.graph import Graph
    from workbench.index.keywords import KeywordsLayer
    from workbench.index.mentions import MentionsLayer
    from workbench.index.passages import PassagesLayer
    from workbench.index.pieces import PiecesLayer
    from workbench.index.profiles import Phrased, ProfilesLayer
    from workbench.index.relations import RelationsLayer
    from workbench.index.schema_graph import SchemaGraphLayer
    from workbench.index.skeleton import SkeletonLayer
    from workbench.index.summaries import SummariesLayer
    from workbench.index.synonyms import SynonymsLayer
    from workbench.index.tree import TreeLayer
    from workbench.index.trigraph import TriGraphLayer
    from workbench.index.typed import TypedLayer


DEFAULT_LAYERS = ("passages", "facts", "synonyms")
TRIPLES_LAYERS = ("typed",)  # of data that are a graph and have no passages of their own
_COUNTED = (  # layers, what is put before the names, and names in their metadata
    ("facts", "", ("facts",)),
    ("typed", "", ("entities", "relations")),
    ("schema_graph", "schema graph ", ("entities", "relations", "attributes")),
    ("tree", "tree ", ("communities",)),
    ("mentions", "", ("sentences",)),
    ("trigraph", "tri-graph ", ("entities",)),
    ("pieces", "", ("pieces",)),
    ("keywords", "", ("keywords",)),
    ("skeleton", "skeleton ", ("core", "chunks", "entities", "relations")),
)


class Index(Record):
    """An opened index. Layers are attributes by their kind: `index.passages`, `index.facts`, `index.synonyms`."""

    passages: PassagesLayer
    extractions: ExtractionsLayer
    facts: FactsLayer
    synonyms: SynonymsLayer
    relations: RelationsLayer
    profiles: ProfilesLayer
    typed: TypedLayer
    schema_graph: SchemaGraphLayer
    tree: TreeLayer
    communities: CommunitiesLayer
    summaries: SummariesLayer
    mentions: MentionsLayer
    trigraph: TriGraphLayer
    pieces: PiecesLayer
    keywords: KeywordsLayer
    skeleton: SkeletonLayer
    entity_summaries: EntitySummariesLayer

    def __init__(self, folder: str | Path, encoder: Encoder | None = None, opened: Mapping[str, Layer] | None = None):
        """`opened`: layers of this folder that a build has opened already."""
        self.store = Store(folder)
        self.manifest, self._layers = opened_layers(self.store, opened or {})
        self._encoder, self._same_model = encoder, False
        if encoder is not None:
            check_made_by(self.store, self.manifest, encoder)

    @property
    def folder(self) -> Path:
        return self.store.folder

    @property
    def name(self) -> str:
        return self.manifest["data"]["name"]

    # -- building -----------------------------------------------------------------------------------------------

    @classmethod
    def build(
        cls,
        data: Dataset | str | Path,
        engine: Engine | str | None = None,
        folder: str | Path | None = None,
        *,
        encoder: Encoder | str | None = None,
        layers: Iterable[str] | None = None,
        extraction: str | None = None,
        settings: Mapping[str, Mapping] | None = None,
        keep: bool = False,
        keep_going: bool = False,
        cluster: Workers | str | None = None,
        progress: bool = True,
    ) -> Index:
        """Build what is missing of the layers requested (and of those below them), and open the index.

        `folder` is `indexes/<name of the data>` by default; `encoder` that of the index in it, else `minilm`.
        `extraction` names one of those that the data offer (`data.offers`), to be used in place of the engine's:
        `curated`, whose folder is by default `indexes/<name of the data>-curated`.
        `settings` gives a layer other settings than its defaults, such as `{"facts": {"normalise": "ascii"}}`. The
        engine is needed only for what the data do not bring: extractions, profiles. Profiles that the data bring become
        a layer wherever there are facts or a schema graph. Data that are a graph of triples without passages get some
        first (`textualise`, with the settings of `articles`, such as `{"articles": {"profile": "paper"}}`), and are by
        default built up to the layer `typed`. A build that was stopped goes on where it was.

        Layers in the folder that are neither requested nor changed below stay as they are, whoever made them. The
        engine replaces what another engine made of the layers requested; the rules replace a model's extractions alone.
        A model retries what failed and keeps what succeeded. With `keep`, all layers in the folder stay, whoever made
        them, and the engine only adds those that are missing: a model over an index of the rules pays for nothing
        twice, and the index says who made it. `cluster` spreads encoding, Steps and comparisons over processes
        (`workbench.spread.over`); the index has the same bytes.

        Raises :class:`MostFailed` where more than half of the requests for a layer fail, and more than two; what
        succeeded is kept, and the same call asks only for the rest. With `keep_going` the layer is made without what
        failed, as it is where less fails: `warnings` then says so."""
        with over(cluster):
            data = data if isinstance(data, Dataset) else load(data)
            data = extracted(data, extraction)
            encoder = known_encoder(encoder) if isinstance(encoder, str) else encoder
            folder = Path(folder or place_of(data))
            settings = dict(settings or {})
            articles = settings.pop(ARTICLES, {})
            if data.triples and not data.passages:
                from workbench.index import textualise as writing  # asks Steps, which most builds do not

                layers = layers or TRIPLES_LAYERS
                check_names("the writing of articles", writing.SETTINGS, articles)
                writer = spread_out(_builder(engine) or RulesEngine())
                checked = ending_where_most_fail(ARTICLES, keep_going)
                with Store(folder).lock(), metered(folder, ARTICLES, writer, idle=False), checked:
                    data = writing.textualise(data, writer, folder / "textualised", **articles, progress=progress)
            elif articles:
                raise SettingError(
                    f"{data.name!r} is not triples alone, so no articles are written; leave out the settings of "
                    "articles"
                )
            wanted = closure(set(layers or DEFAULT_LAYERS))
            if keep:
                standing = Store(folder).read_manifest()["layers"]
                wanted = [kind for kind in wanted if kind not in standing]
            return cls._build(data, engine, folder, encoder, wanted, settings, progress=progress, keep_going=keep_going)

    @classmethod
    def _build(
        cls,
        data: Dataset,
        engine: Engine | str | None,
        folder: str | Path,
        encoder: Encoder | None,
        wanted: Collection[str],
        settings: Mapping[str, Mapping],
        opened: Mapping[str, Layer] | None = None,
        **how: bool,
    ) -> Index:
        """Bring the present layers up to date, and the `wanted` ones with the layers below them."""
        store, engine = Store(folder), _builder(engine)
        check_kinds(settings)
        with store.lock():
            manifest = store.read_manifest()
            check_data(store, manifest, data)
            if data.schema is not None:
                store.write_schema(data.schema)
            data = replace(data, schema=store.read_schema())
            encoder = encoder or encoder_of(store, manifest)
            build = Build(data, encoder, spread_out(engine), opened=opened or {}, **how)
            write_layers(store, manifest, build, wanted, settings)
        index = cls(store.folder, encoder, build.layers)
        index._same_model = not manifest["layers"] and not build.vectors.check.pending  # all vectors are the encoder's
        return index

    @classmethod
    def open(cls, folder: str | Path, encoder: Encoder | str | None = None) -> Index:
        """Open an index that was built before. No engine is needed, and the encoder is loaded at the first question:
        the one that the index names, or `encoder` (or its SPEC), which must be the same one on another device or at
        another address."""
        return cls(folder, known_encoder(encoder) if isinstance(encoder, str) else encoder)

    def ensure(
        self, kinds: Iterable[str], engine: Engine | str | None = None, *, keep_going: bool = False,
        progress: bool = True,
    ) -> Index:  # fmt: skip
        """This index with the named layers; missing ones are built, present ones stay as they are, whoever made them.
        `keep_going` as in `build`."""
        missing = [kind for kind in kinds if kind not in self._layers]
        return self._rebuild(self.data, engine, missing, progress=progress, keep_going=keep_going) if missing else self

    def insert(
        self,
        new: Sequence[Passage],
        engine: Engine | str | None = None,
        *,
        extractions: Sequence[Extraction] = (),
        profiles: Profiles | None = None,
        keep_going: bool = False,
        progress: bool = True,
    ) -> Index:
        """Add passages at the end of the corpus. Only they are encoded, compared and, where `extractions` has nothing
        for them, extracted. `profiles` join those that the index has. Where summaries or reports stand, the rules write
        what is missing of a model's, but another model writes all of them anew. `keep_going` as in `build`.

        Adding many at once costs little more than adding one, because each call writes the layers anew.
        """
        present = self.passages.row
        counts = Counter(passage.id for passage in new)
        if repeated := [id for id, number in counts.items() if number > 1 or id in present]:
            raise IndexFault(
                f"passage ids must be new and unique; {repeated[0]!r} exists already: delete it first, or rename it"
            )
        failed = any(layer.get("failures") for layer in self.manifest["layers"].values())
        if not (new or extractions or profiles or failed):
            with self.store.lock():  # it may have been stopped after the last layer was named
                self.store.prune(self.store.read_manifest())
            return self
        self._check_encoder()
        passages, how = [*self.passages.passages, *new], {"progress": progress, "keep_going": keep_going}
        return self._changed(passages, engine, extractions, profiles, **how)

    def delete(
        self, ids: Collection[str], engine: Engine | str | None = None, *, keep_going: bool = False,
        progress: bool = True,
    ) -> Index:  # fmt: skip
        """Take passages out, with everything that only they supported.

        Clusters that lose a passage get another summary, and communities another report. `engine` writes them, as in
        `insert`; without one the rules do, and `made_by` in the manifest names them beside the model that wrote the
        rest. `keep_going` as in `build`."""
        unknown = [passage_id for passage_id in ids if passage_id not in self.passages.row]
        if unknown:
            raise IndexFault(f"no passage has the id {unknown[0]!r}; index.passages.passages lists the ids")
        gone = set(ids)
        remaining = [passage for passage in self.passages.passages if passage.id not in gone]
        if not remaining:
            raise IndexFault("an index needs at least one passage; delete the folder instead")
        return self._changed(remaining, engine, progress=progress, keep_going=keep_going)

    def _changed(
        self,
        passages: Sequence[Passage],
        engine: Engine | str | None,
        given: Sequence[Extraction] = (),
        profiles: Profiles | None = None,
        **how: bool,
    ) -> Index:
        """The index over other passages, reusing what this one has. Failed requests are repeated."""
        ids = {passage.id for passage in passages}
        standing = self.extractions.records if "extractions" in self._layers else ()
        records = (record for record in (*standing, *given) if record.failure is None or engine is None)
        records = tuple(record for record in records if record.passage_id in ids)
        written = "profiles" in self._layers and not self.profiles.given
        if written and profiles is not None:
            raise IndexFault(
                f"the profiles of {self.folder} were written by an engine, and cannot be joined by given ones; "
                "leave profiles= out: the engine writes those of the new passages"
            )
        all_profiles = [within(profiles, ids)] if profiles is not None else []
        if "profiles" in self._layers and not written:
            stated = self.profiles.unread
            all_profiles.insert(0, stated if ids >= self.passages.row.keys() else within(stated, ids))
        data = replace(
            self._of(passages), extractions=records or None, profiles=joined(all_profiles) if all_profiles else None
        )
        return self._rebuild(data, engine, **how)

    def _rebuild(self, data: Dataset, engine: Engine | str | None, wanted: Collection[str] = (), **how: bool) -> Index:
        if self.store.read_manifest().get("data") != self.manifest["data"]:
            raise IndexFault(
                f"{self.folder} was changed after this index was opened, and what was changed would be lost; "
                "use the index that insert or delete returned, or Index.open"
            )
        index = Index._build(data, engine, self.folder, self.encoder, wanted, {}, self._layers, **how)
        index._same_model = self._same_model
        return index

    # -- reading ------------------------------------------------------------------------------------------------

    def __getattr__(self, kind: str) -> Layer:
        """A layer by its kind."""
        if kind not in LAYERS:
            raise AttributeError(f"an index has no {kind!r}; its layers are {', '.join(LAYERS)}")
        return self.layer(kind)

    def __dir__(self) -> list[str]:
        """With the layers that it has."""
        return [*super().__dir__(), *self._layers]

    def layer(self, kind: str) -> Layer:
        try:
            return self._layers[kind]
        except KeyError:
            if kind not in LAYERS:
                raise SettingError(f"no layer is called {kind!r}; there are {', '.join(LAYERS)}") from None
            raise IndexFault(
                f"{self.folder} has no layer {kind!r} (it has {', '.join(self._layers)}); "
                f"add it with index.ensure([{kind!r}], engine)"
            ) from None

    @property
    def data(self) -> Dataset:
        """The corpus of the index (without questions)."""
        return self._of(self.passages.passages)

    def _of(self, passages: Sequence[Passage]) -> Dataset:
        """A corpus under the name of this index's."""
        schema = self.store.read_schema()
        return Dataset(self.name, tuple(passages), left_out=self.left_out, schema=schema, extraction=self.extraction)

    @property
    def extraction(self) -> str | None:
        """Which of the extractions that the data offer its facts are: `curated`, or None for one that was made."""
        return self.manifest["data"].get("extraction")

    @property
    def facts_by(self) -> tuple[str, ...]:
        """Who extracted the facts; empty if it has none."""
        return tuple(self.manifest["layers"].get("extractions", {}).get("made_by", ()))

    @property
    def left_out(self) -> tuple[str, ...]:
        """What of the data could not be taken over, in words (`Dataset.left_out`)."""
        return tuple(self.manifest["data"].get("left_out", ()))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is missing of its layers (`warnings_of`): failed requests, and layers that hold nothing."""
        return warnings_of(self.manifest["layers"])

    @cached_property
    def graph(self) -> Graph:
        from workbench.index.graph import Graph

        return replace(Graph.of(self.facts, self.synonyms, len(self.passages.passages)), index=self)

    @cached_property
    def graph_of_spellings(self) -> Graph:
        """The same graph, but a passage states a fact as often as it has spellings of it, as in the released code of
        HippoRAG 2."""
        return self.graph.stating_again(self.facts, self.facts.respelled(self.extractions.records))

    @cached_property
    def phrased(self) -> Phrased | None:
        """What the data brought of profiles, by the phrases of the facts layer."""
        from workbench.index import profiles

        return profiles.phrased(self.facts, self._layers.get("profiles"))

    @property
    def encoder(self) -> Encoder:
        if self._encoder is None:
            self._encoder = made_with(self.store, self.manifest)
        return self._encoder

    @property
    def encoder_in_use(self) -> Encoder | None:
        """None while no vector was needed."""
        return self._encoder

    @cached_property
    def _texts(self) -> CachedEncoder:
        return cached(self.encoder)

    def _check_encoder(self) -> None:
        """Raise :class:`IndexFault` if the encoder is not the model that made the vectors."""
        with _checking:  # questions encoded together make one request
            if not self._same_model:
                self.passages.check_encoder(self.encoder)
                self._same_model = answers_now(self.encoder)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """The unit vectors of texts, float32, shape (n, d). They are cached by text: an index that is open
        with the same encoder shares them."""
        return self._comparable(self._texts.encode(texts))

    def encode_query(self, text: str, task: str = "") -> np.ndarray:
        """The unit vector of a question, float32, shape (d,), cached as those of `encode`; it cannot be written to."""
        return self._comparable(self._texts.encode_query(text, task))

    def _comparable(self, vectors: np.ndarray) -> np.ndarray:
        """The vectors, if they have the dimension of the index's."""
        stored = self.passages.vectors.shape[1]
        if vectors.shape[-1] != stored:
            raise IndexFault(
                f"the encoder {self.encoder.name!r} gives vectors of {vectors.shape[-1]} dimensions, and those of "
                f"{self.folder} have {stored}: two models have the same name; open the index with the one "
                "that made it, or build another index"
            )
        if not self._same_model and answers_now(self.encoder):
            self._check_encoder()
        return vectors

    @property
    def usage(self) -> IndexUsage:
        """What its construction took: calls, tokens and seconds per layer and Step, over all builds in its folder."""
        return usage_of(self.folder)

    @property
    def recordings(self) -> Mapping[Path, Collection[str]]:
        """Recording → keys of the requests that it answered, over all builds (`workbench.llm.record.export`)."""
        return self.usage.recordings

    def counts(self) -> dict[str, int]:
        """How much of what the layers hold."""
        counts = {"passages": len(self.passages.passages)}
        for kind, prefix, names in _COUNTED:
            if kind in self._layers:
                counts |= {f"{prefix}{name}": self._layers[kind].metadata[name] for name in names}
            if kind == "facts" and "synonyms" in self._layers:
                counts |= self.graph.counts()
        return counts


_checking = threading.Lock()


def _builder(engine: Engine | str | None) -> Engine | None:
    """What asks the Steps of a build: of an engine that replies to questions alone, the one behind it."""
    return None if engine is None else getattr(engine := known_engine(engine), "builder", engine)


def place_of(data: Dataset) -> Path:
    """The folder of the index of a data set, where none is given."""
    return home() / "indexes" / folder_name("-".join(filter(None, (data.name, data.extraction))))
