"""General English that the rules of answering share: word families, groups of like meaning, kinds of nouns, kinship.

Nothing here is drawn from a data set: the groups are the relations that any encyclopedia tells (birth, death,
founding, authorship, place …), the kinds are those of a dictionary."""

from __future__ import annotations

from functools import cache


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())


_SUFFIXES = (
    "ership", "ships", "ship", "ments", "ment", "ations", "ation", "itions", "ition", "ions", "ion", "ings", "ing",
    "ers", "er", "ors", "or", "ed", "es", "al", "ive", "e", "s",
)  # fmt: skip

# Groups of words of like meaning, for people, works, places and institutions.
_GROUPS = (
    "born birth birthplace native bear birthday",
    "die death dead decease perish kill",
    "found founder establish start create form institute launch inception originate endow foundation setup",
    "write writer author pen novelist",
    "marry marriage spouse wife husband wed widow widower partner bride",
    "study educate education graduate attend student degree diploma alumnus school train",
    "direct director filmmaker make maker",
    "compose composer music score",
    "play star actor actress portray cast act role",
    "sing singer perform performer record artist",
    "locate lie situate stand base headquarter seat site find",
    "own owner acquire buy purchase belong",
    "release publish issue premiere debut appear comeout bringout",
    "end dissolve disband close defunct cease finish abolish conclude",
    "design designer architect plan planner engineer",
    "build construct erect builder construction",
    "award win prize receive winner",
    "name call title nickname term know",
    "lead leader head chief rule ruler govern governor",
    "invent inventor develop discover discovery devise",
    "teach teacher professor lecture schoolteacher",
    "work employ employer serve job career",
    "live growup reside residence dwell inhabit inhabitant population",
    "large big size area great",
    "tall high height elevation altitude",
    "long length",
    "far distance",
    "speak language speaker",
    "member join belong",
    "flow mouth empty enter",
    "begin beginning open start inaugurate commence",
    "cross span",
    "produce producer production manufacture",
    "bury burial tomb grave",
    "nationality citizen citizenship",
)
_KINDS = {  # kind of answer -> nouns that ask for it
    "place": "country city town village state county province region district place location birthplace hometown river "
    "island continent capital area lake mountain sea ocean port municipality kingdom territory street venue building "
    "stadium nation neighborhood neighbourhood borough valley peninsula harbour harbor coast site desert bay cemetery "
    "bridge castle palace suburb settlement planet hotel airport museum",
    "organisation": "company organisation organization university college school institution institute band group team "
    "club newspaper party church publisher label firm agency network station corporation league studio orchestra army "
    "association ministry bank airline brand employer distributor union society academy diocese",
    "date": "date year day month decade century birthday birthdate",
    "number": "number population amount percentage height length depth score price cost age distance size elevation",
    "work": "film movie book novel song album series show opera play poem painting game magazine single sitcom "
    "musical story journal record anthem ballet comedy symphony soundtrack",
    "nationality": "nationality language religion ethnicity citizenship denomination tribe",
    "person": "king queen president governor person people man woman boy girl captain chief monarch emperor empress "
    "pope prince princess duke duchess mayor saint hero heroine character individual general judge chef "
    "architect monk poet cleric athlete nominee spouse pilot guide host head sovereign tsar bishop",
}  # fmt: skip
_THINGS = (
    words("""river water paper tower number letter theater theatre center chapter layer power summer winter cover
    order border matter flower color colour floor door quarter corner chamber shoulder member silver offer answer former
    latter other mirror error factor sector motor vector manor harbor vessel computer monitor reactor poster weather
    leather feather hammer timber finger counter shelter disaster september october november december diameter meter
    parameter plant restaurant elephant variant grant address process success access business illness wilderness list
    twist mist newspaper career later earlier older younger elder longer shorter larger smaller higher lower newer
    bigger taller sooner greater fewer further deeper wider heavier better after whether never ever under""")
)  # end so and are no agents
_PERSON_ENDINGS = ("er", "or", "ist", "ian", "ess", "man", "woman", "eer", "ant", "oet", "star")

KIN = {  # word -> (relation seen from the child or the spouse, gender)
    "father": ("parent", "m"), "mother": ("parent", "f"), "parent": ("parent", ""),
    "son": ("child", "m"), "daughter": ("child", "f"), "child": ("child", ""),
    "husband": ("spouse", "m"), "wife": ("spouse", "f"), "spouse": ("spouse", ""),
    "brother": ("sibling", "m"), "sister": ("sibling", "f"), "sibling": ("sibling", ""),
}  # fmt: skip
COMPOSED = {  # kin of kin, outermost first: whose what is asked
    "grandfather": ("father", "parent"), "grandmother": ("mother", "parent"), "grandparent": ("parent", "parent"),
    "father-in-law": ("father", "spouse"), "mother-in-law": ("mother", "spouse"),
    "uncle": ("brother", "parent"), "aunt": ("sister", "parent"),
    "stepfather": ("husband", "mother"), "stepmother": ("wife", "father"),
    "nephew": ("son", "sibling"), "niece": ("daughter", "sibling"),
    "grandson": ("son", "child"), "granddaughter": ("daughter", "child"), "grandchild": ("child", "child"),
    "brother-in-law": ("brother", "spouse"), "sister-in-law": ("sister", "spouse"),
    "son-in-law": ("husband", "daughter"), "daughter-in-law": ("wife", "son"),
}  # fmt: skip


def spoken(token) -> str:
    """The lemma of a spaCy token; a verb with its particle ("set up") is one word."""
    particle = next((child.lower_ for child in token.children if child.dep_ == "prt"), "")
    return token.lemma_.lower() + particle


@cache
def stem(word: str) -> str:
    """The family of a word: its lower-case form without one ending of inflection or derivation.

    >>> {stem(word) for word in ("directed", "director", "direction")}
    {'direct'}
    """
    word = word.lower()
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            word = word[: -len(suffix)]
            break
    if len(word) > 4 and word[-1] == word[-2]:  # travell(ed) -> travel
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 4 and word.endswith("y") else word


@cache
def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, group in enumerate(_GROUPS):
        for word in group.split():
            found.setdefault(stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


@cache
def relatedness(one: str, other: str) -> float:
    """1 for one family of words, 0.8 for one group of like meaning, else 0. Both are stems.

    >>> relatedness(stem("founder"), stem("establish")), relatedness(stem("founder"), stem("bridge"))
    (0.8, 0.0)
    """
    if one == other:
        return 1.0
    groups = _groups()
    return 0.8 if groups.get(one, frozenset()) & groups.get(other, frozenset()) else 0.0


@cache
def kind_of(noun: str) -> str:
    """The kind of answer that "which NOUN" asks for; "other" for nouns of no kind in particular.

    >>> kind_of("river"), kind_of("composer"), kind_of("colour")
    ('place', 'person', 'other')
    """
    noun = noun.lower()
    if noun in KIN or noun in COMPOSED:
        return "person"
    for kind, nouns in _KINDS.items():
        if noun in nouns.split():
            return kind
    return "person" if noun.endswith(_PERSON_ENDINGS) and len(noun) > 4 and noun not in _THINGS else "other"
