"""Facts → passages: an article for each entity, and distractors that state no fact."""

from __future__ import annotations

from functools import cache
from string import Formatter
from typing import NamedTuple

from workbench.data.worlds.draws import Draws
from workbench.data.worlds.facts import LOCALES, Entity, Fact, Value, World, is_woman, written
from workbench.data.worlds.schema import ATTRIBUTES, RELATIONS, WORDINGS
from workbench.records import Passage


class Opening(NamedTuple):
    """A first sentence and the relations that it states."""

    template: str
    fields: dict[str, str]  # relation → field


class Subject(NamedTuple):
    """How a sentence refers to the subject of the article: as subject, as object, possessive."""

    s: str
    m: str
    p: str


def _opening(template: str) -> Opening:
    fields = [name for _, name, _, _ in Formatter().parse(template) if name]
    names = {name.replace(" ", "_"): name for name in (*RELATIONS, *ATTRIBUTES)}
    return Opening(template, {names[name]: name for name in fields if name in names})


_OPENINGS = {kind: tuple(map(_opening, templates)) for kind, templates in WORDINGS["openings"].items()}


def passage_id(world: World, number: int) -> str:
    """The id of a passage: its number, with as many digits as the largest has."""
    return f"w{number:0{len(str(world.dials.passages))}}"


