"""Invented schemas that the tests of DotRAG's rules share: films, companies, museums."""

FILMS = (
    (
        ("film", "A film, made to be shown on a screen.", 900),
        ("person", "Someone who works on films.", 1200),
        ("genre", "A category of films.", 20),
        ("year", "A year in which films came out.", 90),
        ("language", "A language in which films are made.", 30),
    ),
    (
        ("directed_by", ("film",), ("person",), "The person is its director."),
        ("written_by", ("film",), ("person",), "The person wrote its screenplay."),
        ("cast", ("film",), ("person",), "The person is an actor who plays in it."),
        ("release_year", ("film",), ("year",), "The film came out in the year."),
        ("has_genre", ("film",), ("genre",), "The kind of film that it is."),
        ("in_language", ("film",), ("language",), "It is spoken in the film."),
    ),
)
COMPANIES = (
    (
        ("company", "A firm that makes or sells something.", 300),
        ("person", "Someone who founds, leads or works for companies.", 900),
        ("city", "A town or city.", 120),
        ("country", "A nation state.", 30),
        ("industry", "A branch of trade.", 25),
        ("year", "A calendar year.", 80),
        ("product", "Something that a company makes.", 500),
    ),
    (
        ("founded_by", ("company",), ("person",), "The person set up the company."),
        ("led_by", ("company",), ("person",), "The person is the chief executive."),
        ("employs", ("company",), ("person",), "The person works there."),
        ("headquartered_in", ("company",), ("city",), "Where the head office is."),
        ("located_in", ("city",), ("country",), "The city is in the country."),
        ("operates_in", ("company",), ("industry",), "The branch the company is active in."),
        ("acquired", ("company",), ("company",), "The first company bought the second."),
        ("founded_in", ("company",), ("year",), "The year it was set up."),
        ("born_in", ("person",), ("city",), "Birthplace."),
        ("makes", ("company",), ("product",), "The company manufactures the product."),
    ),
)
MUSEUMS = (
    (
        ("museum", "A house that shows art to the public.", 60),
        ("work", "A painting, a sculpture or another work of art.", 2000),
        ("artist", "Somebody who makes works of art.", 400),
        ("movement", "A school or style in art.", 30),
        ("city", "A place with museums.", 50),
        ("century", "A hundred years.", 8),
        ("material", "What a work is made of.", 40),
    ),
    (
        ("creator", ("work",), ("artist",), "Who made the work."),
        ("exhibited_at", ("work",), ("museum",), "Where the work hangs."),
        ("located_in", ("museum",), ("city",), "Where the museum stands."),
        ("part_of_movement", ("artist",), ("movement",), "The style the artist belongs to."),
        ("student_of", ("artist",), ("artist",), "Who taught the artist."),
        ("born_in", ("artist",), ("city",), "Birthplace of the artist."),
        ("made_in", ("work",), ("century",), "When it was made."),
        ("made_of", ("work",), ("material",), "Its material."),
    ),
)
