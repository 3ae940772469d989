"""Rule bodies of `state_claims`, `support_claims` and `rate_context`: sentences for claims, and the words, quantities
and negations that `verify_claim` compares. They show how the measures of GraphRAG-Bench work, and do not stand in for a
judge: a pronoun stays one, and a paraphrase without the words of the text is not supported."""

from __future__ import annotations

from workbench.rules.judging import families, verify_claim
from workbench.steps import claims
from workbench.steps.answer import SUPPORTED, Input
from workbench.text import sentences


def state_claims(value: claims.Text) -> claims.Claims:
    """
    >>> state_claims(claims.Text("Who founded it?", "It was Nora Whitlock. She lived in Orsby.")).claims
    ['It was Nora Whitlock.', 'She lived in Orsby.']
    """
    return claims.Claims(claims=sentences(value.text))


def support_claims(value: claims.SupportInput) -> claims.Supported:
    """
    >>> said = ("Nora Whitlock founded Kestrel FM.", "Kestrel FM began in 1990.")
    >>> support_claims(claims.SupportInput("?", said, "Kestrel FM was founded by Nora Whitlock in 1984.")).supported
    [1]
    """
    text = (("", value.text),)
    judged = [verify_claim(Input(claim, value.text, text)).label for claim in value.claims]
    return claims.Supported(supported=[number for number, label in enumerate(judged, 1) if label == SUPPORTED])


def rate_context(value: claims.Text) -> claims.Rating:
    """By the content words of the question that the context has: none, some, all.

    >>> [rate_context(claims.Text("Who founded Kestrel FM?", text)).rating for text in ("Rain.", "A kestrel flew.",
    ...     "Nora founded Kestrel FM.")]
    [0, 1, 2]
    """
    wanted, there = {*families(value.question).values()}, {*families(value.text).values()}
    return claims.Rating(rating=2 if wanted and wanted <= there else int(bool(wanted & there)))
