"""How questions ask, as tables; {x} stands for what is asked about. As in `wordings`, the first is the nearest to the
words of the schema.

FORWARD and BACKWARD are noun phrases for the tail and for the head of a relation, FINAL, FINAL_BACK and ALL whole
questions, and so are ALL and COUNT, about all heads of a tail.
"""

from __future__ import annotations

FORWARD = {
    "born in": ("the town in which {x} was born", "the birthplace of {x}", "the native town of {x}"),
    "mother": ("the mother of {x}", "the woman who gave birth to {x}"),
    "father": ("the father of {x}", "the man whose child {x} was"),
    "married to": ("the person to whom {x} was married", "the spouse of {x}"),
    "studied at": ("the school at which {x} studied", "the school that {x} attended", "the alma mater of {x}"),
    "worked for": ("the firm for which {x} worked", "the firm that employed {x}", "the employer of {x}"),
    "located in": ("the region in which {x} is located", "the region to which {x} belongs"),
    "lies on": ("the river on which {x} lies", "the river that flows through {x}"),
    "mayor": ("the mayor of {x} in {year}", "the person who governed {x} in {year}"),
    "capital": ("the capital of {x}", "the town from which {x} is governed"),
    "rises in": ("the region in which {x} rises", "the region that has the source of {x}"),
    "enters the sea at": ("the town at which {x} enters the sea", "the town at the mouth of {x}"),
    "founded by": ("the founder of {x}", "the person who established {x}"),
    "based in": ("the town in which {x} is based", "the town that has the head office of {x}"),
    "yard founded by": ("the founder of {x}", "the person who established {x}"),
    "yard based in": ("the town in which {x} is based", "the town that has the head office of {x}"),
    "stands in": ("the town in which {x} stands", "the town that is the site of {x}"),
    "written by": ("the author of {x}", "the writer of {x}"),
    "set in": ("the town in which {x} is set", "the town that is the scene of {x}"),
    "dedicated to": ("the person to whom {x} is dedicated", "the person to whom {x} is inscribed"),
    "built by": ("the shipyard that built {x}", "the builder of {x}"),
    "home port": ("the home port of {x}", "the port of registry of {x}"),
    "captain": ("the captain of {x} in {year}", "the person who commanded {x} in {year}"),
    "situated in": ("the town in which {x} is situated", "the town where {x} stands"),
    "head": ("the head of {x} in {year}", "the person in charge of {x} in {year}"),
    "designed by": ("the designer of {x}", "the architect behind {x}"),
}

BACKWARD = {
    "founded by": ("the firm founded by {x}", "the firm that {x} established"),
    "yard founded by": ("the shipyard founded by {x}", "the shipyard that {x} established"),
    "written by": ("the novel written by {x}", "the novel by {x}"),
    "dedicated to": ("the novel dedicated to {x}", "the novel that honours {x} on a page of its own"),
    "set in": ("the novel set in {x}", "the novel that takes place in {x}"),
    "designed by": ("the building designed by {x}", "the building that {x} conceived"),
    "built by": ("the ship built by {x}", "the ship that came from {x}"),
    "home port": ("the ship with the home port {x}", "the ship registered in {x}"),
    "mayor": ("the town of which {x} was mayor", "the town that {x} governed"),
    "head": ("the school of which {x} was head", "the school that {x} ran"),
    "situated in": ("the school situated in {x}", "the school in {x}"),
    "yard based in": ("the shipyard based in {x}", "the shipyard of {x}"),
    "capital": ("the region whose capital is {x}", "the region governed from {x}"),
    "enters the sea at": ("the river that enters the sea at {x}", "the river whose mouth is at {x}"),
    "mother": ("the child of {x}", "the person to whom {x} gave birth"),
}

