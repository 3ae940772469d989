"""Who is named in a corpus, and by which names: an engine finds them passage by passage, then links them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from workbench.anonymity.names import Named
from workbench.data import Dataset
from workbench.errors import DataError
from workbench.llm.engine import Engine
from workbench.steps import naming

LARGEST = 100  # names of one request to link
Found = dict[str, list[tuple[str, str]]]  # name → (type, passage id), once for each passage


def linked(data: Dataset, engine: Engine, types: tuple[str, ...] = ()) -> tuple[Named, ...]:
    """The names of the passages with their aliases, by name. Raises :class:`DataError` if a request fails, because a
    name that was not found would remain in the text."""
    types = types or naming.TYPES
    asked = [naming.Text(passage.title, passage.text, types) for passage in data.passages]
    found: Found = defaultdict(list)
    for passage, output in zip(data.passages, _outputs(engine, naming.FIND, asked)):
        for one in output.names:
            if one.name.strip():
                found[one.name.strip()].append((one.type, passage.id))
    kinds = {name: Counter(type for type, _ in of).most_common(1)[0][0] for name, of in sorted(found.items())}
    blocks = [naming.Mentions(tuple((name, kinds[name]) for name in block)) for block in sharing_words(kinds)]
    groups = [group for output in _outputs(engine, naming.LINK, blocks) for group in output.groups]
    return tuple(_named(names, kinds, found) for names in _grouped(groups, kinds))


def _outputs(engine: Engine, step, asked: list) -> Iterator:
    for value, result in zip(asked, engine.run(step, asked)):
        if result.failure:
            raise DataError(f"{step.name} failed for {value!r:.200}: {result.failure}; run it again to ask once more")
        yield result.value


def sharing_words(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of 2 to LARGEST names that hang together by words with a capital. A larger group is taken apart at its
    most frequent word, which says least about who is meant.

    >>> sharing_words(["Nora", "Nora Whitlock", "Orsby", "Tom Whitlock"])
    [('Nora', 'Nora Whitlock', 'Tom Whitlock')]
    """
    left, found = [{name: _words(name) for name in names}], []
    while left:
        for group in _connected(left.pop()):
            if len(group) > LARGEST:
                left.append(_without_most_frequent(group))
            elif len(group) > 1:
                found.append(tuple(sorted(group)))
    return sorted(found)


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


def _grouped(groups: list[list[str]], known: dict[str, str]) -> list[list[str]]:
    """The groups, of names that were asked about and in one of them each; then every other name by itself."""
    taken: set[str] = set()
    kept = []
    for group in groups:
        names = [name for name in dict.fromkeys(group) if name in known and name not in taken]
        taken.update(names)
        kept += [names] if names else []
    return sorted([*kept, *([name] for name in known if name not in taken)])


def _named(names: list[str], kinds: dict[str, str], found: Found) -> Named:
    passages = dict.fromkeys(passage for name in names for _, passage in found[name])
    return Named(names[0], kinds[names[0]], tuple(names[1:]), tuple(passages))
