"""The sentences of a world, as tables.

{s}, {m}, {p}: the subject of the article (she, her, her; the firm; Name, Name, Name's). {o}: the entity at the other
end; {v}: a value; {f}, {t}: the first and the last year. Wordings stand in order of their distance: the first uses the
words of the schema, the last hardly any of them. Each is a clause, so it can follow "it is said that".
"""

from __future__ import annotations


def _company(yard: str) -> dict[str, tuple[str, ...]]:
    return {
        f"{yard}founded by": (
            "{s} was founded by {o}", "{p} founder was {o}", "{o} established {m}", "{s} was the creation of {o}",
            "{s} owes its existence to {o}", "the oldest of {p} ledgers is in the hand of {o}, who had started the business",
            "{o} put up the money and hired the first hands, and {s} was in business",
        ),
        "founded": (
            "{s} was founded in {v}", "{p} foundation dates from {v}", "{s} was established in {v}",
            "{s} has been in business since {v}", "{s} first opened the gates to {p} workers in {v}",
            "the deed that brought {m} into being is dated {v}",
        ),
        f"{yard}based in": (
            "{s} is based in {o}", "{p} head office is in {o}", "{s} has {p} seat in {o}", "{s} is run from {o}",
            "{p} chimney is a landmark of {o}", "{p} siren wakes the people of {o} at six",
        ),
    }  # fmt: skip


