"""The facts of a world, computed entity by entity from its number; none is stored.

People live in five generations, 32 years apart, so that times are possible: a mother is 17 to 47 years older than her
child, nobody founds, writes or governs before 25 or after death, no ship sails before its launch.

Dates and numbers as languages write them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from workbench.data.worlds.draws import Draws, Row, Shuffle, Strand, Words, key
from workbench.data.worlds.schema import (
    ALWAYS,
    ATTRIBUTES,
    KINDS,
    OCCUPATIONS,
    PATTERNS,
    PERIODS,
    PRODUCTS,
    RELATIONS,
    WORDINGS,
    Dials,
)  # fmt: skip
from workbench.errors import SettingError
from workbench.text import MONTHS

GENERATIONS, APART, FIRST_YEAR, BORN_WITHIN = 5, 32, 1760, 16
MARRIED = 0.8  # share of couples among the pairs of a generation
FOLLOWING = ("captain", "capital", "enters the sea at")
_BACK = {"capital": "located in", "enters the sea at": "lies on"}  # the first town of a region, of a river


class Entity(NamedTuple):
    kind: str
    number: int


def is_woman(person: Entity) -> bool:
    """Within a generation, couples have neighbouring numbers: the wife's is even."""
    return person.number % 2 == 0


class Value(NamedTuple):
    """A date (year, month, day), a year, a number with its unit, or a text."""

    content: tuple[int, int, int] | int | str
    unit: str = ""
    is_year: bool = False


class Fact(NamedTuple):
    """A fact about an entity: a relation to another one, possibly for a period, or a value."""

    relation: str
    tail: Entity | Value
    since: int | None = None
    until: int | None = None

    @property
    def is_relation(self) -> bool:
        return isinstance(self.tail, Entity)