FINAL = {
    "born in": ("In which town was {x} born?", "What was the birthplace of {x}?", "Of which town was {x} a native?"),
    "mother": ("Who was the mother of {x}?", "Which woman gave birth to {x}?"),
    "father": ("Who was the father of {x}?", "Whose child, on the paternal side, was {x}?"),
    "married to": ("To whom was {x} married?", "Who was the spouse of {x}?"),
    "studied at": ("At which school did {x} study?", "Which school did {x} attend?", "What was the alma mater of {x}?"),
    "worked for": ("For which firm did {x} work?", "Which firm employed {x}?", "Who was the employer of {x}?"),
    "located in": ("In which region is {x} located?", "In which region lies {x}?", "Which region includes {x}?"),
    "lies on": ("On which river lies {x}?", "Which river flows through {x}?"),
    "mayor": ("Who was mayor of {x} in {year}?", "Who governed {x} in {year}?"),
    "capital": ("What is the capital of {x}?", "From which town is {x} governed?"),
    "rises in": ("In which region rises {x}?", "Which region has the source of {x}?"),
    "enters the sea at": ("At which town does {x} enter the sea?", "Which town lies at the mouth of {x}?"),
    "founded by": ("Who founded {x}?", "Who established {x}?"),
    "based in": ("In which town is {x} based?", "Where is the head office of {x}?"),
    "yard founded by": ("Who founded {x}?", "Who established {x}?"),
    "yard based in": ("In which town is {x} based?", "Where is the head office of {x}?"),
    "stands in": ("In which town stands {x}?", "Which town is the site of {x}?"),
    "written by": ("Who wrote {x}?", "Who is the author of {x}?"),
    "set in": ("In which town is {x} set?", "Which town is the scene of {x}?"),
    "dedicated to": ("To whom is {x} dedicated?", "Who is named in the dedication of {x}?"),
    "built by": ("Which shipyard built {x}?", "Which yard constructed {x}?"),
    "home port": ("What was the home port of {x}?", "Where was {x} registered?"),
    "captain": ("Who was captain of {x} in {year}?", "Who commanded {x} in {year}?"),
    "situated in": ("In which town is {x} situated?", "In which town stands {x}?"),
    "head": ("Who was head of {x} in {year}?", "Who was in charge of {x} in {year}?"),
    "designed by": ("Who designed {x}?", "Who drew the plans of {x}?"),
    "date of birth": ("On what date was {x} born?", "When did {x} come into the world?"),
    "date of death": ("On what date did {x} die?", "When did the life of {x} end?"),
    "occupation": ("What was the occupation of {x}?", "What did {x} do for a living?"),
    "population": ("What is the population of {x}?", "How many people live in {x}?"),
    "area": ("What is the area of {x}?", "How large is {x}?"),
    "length": ("What is the length of {x}?", "How far does {x} run?"),
    "founded": ("In what year was {x} founded?", "Since what year has {x} existed?"),
    "product": ("What is the product of {x}?", "What does {x} make?"),
    "published": ("In what year was {x} published?", "In what year did {x} come out?"),
    "launched": ("On what date was {x} launched?", "When did {x} first float?"),
    "completed": ("In what year was {x} completed?", "When was {x} finished?"),
    "height": ("What is the height of {x}?", "How tall is {x}?"),
}

FINAL_BACK = {
    "founded by": ("Which firm was founded by {x}?", "Which firm did {x} establish?"),
    "yard founded by": ("Which shipyard was founded by {x}?", "Which shipyard did {x} establish?"),
    "written by": ("Which novel was written by {x}?", "Which novel came from the pen of {x}?"),
    "dedicated to": ("Which novel is dedicated to {x}?", "Which novel is inscribed to {x}?"),
    "set in": ("Which novel is set in {x}?", "Of which novel is {x} the scene?"),
    "designed by": ("Which building was designed by {x}?", "Which building did {x} conceive?"),
    "built by": ("Which ship was built by {x}?", "Which ship came from {x}?"),
    "home port": ("Which ship had {x} as its home port?", "Which ship was registered in {x}?"),
    "mayor": ("Of which town was {x} mayor?", "Which town did {x} govern?"),
    "head": ("Of which school was {x} head?", "Which school did {x} run?"),
    "situated in": ("Which school is situated in {x}?", "Which school can be attended in {x}?"),
    "yard based in": ("Which shipyard is based in {x}?", "Which shipyard is run from {x}?"),
    "capital": ("Of which region is {x} the capital?", "Which region is governed from {x}?"),
    "enters the sea at": ("Which river enters the sea at {x}?", "Which river has its mouth at {x}?"),
    "mother": ("Who was the child of {x}?", "To whom did {x} give birth?"),
}

