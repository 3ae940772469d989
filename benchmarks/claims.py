"""How often the rules tell a true claim from a false one.

    python benchmarks/claims.py [--data meridian]

Each triple of a data set's gold graph is a claim of one sentence, "head relation tail", read with the passages that
state it. It is made false by the tail of another triple of its relation. `relation` joins two entities, `attribute`
has a date, a number or a text for its tail. `false` has the passages of the true claim only; `false, in context` has
the passages of the other triple as well, so that every name is there and only who did what is wrong. In shares of
claims that get the right label."""

import argparse
import json
from collections import defaultdict

import workbench as wb
from workbench.rules.judging import verify_claim
from workbench.steps.answer import NOT_SUPPORTED, SUPPORTED, Input


def label(head: str, relation: str, tail: str, passages: list) -> str:
    texts = tuple((passage.title, passage.text) for passage in passages)
    return verify_claim(Input(f"{head} {relation} {tail}.", "", texts)).label


def others(triples) -> dict:
    """Triple → the next one of its relation with a tail that its head does not have."""
    tails, same = defaultdict(set), defaultdict(list)
    for one in triples:
        tails[one.head, one.relation].add(one.tail)
        same[one.relation].append(one)
    found = {}
    for group in same.values():
        for at, one in enumerate(group):
            following = (*group[at + 1 :], *group[:at])
            found[one] = next((two for two in following if two.tail not in tails[one.head, one.relation]), None)
    return found


def measured(data) -> dict[str, dict]:
    passages = {passage.id: passage for passage in data.passages}
    stated = lambda triple: [passages[one] for one in triple.passages]  # noqa: E731
    right = defaultdict(lambda: defaultdict(list))
    for one, other in others(data.graph.triples).items():
        rows = right[one.kind]
        rows["true"].append(label(one.head, one.relation, one.tail, stated(one)) == SUPPORTED)
        if other:
            false = (one.head, one.relation, other.tail)
            rows["false"].append(label(*false, stated(one)) == NOT_SUPPORTED)
            rows["false, in context"].append(label(*false, [*stated(one), *stated(other)]) == NOT_SUPPORTED)
    return {
        kind: {name: {"claims": len(hits), "right": round(sum(hits) / len(hits), 3)} for name, hits in rows.items()}
        for kind, rows in right.items()
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="meridian")
    print(json.dumps(measured(wb.load(parser.parse_args().data)), indent=1))