class World:
    """Names, aliases and facts of the entities that the dials determine."""

    def __init__(self, dials: Dials):
        self.dials = dials
        self.counts = _counts(dials)
        self.words = Words(dials.seed)
        self._keys: dict[str, int] = {}
        self._offsets = self._word_ranges()
        self._strands = dict(self._joined())
        self._relations = {kind: [name for name, spec in RELATIONS.items() if spec.head == kind] for kind in KINDS}
        self._attributes = {kind: [name for name, spec in ATTRIBUTES.items() if kind in spec.of] for kind in KINDS}
        self._order = Shuffle(self._key("order"), dials.passages)
        ends = accumulate(self.counts.values())
        self._first_of = {kind: end - count for (kind, count), end in zip(self.counts.items(), ends, strict=True)}

    def draws(self, purpose: str, number: int) -> Draws:
        """Draws for one purpose and one number."""
        return Draws(self._key(purpose), number)

    def _key(self, purpose: str) -> int:
        stored = self._keys.get(purpose)
        if stored is None:
            stored = self._keys[purpose] = key(self.dials.seed, purpose)
        return stored

    # Entities and their articles

    def entity(self, passage: int) -> Entity | None:
        """The subject of a passage by its number; None of a distractor."""
        number = self._order(passage)
        for kind, first in self._first_of.items():
            if first <= number < first + self.counts[kind]:
                return Entity(kind, number - first)
        return None

    def article(self, entity: Entity) -> int:
        """The passage about an entity; the inverse of `entity`."""
        return self._order.undo(self._first_of[entity.kind] + entity.number)

    # Names

    def _word_ranges(self) -> dict[str, int]:
        """Where in the words of its sort, open or closed, each kind of name begins."""
        width = _width(self.counts["person"] // 2)
        needed = {
            False: {"male": width, "surname": width, **{k: n for k, n in self.counts.items() if not _is_open(k)},
                    **{f"{kind} alias": n for kind, n in self.counts.items()}},
            True: {"female": width, **{k: n for k, n in self.counts.items() if _is_open(k)}},
        }  # fmt: skip
        offsets = {}
        for is_open, counts in needed.items():
            first = 0
            for what, count in counts.items():
                offsets[what] = first
                first += count
            if first > self.words.room(is_open):
                raise SettingError(
                    f"passages={self.dials.passages} needs {first:,} names, and the sounds of this world allow "
                    f"{self.words.room(is_open):,}; choose fewer passages or another seed"
                )
        return offsets

    @cached_property
    def _people(self) -> tuple[Shuffle, Shuffle]:
        """Number within a sex → given name and surname, for women and for men."""
        width = _width(self.counts["person"] // 2)
        women, men = (Shuffle(self._key(sex), width * width) for sex in ("women", "men"))
        return women, men

    def name(self, entity: Entity) -> str:
        kind, number = entity
        if kind == "person":
            width = _width(self.counts["person"] // 2)
            given, surname = divmod(self._people[number % 2](number // 2), width)
            woman = is_woman(entity)
            first = self.words.word(self._offsets["female" if woman else "male"] + given, woman)
            return f"{first} {self.words.word(self._offsets['surname'] + surname)}"
        word = self.words.word(self._offsets[kind] + number, KINDS[kind].open_name)
        if kind in PATTERNS:
            return self.draws("pattern", number).pick(PATTERNS[kind]).format(word)
        return word

    def alias(self, entity: Entity) -> str | None:
        """The second name, of the share of entities that have one."""
        if not self.draws(f"{entity.kind} alias", entity.number).chance(self.dials.aliases):
            return None
        return self.words.word(self._offsets[f"{entity.kind} alias"] + entity.number)

    # Facts

    def _joined(self) -> Iterator[tuple[str, list[Strand]]]:
        """Each relation with its strands; a relation that follows from another one has none."""
        n = self.counts
        each = n["person"] // GENERATIONS
        couples = max(1, int(each / 2 * MARRIED))
        of = [Row(generation * each, 1, each) for generation in range(GENERATIONS)]
        wives = [Row(generation * each, 2, couples) for generation in range(GENERATIONS)]
        husbands = [Row(generation * each + 1, 2, couples) for generation in range(GENERATIONS)]

        def every(kind: str, step: int = 1, at: int = 0) -> Row:
            return Row(at, step, len(range(at, n[kind], step)))

        def strand(name: str, heads: Row, tails: Row, at: int = 0, hubs: float = self.dials.hubs) -> Strand:
            return Strand(heads, tails, self._key(f"{name} {at}"), hubs)

        for name, relation in RELATIONS.items():
            if name in FOLLOWING:
                yield name, []
            elif name in ("mother", "father"):  # with the same key: a couple has its children in common
                parents = wives if name == "mother" else husbands
                yield name, [strand("parents", of[g], parents[g - 1], g, 0) for g in range(1, GENERATIONS)]
            elif name == "married to":
                pairs = zip(wives, husbands, strict=True)
                yield name, [Strand(*both) for pair in pairs for both in (pair, pair[::-1])]
            elif name in ("founded by", "yard founded by"):
                yield name, [strand(name, every(relation.head, 3, t), of[t + 1], t) for t in range(3)]
            elif name == "worked for":  # people of the generation after the founder's
                yield name, [strand(name, of[g], every("firm", 3, g - 2), g) for g in range(2, GENERATIONS)]
            elif name in ("mayor", "head"):  # two of them, 64 years apart; nobody holds two of these offices
                yield name, [strand(name, every(relation.head, 2, g % 2), of[g], g, 0) for g in range(1, GENERATIONS)]
            else:
                yield name, [strand(name, every(relation.head), every(relation.tail))]

    def tails(self, head: Entity, relation: str) -> list[tuple[int, int]]:
        """(tail, strand) of a relation that may hold."""
        if relation in _BACK:
            return [(number, 0) for number in self._first(head, _BACK[relation])]
        if relation == "captain":  # of the generation of the shipyard's founder
            founder = self._founder("yard founded by", self._built_by(head.number))
            each = self.counts["person"] // GENERATIONS
            return [(founder // each * each + self.draws("captain", head.number).below(each), 0)]
        tails_at = ((strand.tail(head.number), at) for at, strand in enumerate(self._strands[relation]))
        return [(tail, at) for tail, at in tails_at if tail is not None]

    def heads(self, tail: Entity, relation: str) -> Iterator[Entity]:
        """The heads of which a relation to the tail holds, in an order of its own; not for `captain`."""
        if relation in _BACK:
            candidates = (number for number, _ in self.tails(tail, _BACK[relation]))
        else:
            candidates = (head for strand in self._strands[relation] for head in strand.heads_of(tail.number))
        for number in candidates:
            head = Entity(RELATIONS[relation].head, number)
            if any(fact.relation == relation and fact.tail == tail for fact in self.facts(head)):
                yield head

    def _first(self, tail: Entity, relation: str) -> list[int]:
        """The first head that the relation joins to the tail, if it holds."""
        number = next((head for strand in self._strands[relation] for head in strand.heads_of(tail.number)), None)
        return [] if number is None or not self._holds(relation, number) else [number]

    def _holds(self, relation: str, number: int, strand: int = 0, kind: str = "") -> bool:
        if relation in ALWAYS:
            return True
        if relation == "married to":  # of both or of neither
            number, strand = number // 2, 0
        return self.draws(f"holds {relation} {kind} {strand}", number).chance(self.dials.density)

    def facts(self, head: Entity) -> list[Fact]:
        """What the article of an entity states."""
        kind, number = head
        facts_found = [
            Fact(relation, Entity(RELATIONS[relation].tail, tail), *self._period(relation, head, tail))
            for relation in self._relations[kind]
            for tail, strand in self.tails(head, relation)
            if self._holds(relation, number, strand)
        ]
        facts_found += [
            Fact(attribute, self._value(attribute, kind, number))
            for attribute in self._attributes[kind]
            if self._holds(attribute, number, kind=kind)
        ]
        return facts_found

    # Times and values

    def birth(self, person: int) -> int:
        generation = person // (self.counts["person"] // GENERATIONS)
        return FIRST_YEAR + APART * generation + self.draws("birth", person).below(BORN_WITHIN)

    def _founder(self, relation: str, number: int) -> int:
        return next(tail for strand in self._strands[relation] if (tail := strand.tail(number)) is not None)

    def _founded(self, relation: str, number: int) -> int:
        """When the founder, to whom the relation leads, founded a company."""
        return self.birth(self._founder(relation, number)) + self.draws(relation, number).between(28, 32)

    def _built_by(self, ship: int) -> int:
        return self._strands["built by"][0].tail(ship)

    def _launched(self, ship: int) -> int:
        return self._founded("yard founded by", self._built_by(ship)) + self.draws("launched", ship).between(4, 8)

    def _period(self, relation: str, head: Entity, tail: int) -> tuple[int | None, int | None]:
        if not RELATIONS[relation].timed:
            return None, None
        number = head.number
        if relation == "married to":
            draws = self.draws("married to", number // 2)
            return max(self.birth(number), self.birth(tail)) + draws.between(20, 26), None
        # One key for each tail, so it is not kept with those of `draws`.
        draws = Draws(key(self.dials.seed, f"period {relation} {tail}"), number)
        if relation in PERIODS:
            youngest, oldest, shortest, longest = PERIODS[relation]
            since = self.birth(number) + draws.between(youngest, oldest)
            return since, since + draws.between(shortest, longest)
        if relation == "captain":
            since = max(self._launched(number) + draws.between(0, 3), self.birth(tail) + 28)
            return since, since + draws.between(2, 4)
        since = self.birth(tail) + draws.between(35, 42)  # mayors and heads
        return since, since + draws.between(3, 9)

    def _value(self, attribute: str, kind: str, number: int) -> Value:
        draws = self.draws(f"{attribute} {kind}", number)
        if attribute in ("date of birth", "date of death", "launched"):
            year = self._launched(number) if attribute == "launched" else self.birth(number)
            return _date(year + (draws.between(64, 90) if attribute == "date of death" else 0), draws)
        if attribute == "founded":
            return Value(self._year_founded(kind, number, draws), is_year=True)
        if attribute in ("published", "completed"):
            by = "written by" if kind == "book" else "designed by"
            maker = self._strands[by][0].tail(number)
            return Value(self.birth(maker) + draws.between(25, 55), is_year=True)
        if attribute in ("occupation", "product"):
            return Value(draws.pick(OCCUPATIONS if attribute == "occupation" else PRODUCTS))
        return Value(draws.between(*ATTRIBUTES[attribute].between), ATTRIBUTES[attribute].unit)

    def _year_founded(self, kind: str, number: int, draws: Draws) -> int:
        if kind in ("firm", "shipyard"):
            return self._founded("founded by" if kind == "firm" else "yard founded by", number)
        return draws.between(940, 1560) if kind == "town" else draws.between(1602, 1745)


def _counts(dials: Dials) -> dict[str, int]:
    """How many entities there are of each kind: one for each passage that is no distractor."""
    articles = dials.passages - int(dials.passages * dials.distractors)
    people = 10 * max(2, articles * KINDS["person"].share // 1_000)
    counts = {kind: max(3, articles * spec.share // 100) for kind, spec in KINDS.items()} | {"person": people}
    counts["book"] += articles - sum(counts.values())
    return counts


def _width(half: int) -> int:
    """How many given names of a sex, and how many surnames, name so many people of that sex."""
    return int(half**0.5) + 2


def _is_open(kind: str) -> bool:
    return KINDS[kind].open_name if kind != "person" else True


def _date(year: int, draws: Draws) -> Value:
    return Value((year, draws.between(1, 12), draws.between(1, 28)))


LOCALES = ("en-GB", "en-US", "de", "fr", "iso")
_MONTHS = {"en": [month.capitalize() for month in MONTHS], **WORDINGS["months"]}
_THOUSANDS = {"en-GB": ",", "en-US": ",", "de": ".", "fr": " ", "iso": ""}


def written(value: Value, locale: str = "en-GB") -> str:
    """A value as a passage states it; by default as the gold graph does.

    >>> [written(Value((1889, 5, 3)), locale) for locale in LOCALES]
    ['3 May 1889', 'May 3, 1889', '3. Mai 1889', '3 mai 1889', '1889-05-03']
    """
    content = value.content
    if isinstance(content, tuple):
        return _written_date(*content, locale)
    if value.is_year or isinstance(content, str):
        return str(content)
    digits = f"{content:,}".replace(",", _THOUSANDS[locale])
    return f"{digits} {value.unit}".rstrip()


def forms(value: Value) -> tuple[str, ...]:
    """All ways to write a value, that of the gold graph first; of a number with a unit, then those without it."""
    written_forms = [written(value, locale) for locale in LOCALES]
    if value.unit:
        written_forms += [written(value._replace(unit=""), locale) for locale in LOCALES]
    return tuple(dict.fromkeys(written_forms))


def _written_date(year: int, month: int, day: int, locale: str) -> str:
    if locale == "iso":
        return f"{year:04}-{month:02}-{day:02}"
    name = _MONTHS[locale[:2]][month - 1]
    if locale == "en-US":
        return f"{name} {day}, {year}"
    if locale == "fr" and day == 1:
        return f"1er {name} {year}"
    return f"{day}{'.' if locale == 'de' else ''} {name} {year}"