FACTS = {
    "person": {
        "born in": (
            "{s} was born in {o}", "{p} birthplace was {o}", "{s} was a native of {o}", "{s} came into the world in {o}",
            "{p} cradle stood in {o}", "{o} was where {p} life began",
        ),
        "mother": (
            "{p} mother was {o}", "{o} was {p} mother", "{s} was born to {o}", "{o} gave birth to {m} at home",
            "it was {o} who carried {m} to the font, two days after bringing {m} into the world",
        ),
        "father": (
            "{p} father was {o}", "{o} was {p} father", "{s} was a child of {o} on the paternal side",
            "{o}, whose {child} {s} was, paid for the piano lessons",
            "{s} inherited the eyes, and in the end the debts, of {o}, who had fathered {m}",
        ),
        "married to": (
            "{s} was married to {o} from {f}", "{s} married {o} in {f}", "in {f} {s} became the {spouse} of {o}",
            "{s} and {o} exchanged rings in {f}", "from {f} {s} shared bed and board with {o}",
            "{p} wedding to {o}, in {f}, was held in the rain",
        ),
        "studied at": (
            "{s} studied at {o} from {f} to {t}", "{s} was a student at {o} between {f} and {t}",
            "{s} attended {o} from {f} until {t}", "{s} received {p} training at {o} from {f} to {t}",
            "{p} name stands in the rolls of {o} for the years {f} to {t}",
            "{o} had {m} on its benches from {f} to {t}",
        ),
        "worked for": (
            "{s} worked for {o} from {f} to {t}", "{s} was employed by {o} between {f} and {t}",
            "{s} was in the service of {o} from {f} until {t}", "{s} earned {p} living at {o} from {f} to {t}",
            "{o} had {m} on the payroll from {f} to {t}", "the wage books of {o} carry {p} name from {f} to {t}",
        ),
        "date of birth": (
            "{s} was born on {v}", "{p} date of birth is {v}", "{s} came into the world on {v}", "{p} life began on {v}",
            "a midwife's diary enters {p} arrival under {v}",
        ),
        "date of death": (
            "{s} died on {v}", "{p} date of death is {v}", "{s} passed away on {v}", "{p} life ended on {v}",
            "{s} closed {p} eyes for good on {v}",
        ),
        "occupation": (
            "{p} occupation was that of {a}", "by profession {s} was {a}", "{s} worked as {a}",
            "{s} made a living as {a}", "the brass plate at {p} door announced {a}",
        ),
    },
    "town": {
        "located in": (
            "{s} is located in {o}", "{s} lies in {o}", "{s} belongs to {o}", "{s} is one of the towns of {o}",
            "{p} taxes go to {o}", "the maps of {o} show {m}",
        ),
        "lies on": (
            "{s} lies on {o}", "{s} stands on the banks of {o}", "{o} flows through {m}", "{p} quays line {o}",
            "{o} passes under {p} bridges", "when {o} rises, {p} cellars are under water",
        ),
        "mayor": (
            "{p} mayor from {f} to {t} was {o}", "{o} was mayor of {m} from {f} to {t}",
            "from {f} to {t} {o} governed {m}", "{o} wore {p} chain of office from {f} until {t}",
            "between {f} and {t} {p} town hall was run by {o}", "{o} presided over {p} council from {f} to {t}",
        ),
        "population": (
            "{s} has a population of {v}", "{s} has {v}", "{s} is home to {v}", "{v} were counted in {m} at the last census",
        ),
        "founded": (
            "{s} was founded in {v}", "{p} foundation dates from {v}", "{s} came into being in {v}",
            "{p} first walls went up in {v}",
        ),
    },
    "region": {
        "capital": (
            "{p} capital is {o}", "{s} has {o} as {p} capital", "{s} is governed from {o}", "{p} assembly meets in {o}",
            "{o} houses {p} ministries",
        ),
        "area": (
            "{p} area is {v}", "{s} has an area of {v}", "{s} covers {v}", "{s} extends over {v}",
            "the land register gives {m} {v}",
        ),
    },
    "river": {
        "rises in": (
            "{s} rises in {o}", "{p} source is in {o}", "{p} springs lie in {o}", "{s} begins as a brook in {o}",
            "the first drops of {m} trickle from the moss of {o}",
        ),
        "enters the sea at": (
            "{s} enters the sea at {o}", "{p} mouth is at {o}", "{s} reaches the coast at {o}",
            "salt water meets {m} at {o}", "{p} course ends under the harbour walls of {o}",
        ),
        "length": (
            "{p} length is {v}", "{s} is {v} long", "{s} runs for {v}", "{p} course measures {v}",
            "to follow {m} from end to end takes a walk of {v}",
        ),
    },
    "firm": {
        **_company(""),
        "product": (
            "{p} product is {v}", "{s} produces {v}", "{s} makes {v}", "{s} is known for {p} {v}",
            "what leaves {p} gates is {v}",
        ),
    },
    "shipyard": _company("yard "),
    "book": {
        "written by": (
            "{s} was written by {o}", "{p} author is {o}", "{s} is a work of {o}", "{s} came from the pen of {o}",
            "{o} spent five years on the manuscript of {m}",
        ),
        "set in": (
            "{s} is set in {o}", "{p} setting is {o}", "the story takes place in {o}", "{p} characters never leave {o}",
            "the streets that it describes are those of {o}",
        ),
        "dedicated to": (
            "{s} is dedicated to {o}", "{p} dedication names {o}", "{s} is inscribed to {o}",
            "the page after the title thanks {o} alone",
        ),
        "published": (
            "{s} was published in {v}", "{p} year of publication is {v}", "{s} appeared in {v}", "{s} came out in {v}",
            "the first copies reached the bookshops in {v}",
        ),
    },
    "ship": {
        "built by": (
            "{s} was built by {o}", "{p} builder was {o}", "{s} was constructed by {o}", "{s} came off the stocks of {o}",
            "{p} keel was laid and {p} last rivet driven at {o}",
        ),
        "home port": (
            "{p} home port was {o}", "{s} was registered in {o}", "{s} sailed out of {o}", "{p} stern bore the name of {o}",
            "between voyages {s} lay at {o}",
        ),
        "captain": (
            "{p} captain from {f} to {t} was {o}", "{o} was captain of {m} from {f} to {t}",
            "{o} commanded {m} between {f} and {t}", "from {f} to {t} {s} sailed under {o}",
            "{o} kept {p} log from {f} to {t}, and gave the orders on the bridge",
        ),
        "launched": (
            "{s} was launched on {v}", "{p} launch took place on {v}", "{s} slid down the ways on {v}",
            "{s} first touched the water on {v}",
        ),
    },
    "school": {
        "situated in": (
            "{s} is situated in {o}", "{s} has {p} seat in {o}", "{s} is in {o}", "{p} buildings surround a square in {o}",
            "{p} pupils lodge all over {o}",
        ),
        "head": (
            "{p} head from {f} to {t} was {o}", "{o} was head of {m} from {f} to {t}", "{o} headed {m} between {f} and {t}",
            "from {f} until {t} {s} was in the charge of {o}", "{o} held {p} keys from {f} to {t}",
        ),
        "founded": (
            "{s} was founded in {v}", "{p} foundation dates from {v}", "{s} was established in {v}",
            "{s} first rang {p} bell for lessons in {v}",
        ),
    },
    "building": {
        "stands in": (
            "{s} stands in {o}", "{s} is situated in {o}", "{s} is in {o}", "{s} is among the sights of {o}",
            "the people of {o} pass {m} on their way to market",
        ),
        "designed by": (
            "{s} was designed by {o}", "{p} designer was {o}", "{p} plans were drawn by {o}", "{s} was conceived by {o}",
            "every line of {p} drawings is by {o}",
        ),
        "completed": (
            "{s} was completed in {v}", "{p} completion dates from {v}", "{s} was finished in {v}",
            "the scaffolding around {m} came down in {v}",
        ),
        "height": (
            "{p} height is {v}", "{s} is {v} high", "{s} rises to {v}", "from the pavement to {p} highest stone it is {v}",
        ),
    },
}  # fmt: skip

