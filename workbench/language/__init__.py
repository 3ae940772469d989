"""English as spaCy parses it, shared by methods, readers, layers and rules. Rule bodies of Steps are in `rules/`.

    pipeline        the pipeline, with spaCy's entity decoder in numpy, and its last parses; content words
    mentions        named entities and nouns of a sentence
    spans           pages, their sentences and spans; when two names are one
    quantities      dates, numbers, lives, measures
    relations       families of words, words of like meaning, kin, kinds of answer
    names           names in a text by their form
    questions       what a question asks: names, kind of answer, nested hops, comparisons
    entity_types    the type of an entity from the noun that describes it; what words evoke in a schema
    verbalisation   triples as sentences, articles and descriptions
    foreign         detection of other languages

Importing a module does not load spaCy; the first parse does."""
