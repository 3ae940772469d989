"""Anonymisation of a data set: its names become placeholders, the same one for every form of a name, in passages,
titles, ids, questions, answers, decompositions and gold graph (AnonyRAG; Youtu-GraphRAG, arXiv 2508.19855).

    Ilse Varnessel … Miss Varnessel's brother Anselm   →   [PERSON#12] … Miss [PERSON#12]'s brother [PERSON#40]

Who is named in a corpus, and by which names: an engine finds them passage by passage, then links them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from workbench.anonymity.names import Named, Names, Replaced
from workbench.anonymity.rewriter import Context, Rewriter
from workbench.data.folder import Dataset, Extraction
from workbench.data.graph import GoldEntity, GoldGraph, GoldTriple, Schema
from workbench.data.origin import Origin
from workbench.errors import DataError
from workbench.llm.engine import Engine
from workbench.records import Passage, Question, Triple
from workbench.steps import named_entities as naming


class Anonymised(NamedTuple):
    """The anonymised data set, and the table of its names, which is to be kept apart from it."""

    data: Dataset
    names: Names


def names_of_graph(graph: GoldGraph) -> tuple[Named, ...]:
    """The entities of a gold graph with their aliases, each with the passages that state something of it."""
    stated: dict[str, dict[str, None]] = {
        entity.name: dict.fromkeys([entity.passage] if entity.passage else []) for entity in graph.entities
    }
    for triple in graph.triples:
        for member in (triple.head, triple.tail) if triple.kind == "relation" else (triple.head,):
            stated[member].update(dict.fromkeys(triple.passages))
    return tuple(
        Named(entity.name, entity.type, entity.aliases, tuple(stated[entity.name])) for entity in graph.entities
    )


def anonymised(data: Dataset, entities: Iterable[Named]) -> Anonymised:
    """The data set with placeholders for the names of `entities`, and the table of names.

    Ids become numbers, because ids made of titles tell the names; answers that become equal are one. Profiles of an
    imported index are refused. Raises :class:`DataError` if a text holds placeholders already."""
    if data.profiles is not None:
        raise DataError(
            f"{data.name!r} has profiles of an imported index, which contain names; anonymise the original documents"
        )
    entities = tuple(entities)
    if not entities:
        raise DataError(f"no names were found in {data.name!r}; pass a table of names")
    rewriter = Rewriter(entities, _texts(data))
    ids = {passage.id: f"p{number:04}" for number, passage in enumerate(data.passages, 1)}
    passages = [_passage(rewriter, passage, ids) for passage in data.passages]
    questions = [_question(rewriter, question, number, ids) for number, question in enumerate(data.questions, 1)]
    made = Dataset(
        f"{data.name}-anonymised",
        tuple(passage for passage, _ in passages),
        tuple(question for question, _ in questions),
        data.extractions and tuple(_extraction(rewriter, extraction, ids) for extraction in data.extractions),
        graph=data.graph and _graph(rewriter, data.graph, ids),
        triples=tuple(_triple(rewriter, triple, ids) for triple in data.triples),
        origin=Origin("names replaced by placeholders; the table of names is kept apart"),
        schema=data.schema and _schema(rewriter, data.schema),
    )
    names = Names(rewriter.table(), tuple(text for _, text in passages), tuple(text for _, text in questions))
    return Anonymised(made, names)


def _texts(data: Dataset) -> Iterator[str]:
    for passage in data.passages:
        yield passage.title
        yield passage.text
    for question in data.questions:
        yield from _strings([question.question, question.answers, question.decomposition or ()])
    for triple in data.triples:
        yield from triple.members


def _strings(value: Any) -> Iterator[str]:
    """Every text within lists and objects, but for ids of passages."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _strings([held for name, held in value.items() if name != "support"])
    elif isinstance(value, list | tuple):
        for held in value:
            yield from _strings(held)


def _replaced(value: Any, texts: Iterator[str], ids: dict[str, str]) -> Any:
    """The same lists and objects with the next texts in the place of theirs, and the new ids of passages."""
    if isinstance(value, str):
        return next(texts)
    if isinstance(value, dict):
        return {
            name: ids.get(held, held) if name == "support" else _replaced(held, texts, ids)
            for name, held in value.items()
        }
    return type(value)(_replaced(held, texts, ids) for held in value) if isinstance(value, list | tuple) else value


def _passage(rewriter: Rewriter, passage: Passage, ids: dict[str, str]) -> tuple[Passage, Replaced]:
    (title, in_title), (text, in_text) = rewriter.rewritten([passage.title, passage.text], _about(passage.id))
    surfaces = {"title": in_title, "text": in_text}
    return Passage(ids[passage.id], title, text), Replaced(ids[passage.id], passage.id, surfaces)


