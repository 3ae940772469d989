"""What the `rules` engine does for a Step: spaCy and arithmetic. Nothing here knows a benchmark or the bundled
corpus.

These are rules, and results made with them are labelled so; they are no stand-in for what a model would score.
"""