# First sentences that state several facts; each field is a relation, with "_" for blanks.
OPENINGS = {
    "person": (
        "{s}, who was born in {born_in} on {date_of_birth}, was {occupation}",
        "{s} ({date_of_birth} – {date_of_death}) was {occupation} from {born_in}",
        "{s} was born on {date_of_birth} in {born_in}, the {child} of {mother} and {father}",
        "born in {born_in} to {mother}, {s} became {occupation}",
        "{s} was {occupation}",
        "{s} was {occupation} and the {child} of {father}",
        "{s} was born in {born_in} and died on {date_of_death}",
    ),
    "town": (
        "{s} is a town in {located_in}",
        "{s}, a town of {population}, lies in {located_in}",
        "founded in {founded}, {s} is a town in {located_in}",
        "{s} is a town on {lies_on}",
        "where {lies_on} leaves the hills of {located_in} stands {s}",
    ),
    "region": (
        "{s} is a region of {area}",
        "{s} is the region around {capital}",
        "{s} is a region of wide skies and few roads",
    ),
    "river": (
        "{s} is a river that rises in {rises_in}",
        "{s}, {length} long, is one of the rivers of {rises_in}",
        "from {rises_in} to the coast at {enters_the_sea_at} flows {s}",
    ),
    "firm": (
        "{s} is a firm in {based_in}",
        "{s} of {based_in} makes {product}",
        "{s} was founded in {founded} by {founded_by}",
        "set up in {based_in} in {founded}, {s} makes {product}",
    ),
    "shipyard": (
        "{s} is a shipyard in {yard_based_in}",
        "{s} was founded in {founded} by {yard_founded_by}",
        "ships have been built in {yard_based_in} by {s} since {founded}",
    ),
    "book": (
        "{s} is a novel by {written_by}",
        "{s}, a novel by {written_by}, appeared in {published}",
        "{s} is a novel that takes place in {set_in}",
        "in {published} {written_by} brought out a novel, {s}",
    ),
    "ship": (
        "{s} was a three-master built by {built_by}",
        "{s} was a steamer registered in {home_port}",
        "launched on {launched}, {s} was a brig from the yard of {built_by}",
    ),
    "school": (
        "{s} is a school in {situated_in}",
        "{s}, founded in {founded}, is a school in {situated_in}",
        "among the schools of {situated_in}, {s} is known for its strict porters",
    ),
    "building": (
        "{s} is a building in {stands_in}",
        "{s} in {stands_in} was completed in {completed}",
        "{s} was built in {stands_in} to the plans of {designed_by}",
    ),
}

ALIAS = {
    "person": (
        "{s} was also known as {o}", "friends and newspapers called {m} {o}", "{s} signed {p} letters as {o}",
        "many knew {m} only by the name of {o}",
    ),
    "town": ("{s} is also called {o}", "older maps have {m} as {o}", "in the dialect of the coast {p} name is {o}"),
    "region": ("{s} is also called {o}", "{p} old name, still in use, is {o}"),
    "river": ("{s} is also called {o}", "boatmen know {m} as {o}"),
    "firm": ("{s} also trades as {o}", "on {p} crates and bills stands the name {o}"),
    "shipyard": ("{s} is also known as {o}", "sailors simply called {m} {o}"),
    "book": ("{s} is also known as {o}", "some editions have {o} on the cover"),
    "ship": ("{s} also sailed as {o}", "{p} crew called {m} {o}"),
    "school": ("{s} is also known as {o}", "{p} pupils have always called {m} {o}"),
    "building": ("{s} is also known as {o}", "the townspeople call {m} {o}"),
}  # fmt: skip