def _question(rewriter: Rewriter, question: Question, number: int, ids: dict[str, str]) -> tuple[Question, Replaced]:
    fields = [question.question, question.answers, question.start, question.decomposition or ()]
    written = rewriter.rewritten(_strings(fields), Context(frozenset(question.support)))
    rewritten, answers, start, steps = _replaced(fields, iter([text for text, _ in written]), ids)
    made = replace(
        question,
        id=f"q{number:04}",
        question=rewritten,
        answers=tuple(dict.fromkeys(answers)),
        start=start,
        support=tuple(ids[id] for id in question.support),
        decomposition=steps or None,
    )
    return made, Replaced(made.id, question.id, {"question": written[0][1]})


def _extraction(rewriter: Rewriter, extraction: Extraction, ids: dict[str, str]) -> Extraction:
    fields = [extraction.entities, extraction.triples]
    written = rewriter.rewritten(_strings(fields), _about(extraction.passage_id))
    entities, triples = _replaced(fields, iter([text for text, _ in written]), ids)
    return replace(extraction, passage_id=ids[extraction.passage_id], entities=entities, triples=triples)


def _triple(rewriter: Rewriter, triple: Triple, ids: dict[str, str]) -> Triple:
    written = [text for text, _ in rewriter.rewritten(triple.members, Context(frozenset(triple.passages)))]
    return Triple(*written, tuple(ids.get(id, id) for id in triple.passages))


def _graph(rewriter: Rewriter, graph: GoldGraph, ids: dict[str, str]) -> GoldGraph:
    """The gold graph: entities by their placeholders, of which there are no aliases; values and mentions rewritten as
    the passage that they are quoted from. An entity that is not replaced keeps its name, with those within it
    replaced."""
    at = {entity.name: rewriter.placeholders[row] for row, entity in enumerate(rewriter.entities)}
    for entity in graph.entities:
        if entity.name in at:
            rewriter.replaced[at[entity.name]].add(entity.name)
        else:
            at[entity.name] = rewriter.text(entity.name, _about(entity.passage))
    return GoldGraph(
        _schema(rewriter, graph.schema),
        tuple(_entity(rewriter, entity, at, ids) for entity in graph.entities),
        tuple(_gold(rewriter, triple, at, ids) for triple in graph.triples),
    )


def _about(*passages: str | None) -> Context:
    """The context of something stated in these passages, of which the first is its article."""
    ids_known = [passage for passage in passages if passage]
    return Context(frozenset(ids_known), ids_known[0] if ids_known else None)


def _schema(rewriter: Rewriter, schema: Schema) -> Schema:
    """The schema with its definitions rewritten; the names of its types and relations are no names of the world."""

    def defined(part: str) -> tuple:
        return tuple(replace(entry, definition=rewriter.text(entry.definition)) for entry in getattr(schema, part))

    parts = {part: defined(part) for part in ("entity_types", "relations", "attributes")}
    return replace(schema, **parts, description=rewriter.text(schema.description))


def _entity(rewriter: Rewriter, entity: GoldEntity, at: dict[str, str], ids: dict[str, str]) -> GoldEntity:
    passages = (named.passages for named in rewriter.entities if named.name == entity.name)
    context = _about(*next(passages, (entity.passage,)))
    surfaces = () if at[entity.name] in rewriter.replaced else entity.aliases

    def rewritten_all(texts: Iterable[str]) -> tuple[str, ...]:
        written = dict.fromkeys(rewriter.text(text, context) for text in texts)
        return tuple(text for text in written if text != at[entity.name])

    return GoldEntity(
        at[entity.name],
        entity.type,
        rewritten_all(surfaces),
        rewritten_all(entity.mentions),
        entity.passage and ids[entity.passage],
    )


def _gold(rewriter: Rewriter, triple: GoldTriple, at: dict[str, str], ids: dict[str, str]) -> GoldTriple:
    tail = at.get(triple.tail) if triple.kind == "relation" else None
    if tail is None:
        tail = rewriter.text(triple.tail, _about(*triple.passages))
    return replace(triple, head=at[triple.head], tail=tail, passages=tuple(ids[id] for id in triple.passages))


def restored(data: Dataset, names: Names) -> tuple[tuple[Passage, ...], tuple[Question, ...]]:
    """The passages as they were, and the questions: their text as it was, answers and steps in the usual form of each
    name, because these became fewer."""
    passages = {passage.id: passage for passage in names.passages}
    questions = {question.id: question for question in names.questions}
    originals = {id: passage.original for id, passage in passages.items()}
    return (
        tuple(_restored_passage(passage, passages[passage.id], names) for passage in data.passages),
        tuple(
            _restored_question(question, questions.get(question.id), originals, names) for question in data.questions
        ),
    )