class Article:
    """The article of an entity: an opening, the other facts in an order of their own, an alias, some colour and, in a
    share of the articles, a false statement marked as such."""

    def __init__(self, world: World, entity: Entity, facts: list[Fact], number: int):
        self.world, self.entity, self.facts, self.number = world, entity, facts, number
        self._draws = world.draws("prose", number)
        locale = world.dials.locale
        self._locale = self._draws.pick(LOCALES) if locale == "mixed" else locale
        name = named(entity.kind, world.name(entity))
        self._name = Subject(name, name, f"{name}'" if name.endswith("s") else f"{name}'s")
        if entity.kind == "person":
            woman = is_woman(entity)
            self._pronoun = Subject("she", "her", "her") if woman else Subject("he", "him", "his")
            self._noun = self._name
            self._terms = {"child": "daughter" if woman else "son", "spouse": "wife" if woman else "husband"}
        else:
            noun = WORDINGS["nouns"][entity.kind]
            self._pronoun, self._noun = Subject("it", "it", "its"), Subject(noun, noun, f"{noun}'s")
            self._terms = {}
            if entity.kind == "book":  # whose name, in quotation marks, takes no ending
                self._name = Subject(name, name, f"{noun}'s")

    def passage(self) -> Passage:
        text = " ".join(self._sentences())
        return Passage(passage_id(self.world, self.number), self.world.name(self.entity), text)

    def _sentences(self) -> list[str]:
        draws, kind = self._draws, self.entity.kind
        first, rest = self._opened()
        if draws.chance(0.5):
            rest = draws.sample(rest, len(rest))
        planned: list[tuple[str, Fact | None]] = [(self._wording(fact.relation), fact) for fact in rest]
        alias = self.world.alias(self.entity)
        if alias is not None:
            planned.insert(0, (draws.pick(WORDINGS["alias"][kind]).replace("{o}", named(kind, alias)), None))
        for template in draws.sample(WORDINGS["colour"][kind], draws.between(0, 2)):
            planned.insert(draws.below(len(planned) + 1), (template, None))
        sentences = [first] if first else []
        joined = clear = False
        before: Fact | None = None
        for template, fact in planned:
            subject = self._subject(clear=clear or not sentences)
            clause = self._clause(template, fact, subject)
            clear = fact is not None and _same_pronoun(self.entity, fact.tail)
            may_join = sentences and not joined and before and fact and subject is self._pronoun
            if may_join and template.startswith("{s}") and draws.chance(0.35):
                sentences[-1] = f"{sentences[-1][:-1]}, and {clause}."
                joined = True
            else:
                sentences.append(sentence(clause))
                joined = False
            before = fact
        if draws.chance(self.world.dials.hearsay) and (claim := self._claim()):
            sentences.insert(draws.between(1, len(sentences)), sentence(claim))
        return sentences

    def _opened(self) -> tuple[str, list[Fact]]:
        """The first sentence, if it states several facts or says what the subject is, and the facts that are left."""
        stated = {fact.relation: fact for fact in self.facts}
        possible = [opening for opening in _OPENINGS[self.entity.kind] if opening.fields.keys() <= stated.keys()]
        if not possible or (self.entity.kind == "person" and self._draws.chance(0.2)):
            return "", self.facts
        opening = self._draws.pick(possible)
        values = {field: self._end(stated[name]) for name, field in opening.fields.items()}
        clause = opening.template.format(s=self._name.s, **values, **self._terms)
        return sentence(clause), [fact for fact in self.facts if fact.relation not in opening.fields]

    def _wording(self, relation: str) -> str:
        wordings = WORDINGS["facts"][self.entity.kind][relation]
        return self._draws.pick(wordings[: reach(len(wordings), self.world.dials.paraphrase)])

    def _subject(self, clear: bool) -> Subject:
        """The name where a pronoun could mean someone else; otherwise a pronoun mostly."""
        if clear or self._draws.chance(0.12):
            return self._name if self.entity.kind == "person" or self._draws.chance(0.5) else self._noun
        return self._pronoun if self.entity.kind == "person" or self._draws.chance(0.7) else self._noun

    def _clause(self, template: str, fact: Fact | None, subject: Subject) -> str:
        forms = {**self._pronoun._asdict(), **self._terms}
        if first := _first_form(template):  # only the first form is the name
            forms[first] = getattr(subject, first)
        if fact is not None:
            end = self._end(fact)
            forms |= {"o": end, "v": end, "a": end, "f": fact.since, "t": fact.until}
        return template.format(**forms)

    def _end(self, fact: Fact) -> str:
        """The other end of a fact, as text: an entity by its name or its alias, or a value."""
        if isinstance(fact.tail, Entity):
            return mention(self.world, fact.tail, self._draws)
        text = written(fact.tail, self._locale)
        return f"{'an' if text[0] in 'aeiou' else 'a'} {text}" if fact.relation == "occupation" else text

    def _claim(self) -> str | None:
        """A statement that the gold graph contradicts or does not hold, with the reason not to believe it."""
        draws, kind = self._draws, self.entity.kind
        relation = draws.pick([name for name, relation in RELATIONS.items() if relation.head == kind])
        other = Entity(RELATIONS[relation].tail, draws.below(self.world.counts[RELATIONS[relation].tail]))
        if relation in ("mother", "father", "married to"):
            man = relation == "father" or (relation == "married to" and is_woman(self.entity))
            other = other._replace(number=other.number // 2 * 2 + man)
        true = [tail for tail, _ in self.world.tails(self.entity, relation)]
        if other.number in true or other == self.entity:
            return None
        since = None
        if RELATIONS[relation].timed:
            since = (self.world.birth(self.entity.number) + 26 if kind == "person" else 1830) + draws.below(20)
        fact = Fact(relation, other, since, None if since is None else since + draws.between(2, 9))
        clause = self._clause(self._wording(relation), fact, self._name)
        return draws.pick(WORDINGS["hearsay"]).replace("{claim}", clause)


@cache
def _first_form(template: str) -> str | None:
    """The form of the subject that a template has first: s, m or p."""
    return next((name for _, name, _, _ in Formatter().parse(template) if name in Subject._fields), None)


def distractor(world: World, number: int) -> Passage:
    """A passage that mentions entities and states no fact of the gold graph."""
    draws = world.draws("distractor", number)
    sentences = []
    for template in draws.sample(WORDINGS["distractors"], draws.between(3, 5)):
        parts = []
        for text, kind, _, _ in Formatter().parse(template):
            parts.append(text)
            if kind:
                parts.append(mention(world, Entity(kind, draws.below(world.counts[kind])), draws))
        sentences.append(sentence("".join(parts)))
    heading = draws.pick(WORDINGS["distractor_titles"])
    return Passage(passage_id(world, number), f"{heading}, no. {number}", " ".join(sentences))


def mention(world: World, entity: Entity, draws: Draws) -> str:
    """An entity in running text; every second time by its alias, if it has one."""
    alias = world.alias(entity) if draws.chance(0.5) else None
    return named(entity.kind, alias or world.name(entity))


def named(kind: str, name: str) -> str:
    """A name as running text has it: the ship and the river with an article, the book in quotation marks."""
    if kind == "book":
        return f'"{name}"'
    return f"the {name}" if kind in ("ship", "river") or name.startswith(("House ", "University ")) else name


def reach(count: int, paraphrase: float) -> int:
    """How many of the known wordings, which are in order of their distance, may be used."""
    return 1 + round(paraphrase * (count - 1))


def sentence(clause: str) -> str:
    """A clause with a capital letter and a full stop."""
    at = 1 if clause[0] == '"' else 0
    return f"{clause[:at]}{clause[at].upper()}{clause[at + 1 :]}."


def _same_pronoun(subject: Entity, tail: Entity | Value) -> bool:
    """Whether a pronoun in the next sentence could mean the tail."""
    if not isinstance(tail, Entity) or (subject.kind == "person") != (tail.kind == "person"):
        return False
    return subject.kind != "person" or is_woman(subject) == is_woman(tail)
