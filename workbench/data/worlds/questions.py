"""Questions of two to five hops: walks over the facts of a world, with answers, support and decomposition.

A question is drawn from its number: the type and the number of hops follow from it, then walks are tried until one
fits. A step that is followed backwards ("the novel by …") is used only if exactly one head has the tail, or where all
are asked for. Hops are counted in passages: as many as the question needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from workbench.data.worlds.draws import Draws
from workbench.data.worlds.facts import Entity, Fact, Value, World, forms, written
from workbench.data.worlds.prose import mention, named, passage_id, reach
from workbench.data.worlds.schema import ATTRIBUTES, KINDS, PHRASINGS, RELATIONS

SHAPES = tuple(
    (kind, hops)
    for hops in (2, 3, 4, 5)
    for kind in (
        "compositional", "bridge", "inference", "temporal", "set", "count", "comparison", "bridge-comparison",
        "unanswerable",
    )
    if (kind, hops) not in {("comparison", 4), ("comparison", 5), ("bridge-comparison", 2), ("count", 5)}
)  # fmt: skip
ATTEMPTS = 2_000
_MOST = 9  # heads that are looked at, at most, to find out how many a tail has
_TERMS = ("mayor", "head", "captain")  # who held an office depends on the year
_KINSHIP = {(first, two): phrase for first, then in PHRASINGS["kinship"].items() for two, phrase in then.items()}


class Hop(NamedTuple):
    """One step of a walk: what the article of `head` states, read from `start` to `end`."""

    relation: str
    head: Entity
    start: Entity
    end: Entity | Value
    year: int | None = None

    @property
    def backward(self) -> bool:
        return self.start != self.head


class GeneratedQuestion(NamedTuple):
    """A question before it has an id."""

    text: str
    answers: tuple[str, ...]
    steps: list[dict[str, Any]]
    support: list[Entity]
    start: list[Entity]
    missing: dict[str, list] | None = None


class Questions:
    """The questions of a world."""

    def __init__(self, world: World):
        self.world = world

    def rows(self) -> Iterator[dict[str, Any]]:
        """Rows of a `questions.jsonl`; fewer than the dial says where a small world has no more walks of a shape."""
        seen: set[str] = set()
        shapes = set(SHAPES)
        for number in range(self.world.dials.questions):
            shape = SHAPES[number % len(SHAPES)]
            question = self._question(*shape, number, seen) if shape in shapes else None
            if question is None:
                shapes.discard(shape)
                continue
            seen.add(question.text)
            yield self._row(question, *shape, number)

    def _question(self, kind: str, hops: int, number: int, seen: set[str]) -> GeneratedQuestion | None:
        draws = self.world.draws("question", number)
        for _ in range(ATTEMPTS):
            question = self._attempt(kind, hops, draws)
            if question is not None and question.text not in seen:
                return question
        return None

    def _attempt(self, kind: str, hops: int, draws: Draws) -> GeneratedQuestion | None:
        if kind in ("set", "count"):
            return self._all(hops, draws, counted=kind == "count")
        if kind == "comparison":
            return self._comparison(hops, draws)
        if kind == "bridge-comparison":
            return self._bridge_comparison(hops, draws)
        if kind == "unanswerable":
            return self._unanswerable(hops, draws)
        walk = self._opened(kind, draws)
        walk = walk and self._walk(walk, hops, draws, backward=kind == "bridge")
        return walk and self._chain(walk, draws)

    def _row(self, question: GeneratedQuestion, kind: str, hops: int, number: int) -> dict[str, Any]:
        row = {
            "id": f"q{number + 1:0{len(str(self.world.dials.questions))}}",
            "question": question.text,
            "answers": list(question.answers),
            "type": kind,
            "hops": None if question.missing else hops,
            "support": [] if question.missing else [self._passage(entity) for entity in question.support],
            "decomposition": None if question.missing else question.steps,
            "answer_set": kind == "set",
            "start": [self.world.name(entity) for entity in question.start],
        }
        return row | ({"unanswerable_because": question.missing} if question.missing else {})

    # Walks

    def _opened(self, kind: str, draws: Draws) -> list[Hop] | None:
        """The first hop of a walk, which makes the type; of `inference` the first two."""
        if kind == "temporal":
            start = self._some(draws, ("town", "school", "ship"))
            return _pick(draws, [hop for hop in self._forward(start, draws) if hop.relation in _TERMS])
        if kind == "inference":
            start = self._some(draws, ("person",))
            first, second = draws.pick(list(_KINSHIP))
            opening = _pick(draws, [hop for hop in self._forward(start, draws) if hop.relation == first])
            two = opening and _pick(
                draws, [hop for hop in self._forward(opening[0].end, draws) if hop.relation == second]
            )
            return two and [*opening, *two]
        if kind == "bridge":
            return _pick(draws, list(self._back(self._some(draws, tuple(KINDS)))))
        return self._first(draws)

    def _first(self, draws: Draws, to: str | None = None) -> list[Hop] | None:
        """A first hop forwards, to an entity of the kind `to` if one is given."""
        hops = self._lasting(self._some(draws, tuple(KINDS)), draws)
        return _pick(draws, [hop for hop in hops if to in (None, hop.end.kind)])

    def _walk(
        self, walk: list[Hop], hops: int, draws: Draws, backward: bool = False, to: str | None = None
    ) -> list[Hop] | None:
        """The walk, continued until it takes so many passages. It ends in an entity of the kind `to`, if one is given,
        otherwise in an entity or in a value."""
        walk = list(walk)
        while (left := hops - len({hop.head for hop in walk})) > 0:
            at = walk[-1].end
            if isinstance(at, Value):
                return None
            visited = {walk[0].start, *(hop.end for hop in walk)}
            options = self._lasting(at, draws)
            if backward and draws.chance(0.3):
                options += self._back(at)
            if left == 1 and to is None:
                options += self._valued(at)
            options = [
                hop for hop in options if hop.end not in visited and (left > 1 or to is None or hop.end.kind == to)
            ]
            if not options:
                return None
            walk.append(draws.pick(options))
        return walk

    def _some(self, draws: Draws, kinds: Sequence[str]) -> Entity:
        kind = draws.pick(kinds)
        return Entity(kind, draws.below(self.world.counts[kind]))

    def _forward(self, start: Entity, draws: Draws) -> list[Hop]:
        return [
            Hop(fact.relation, start, start, fact.tail, _year(fact, draws))
            for fact in self.world.facts(start)
            if fact.is_relation
        ]

    def _lasting(self, start: Entity, draws: Draws) -> list[Hop]:
        """Those that do not depend on a year."""
        return [hop for hop in self._forward(start, draws) if hop.relation not in _TERMS]

    def _valued(self, start: Entity) -> list[Hop]:
        return [Hop(fact.relation, start, start, fact.tail) for fact in self.world.facts(start) if not fact.is_relation]

    def _back(self, start: Entity) -> Iterator[Hop]:
        """Steps backwards that lead to exactly one entity."""
        for relation in PHRASINGS["backward"]:
            if RELATIONS[relation].tail == start.kind:
                heads = list(islice(self.world.heads(start, relation), 2))
                if len(heads) == 1:
                    yield Hop(relation, heads[0], start, heads[0])

    # Types of questions

    def _chain(self, walk: list[Hop], draws: Draws) -> GeneratedQuestion:
        pair = tuple(hop.relation for hop in walk[-2:])
        if pair in _KINSHIP and not walk[-1].backward and not walk[-2].backward:
            x, lead = self._description(walk[:-2], walk[0].start, draws)
            text = f"{lead}Who was {_KINSHIP[pair]}?".format(x=x)
        else:
            x, lead = self._description(walk[:-1], walk[0].start, draws)
            text = lead + self._final(walk, draws).format(x=x, year=walk[-1].year)
        return GeneratedQuestion(text, self._answers(walk[-1].end), self._steps(walk), _support(walk), [walk[0].start])

    def _all(self, hops: int, draws: Draws, counted: bool) -> GeneratedQuestion | None:
        table = PHRASINGS["count" if counted else "all"]
        relation = draws.pick(list(table))
        tail = RELATIONS[relation].tail
        before = draws.between(0, hops - 2)
        walk: list[Hop] = []
        if before:
            first = self._first(draws)
            walk = first and self._walk(first, before, draws, to=tail)
            if walk is None or walk[-1].end.kind != tail:
                return None
            at = walk[-1].end
        else:
            at = self._some(draws, (tail,))
        heads = sorted(islice(self.world.heads(at, relation), _MOST))
        support = [*_support(walk), *heads]
        if len(heads) < 2 or len(heads) != hops - before or len(set(support)) != hops:
            return None
        x, lead = self._description(walk, walk[0].start if walk else at, draws)
        text = lead + self._near(table[relation], draws, nested=bool(walk)).format(x=x)
        names = tuple(self.world.name(head) for head in heads)
        given = f"#{len(walk)}" if walk else self.world.name(at)
        steps = [
            *self._steps(walk),
            {
                "question": table[relation][0].format(x=given) if not counted else
                table[relation][0].format(x=given).replace("How many", "Which", 1),
                "answer": names[0], "answers": list(names), "support": self._passage(heads[0]),
                "pattern": ["?", relation, given],
            },
        ]  # fmt: skip
        if counted:
            total = str(len(heads))
            steps.append({
                "question": f"How many are #{len(steps)}?", "answer": total, "support": None, "count": f"#{len(steps)}",
            })  # fmt: skip
        answers = (total, _NUMBERS[len(heads)]) if counted else names
        return GeneratedQuestion(text, answers, steps, support, [walk[0].start if walk else at])

    def _comparison(self, hops: int, draws: Draws) -> GeneratedQuestion | None:
        if hops == 2 and draws.chance(0.3):
            return self._same(draws)
        attribute = draws.pick(list(PHRASINGS["compared"]))
        kind = draws.pick(ATTRIBUTES[attribute].of)
        valued = [self._valued_by(self._some(draws, (kind,)), attribute) for _ in range(hops)]
        if None in valued:
            return None
        return self._weighed([[hop] for hop in valued], draws)

    def _bridge_comparison(self, hops: int, draws: Draws) -> GeneratedQuestion | None:
        attribute = draws.pick(list(PHRASINGS["compared"]))
        kind = draws.pick(ATTRIBUTES[attribute].of)
        lengths = {3: (2, 1), 4: (2, 2), 5: (3, 2)}[hops]
        walks = []
        for length in lengths if draws.chance(0.5) else lengths[::-1]:
            walk: list[Hop] | None = []
            end = self._some(draws, (kind,))
            if length > 1:
                first = self._first(draws, None if length > 2 else kind)
                walk = first and self._walk(first, length - 1, draws, to=kind)
                if not walk:
                    return None
                end = walk[-1].end
            valued = self._valued_by(end, attribute)
            if valued is None:
                return None
            walks.append([*walk, valued])
        if len({hop.head for walk in walks for hop in walk}) != hops:
            return None
        return self._weighed(walks, draws)

    def _weighed(self, walks: list[list[Hop]], draws: Draws) -> GeneratedQuestion | None:
        """Which of the entities that walks lead to wins by the attribute in which the walks end."""
        attribute = walks[0][-1].relation
        compare = PHRASINGS["compared"][attribute]
        by = compare["by"]
        compared = [walk[-1].start for walk in walks]
        contents = [walk[-1].end.content for walk in walks]
        best = (min if by == "earlier" else max)(contents)
        if contents.count(best) != 1 or len(set(compared)) != len(compared):
            return None
        descriptions = [self._description(walk[:-1], walk[0].start, draws, one_sentence=True)[0] for walk in walks]
        steps: list[dict[str, Any]] = []
        of, pick = [], []
        for walk in walks:
            first = len(steps)
            steps += self._steps(walk, first)
            of.append(f"#{len(steps)}")
            pick.append(f"#{len(steps) - 1}" if len(walk) > 1 else self.world.name(walk[0].start))
        yes_no = len(walks) == 2 and "yes_no" in compare and draws.chance(0.35)
        winner = contents.index(best)
        if yes_no:
            text = compare["yes_no"].format(x=descriptions[0], y=descriptions[1])
            answers, pick = (("yes", "no")[winner],), ["yes", "no"]
        else:
            text = self._near(compare["asks"], draws)
            for many, two in PHRASINGS["of_two"].items() if len(walks) == 2 else ():
                text = text.replace(many, two)
            text = text.format(xs=_listed(descriptions))
            answers = self._answers(compared[winner])
        listed = _listed([f"{name} ({value})" for name, value in zip(pick, of, strict=True)])
        question = f"Is {of[0]} {by} than {of[1]}?" if yes_no else f"Which comes first by what is {by}, {listed}?"
        steps.append({
            "question": question, "answer": answers[0], "support": None, "compare": {"of": of, "by": by, "pick": pick},
        })  # fmt: skip
        support = [entity for walk in walks for entity in _support(walk)]
        starts = [walk[0].start for walk in walks]
        return GeneratedQuestion(text, answers, steps, support, starts)

    def _same(self, draws: Draws) -> GeneratedQuestion | None:
        """Whether a relation of two entities has the same tail."""
        relation = draws.pick(list(PHRASINGS["same"]))
        kind = RELATIONS[relation].head
        subject, other = self._some(draws, (kind,)), self._some(draws, (kind,))
        first = next((hop for hop in self._forward(subject, draws) if hop.relation == relation), None)
        if first is None:
            return None
        if draws.chance(0.5):
            others = [head for head in islice(self.world.heads(first.end, relation), _MOST) if head != subject]
            if not others:
                return None
            other = draws.pick(others)
        second = next((hop for hop in self._forward(other, draws) if hop.relation == relation), None)
        if second is None or subject == other:
            return None
        x, y = (mention(self.world, entity, draws) for entity in (subject, other))
        answer = "yes" if first.end == second.end else "no"
        steps = [*self._steps([first]), *self._steps([second], 1)]
        steps.append({
            "question": "Are #1 and #2 the same?", "answer": answer, "support": None,
            "compare": {"of": ["#1", "#2"], "by": "same", "pick": ["yes", "no"]},
        })  # fmt: skip
        return GeneratedQuestion(
            PHRASINGS["same"][relation].format(x=x, y=y), (answer,), steps, [subject, other], [subject, other]
        )

    def _unanswerable(self, hops: int, draws: Draws) -> GeneratedQuestion | None:
        """A walk to an entity whose article does not state what is asked for."""
        walk = self._opened("bridge" if draws.chance(0.4) else "compositional", draws)
        walk = walk and self._walk(walk, hops - 1, draws)
        at = walk and walk[-1].end
        if not isinstance(at, Entity):
            return None
        stated = {fact.relation for fact in self.world.facts(at)}
        possible = [name for name, relation in RELATIONS.items() if at.kind == relation.head and name not in _TERMS]
        possible += [name for name, attribute in ATTRIBUTES.items() if at.kind in attribute.of]
        missing = [name for name in possible if name not in stated]
        if not missing:
            return None
        relation = draws.pick(missing)
        x, lead = self._description(walk, walk[0].start, draws)
        text = lead + self._near(PHRASINGS["final"][relation], draws, nested=True).format(x=x)
        steps = self._steps(walk)
        missing = {
            "pattern": [*(step["pattern"] for step in steps), [f"#{len(walk)}", relation, "?"]],
            "answers": [step["answer"] for step in steps],
        }
        return GeneratedQuestion(text, (), [], [], [walk[0].start], missing)

    # Words

    def _valued_by(self, entity: Entity, attribute: str) -> Hop | None:
        return next((hop for hop in self._valued(entity) if hop.relation == attribute), None)

    def _description(
        self, walk: Sequence[Hop], start: Entity, draws: Draws, one_sentence: bool = False
    ) -> tuple[str, str]:
        """The end of a walk as a noun phrase, and, of a walk that is too long for one sentence, a sentence before."""
        x, lead, at = mention(self.world, start, draws), "", 0
        while at < len(walk):
            hop, pair = walk[at], tuple(step.relation for step in walk[at : at + 2])
            if pair in _KINSHIP and not hop.backward and not walk[at + 1].backward:
                phrasings, taken = (_KINSHIP[pair],), 2
            else:
                phrasings, taken = PHRASINGS["backward" if hop.backward else "forward"][hop.relation], 1
            x, at = self._near(phrasings, draws, nested=at > 0 and not lead).format(x=x, year=hop.year), at + taken
            if 2 <= at < len(walk) and len(walk) >= 3 and not (lead or one_sentence):
                lead, x = f"Consider {x}. ", PHRASINGS["this"][walk[at - 1].end.kind]
        return x, lead

    def _final(self, walk: Sequence[Hop], draws: Draws) -> str:
        hop = walk[-1]
        phrasings = PHRASINGS["final_back" if hop.backward else "final"][hop.relation]
        return self._near(phrasings, draws, nested=len(walk) > 1)

    def _near(self, phrasings: Sequence[str], draws: Draws, nested: bool = False) -> str:
        """One of the phrasings that the dial allows. Where a phrase is nested, it stands at the end if it can."""
        phrasings = phrasings[: reach(len(phrasings), self.world.dials.paraphrase)]
        ending = [phrasing for phrasing in phrasings if phrasing.removesuffix("?").endswith("{x}")] if nested else []
        return draws.pick(ending or phrasings)

    def _steps(self, walk: Sequence[Hop], first: int = 0) -> list[dict[str, Any]]:
        steps = []
        for number, hop in enumerate(walk, first):
            given = self.world.name(hop.start) if number == first else f"#{number}"
            asks = PHRASINGS["final_back" if hop.backward else "final"][hop.relation]
            step = {
                "question": asks[0].format(x=given, year=hop.year),
                "answer": self.world.name(hop.end) if isinstance(hop.end, Entity) else written(hop.end),
                "support": self._passage(hop.head),
                "pattern": ["?", hop.relation, given] if hop.backward else [given, hop.relation, "?"],
            }
            steps.append(step if hop.year is None else step | {"at": hop.year})
        return steps

    def _answers(self, end: Entity | Value) -> tuple[str, ...]:
        """All ways to say an answer, the first as in the gold graph."""
        if isinstance(end, Value):
            return forms(end)
        names = [name for name in (self.world.name(end), self.world.alias(end)) if name]
        return tuple(dict.fromkeys([*names, *(named(end.kind, name) for name in names)]))

    def _passage(self, entity: Entity) -> str:
        return passage_id(self.world, self.world.article(entity))


_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def _pick(draws: Draws, options: Sequence[Hop]) -> list[Hop] | None:
    return [draws.pick(options)] if options else None


def _year(fact: Fact, draws: Draws) -> int | None:
    return draws.between(fact.since, fact.until) if fact.relation in _TERMS else None


def _support(walk: Sequence[Hop]) -> list[Entity]:
    return list(dict.fromkeys(hop.head for hop in walk))


def _listed(names: Sequence[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} or {last}"