def _restored_passage(passage: Passage, had: Replaced, names: Names) -> Passage:
    title, text = (names.restore(getattr(passage, part), had.surfaces.get(part, ())) for part in ("title", "text"))
    return Passage(had.original, title, text)


def _restored_question(question: Question, had: Replaced | None, ids: dict[str, str], names: Names) -> Question:
    fields = [question.answers, question.start, question.decomposition or ()]
    answers, start, steps = _replaced(fields, map(names.restore, _strings(fields)), ids)
    return replace(
        question,
        id=had.original if had else question.id,
        question=names.restore(question.question, had.surfaces.get("question", ()) if had else ()),
        answers=answers,
        start=start,
        support=tuple(ids.get(id, id) for id in question.support),
        decomposition=steps or None,
    )


# -- linking ----------------------------------------------------------------------------------------------------------

LARGEST = 100  # names of one request to link
Mentions = dict[str, list[tuple[str, str]]]  # name → (type, passage id), once for each passage


def linked(data: Dataset, engine: Engine, types: tuple[str, ...] = ()) -> tuple[Named, ...]:
    """The names of the passages with their aliases, by name. Raises :class:`DataError` if a request fails, because a
    name that was not found would remain in the text."""
    types = types or naming.TYPES
    inputs = [naming.Text(passage.title, passage.text, types) for passage in data.passages]
    mentions: Mentions = defaultdict(list)
    for passage, output in zip(data.passages, _outputs(engine, naming.FIND, inputs)):
        for mention in output.names:
            if mention.name.strip():
                mentions[mention.name.strip()].append((mention.type, passage.id))
    kinds = {name: Counter(type for type, _ in of).most_common(1)[0][0] for name, of in sorted(mentions.items())}
    blocks = [naming.Mentions(tuple((name, kinds[name]) for name in block)) for block in sharing_words(kinds)]
    groups = [group for output in _outputs(engine, naming.LINK, blocks) for group in output.groups]
    return tuple(_named(names, kinds, mentions) for names in _grouped(groups, kinds))


def _outputs(engine: Engine, step, inputs: list) -> Iterator:
    for value, result in zip(inputs, engine.run(step, inputs)):
        if result.failure:
            raise DataError(f"{step.name} failed for {value!r:.200}: {result.failure}; run it again to ask once more")
        yield result.value


def sharing_words(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of 2 to LARGEST names that hang together by words with a capital. A larger group is taken apart at its
    most frequent word, which says least about who is meant.

    >>> sharing_words(["Nora", "Nora Whitlock", "Orsby", "Tom Whitlock"])
    [('Nora', 'Nora Whitlock', 'Tom Whitlock')]
    """
    left, groups = [{name: _words(name) for name in names}], []
    while left:
        for group in _connected(left.pop()):
            if len(group) > LARGEST:
                left.append(_without_most_frequent(group))
            elif len(group) > 1:
                groups.append(tuple(sorted(group)))
    return sorted(groups)


def _connected(names: dict[str, frozenset[str]]) -> list[dict[str, frozenset[str]]]:
    """The names in groups that share words, directly or through others; names without words are in none."""
    root = {word: word for words in names.values() for word in words}

    def top(word: str) -> str:
        while root[word] != word:
            root[word] = word = root[root[word]]
        return word

    for words in names.values():
        first = min(words, default=None)
        for word in words:
            root[top(word)] = top(first)
    groups: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    for name, words in names.items():
        if words:
            groups[top(min(words))][name] = words
    return list(groups.values())


def _without_most_frequent(names: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    counts = Counter(word for words in names.values() for word in words)
    frequent = max(sorted(counts), key=counts.__getitem__)
    return {name: words - {frequent} for name, words in names.items()}


def _words(name: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in name.split() if not word[0].islower())


def _grouped(groups: list[list[str]], types_of: dict[str, str]) -> list[list[str]]:
    """The groups, of names that were asked about and in one of them each; then every other name by itself."""
    taken: set[str] = set()
    merged = []
    for group in groups:
        names = [name for name in dict.fromkeys(group) if name in types_of and name not in taken]
        taken.update(names)
        merged += [names] if names else []
    return sorted([*merged, *([name] for name in types_of if name not in taken)])


def _named(names: list[str], kinds: dict[str, str], mentions: Mentions) -> Named:
    passages = dict.fromkeys(passage for name in names for _, passage in mentions[name])
    return Named(names[0], kinds[names[0]], tuple(names[1:]), tuple(passages))