ALL = {
    "founded by": ("Which firms were founded by {x}?", "Which firms did {x} establish?"),
    "written by": ("Which novels were written by {x}?", "Which novels came from the pen of {x}?"),
    "dedicated to": ("Which novels are dedicated to {x}?", "Which novels are inscribed to {x}?"),
    "set in": ("Which novels are set in {x}?", "Of which novels is {x} the scene?"),
    "designed by": ("Which buildings were designed by {x}?", "Which buildings did {x} conceive?"),
    "built by": ("Which ships were built by {x}?", "Which ships came from {x}?"),
    "home port": ("Which ships had {x} as their home port?", "Which ships were registered in {x}?"),
    "stands in": ("Which buildings are situated in {x}?", "Which buildings are among the sights of {x}?"),
    "based in": ("Which firms are based in {x}?", "Which firms are run from {x}?"),
    "mother": ("Who were the children of {x}?", "To whom did {x} give birth?"),
    "lies on": ("Which towns lie on {x}?", "Through which towns does {x} flow?"),
}  # fmt: skip

COUNT = {
    "founded by": ("How many firms were founded by {x}?", "How many firms did {x} establish?"),
    "written by": ("How many novels were written by {x}?", "How many novels came from the pen of {x}?"),
    "dedicated to": ("How many novels are dedicated to {x}?", "How many novels are inscribed to {x}?"),
    "set in": ("How many novels are set in {x}?", "Of how many novels is {x} the scene?"),
    "designed by": ("How many buildings were designed by {x}?", "How many buildings did {x} conceive?"),
    "built by": ("How many ships were built by {x}?", "How many ships came from {x}?"),
    "based in": ("How many firms are based in {x}?", "How many firms are run from {x}?"),
    "mother": ("How many children of {x} are known?", "To how many known people did {x} give birth?"),
    "lies on": ("How many towns lie on {x}?", "Through how many towns does {x} flow?"),
}  # fmt: skip

# Two steps of kinship → what the second person is to the first.
KINSHIP = {
    ("mother", "mother"): "the maternal grandmother of {x}",
    ("mother", "father"): "the maternal grandfather of {x}",
    ("father", "mother"): "the paternal grandmother of {x}",
    ("father", "father"): "the paternal grandfather of {x}",
    ("married to", "mother"): "the mother-in-law of {x}",
    ("married to", "father"): "the father-in-law of {x}",
}

# Attribute → what wins, and what asks which of several it is; {xs}: "A or B", "A, B or C".
COMPARED = {
    "date of birth": ("earlier", ("Who was born first, {xs}?", "Who was the eldest, {xs}?")),
    "date of death": ("later", ("Who died last, {xs}?", "Who lived to see the latest date, {xs}?")),
    "founded": ("earlier", ("Which was founded first, {xs}?", "Which is the oldest, {xs}?")),
    "published": ("earlier", ("Which was published first, {xs}?", "Which came out first, {xs}?")),
    "launched": ("earlier", ("Which was launched first, {xs}?", "Which first floated at the earliest date, {xs}?")),
    "completed": ("earlier", ("Which was completed first, {xs}?", "Which was the first to be finished, {xs}?")),
    "population": ("more", ("Which has the largest population, {xs}?", "Where do most people live, {xs}?")),
    "area": ("more", ("Which has the largest area, {xs}?", "Which is the largest, {xs}?")),
    "length": ("more", ("Which has the greatest length, {xs}?", "Which runs farthest, {xs}?")),
    "height": ("more", ("Which has the greatest height, {xs}?", "Which is the tallest, {xs}?")),
}
YES_NO = {
    "date of birth": "Was {x} born before {y}?",
    "date of death": "Did {x} die after {y}?",
    "founded": "Was {x} founded before {y}?",
    "published": "Was {x} published before {y}?",
    "launched": "Was {x} launched before {y}?",
    "completed": "Was {x} completed before {y}?",
    "population": "Has {x} more inhabitants than {y}?",
    "length": "Is {x} longer than {y}?",
    "height": "Is {x} higher than {y}?",
}
SAME = {
    "born in": "Were {x} and {y} born in the same town?",
    "studied at": "Did {x} and {y} study at the same school?",
    "located in": "Are {x} and {y} located in the same region?",
    "based in": "Are {x} and {y} based in the same town?",
    "written by": "Were {x} and {y} written by the same person?",
    "built by": "Were {x} and {y} built by the same shipyard?",
    "designed by": "Were {x} and {y} designed by the same person?",
}

THIS = {
    "person": "this person", "town": "this town", "region": "this region", "river": "this river", "firm": "this firm",
    "shipyard": "this shipyard", "book": "this novel", "ship": "this ship", "school": "this school",
    "building": "this building",
}  # fmt: skip