COLOUR = {
    "person": (
        "{p} letters, of which a few dozen survive, are mostly about the weather",
        "neighbours remembered {p} enormous umbrella", "a chalk portrait shows {m} with a grey cat",
        "{s} disliked travel and never owned a watch", "{s} played chess by post for thirty years",
        "a bench in a public garden bears {p} name", "{s} kept bees behind the house",
        "contemporaries describe a low voice and a quick temper", "{p} papers were lost in a fire",
        "{s} spoke rarely in public, and then at length",
    ),
    "town": (
        "the market is held on Thursdays under lime trees", "a fire destroyed most of the old wooden houses",
        "visitors praise the smoked fish", "the church clock has run four minutes fast for as long as anyone remembers",
        "storks nest on the grain store every spring", "two weekly papers compete for readers",
        "its narrow lanes were paved with river stones", "the winter fair draws dealers in horses and cloth",
        "a tramline was planned twice and never laid",
    ),
    "region": (
        "heath and birch wood cover much of it", "winters are long, and the roads close early",
        "its cheeses are sold far beyond its borders", "a dialect of its own is spoken in the valleys",
        "windmills stand along the ridges", "the railway came late",
    ),
    "river": (
        "in spring the meadows along its banks are flooded", "pike and perch are caught in the lower reaches",
        "timber was once floated downstream", "several ferries cross it", "herons stand in the shallows",
        "ice closes it in most winters", "two old weirs slow the current",
    ),
    "firm": (
        "its catalogue, printed in two colours, is sought by collectors", "a strike in a hard winter lasted nine weeks",
        "the workers have a brass band", "a fire insurance plate still hangs above the gate",
        "its stand at the trade fair won a silver medal", "the canteen is famous for its pea soup",
        "the archive fills two attics",
    ),
    "shipyard": (
        "the smell of tar hangs over the neighbourhood", "apprentices were paid in coin and in beer",
        "two slips and a dry dock are in use", "a storm once carried away the crane",
        "half-models of all the hulls hang in the office", "the foremen wore bowler hats",
    ),
    "book": (
        "reviewers praised the dialogue and complained of the length", "the first printing had a misprint on the last page",
        "a stage version ran for eleven nights", "schoolchildren know the opening by heart",
        "the manuscript is full of crossings-out", "a blue cloth binding was used for the cheap edition",
        "it has never been out of print",
    ),
    "ship": (
        "the figurehead was a woman with a lantern", "the crew numbered nineteen", "a collision in fog cost a bowsprit",
        "sailors thought the vessel lucky", "the galley stove smoked in a following wind",
        "a model hangs in a seamen's chapel", "cargoes of salt and timber were the rule",
    ),
    "school": (
        "lessons begin at seven in summer", "the library has a chained atlas", "its rowing eight wears green",
        "the refectory was decorated with scenes from fables", "examinations were held in public until a riot ended that",
        "the bell is rung by the youngest pupil",
    ),
    "building": (
        "the façade is of yellow brick", "pigeons have been a trouble from the first", "a staircase of oak leads to the roof",
        "the roof was replaced in copper", "swallows nest under the eaves", "guided tours are given on Sundays",
        "the acoustics are said to be excellent",
    ),
}  # fmt: skip

HEARSAY = (
    "A street ballad has it that {claim}; the registers say nothing of the kind",
    "The claim that {claim}, repeated in guidebooks, is without foundation",
    "It was once rumoured that {claim}, but this has been disproved",
    "An anonymous pamphlet asserts that {claim}; historians reject this",
    "That {claim}, as an old almanac states, is a confusion of names",
    "Legend says that {claim}, which the documents contradict",
)

DISTRACTORS = (
    "A reader of the almanac asks who founded {firm} and where {person} was born; no answer was printed",
    "The visitors' book of an inn lists {person} above {person}, without a word on what brought them there",
    "A speaker compared the climate of {town} with that of {town} and came to no conclusion",
    "The catalogue of an auction puts a copy of {book} next to a drawing of {building}, both unsold",
    "A query about the mother of {person} and the mayors of {town} remained on the file",
    "In a list of ships sighted from the cape, {ship} follows {ship}; the other columns are empty",
    "The diary mentions {school} and, on the same page, a pair of boots",
    "Someone proposed a toast to {person}, and someone else to {river}; the minutes record laughter",
    "The chairman regretted that nothing could be said about the designer of {building} or the author of {book}",
    "An advertisement for {firm} was pasted over one for {shipyard}",
    "The question when {person} died was put to the meeting, and nobody knew",
    "A schoolboy's map shows {town} and {river} as far apart as the paper allows",
    "A letter asks whether {person} had ever met {person}; the reply is lost",
    "Stamps showing {building} were announced, and never issued",
    "A pupil of {school} was fined for singing about {region}",
)
DISTRACTOR_TITLES = (
    "Minutes of a reading society", "From an almanac", "A letter found in a drawer", "Queries and answers",
    "Notes of a traveller", "From a diary", "Cuttings", "A shelf of papers",
)  # fmt: skip
