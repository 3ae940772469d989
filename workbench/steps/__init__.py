"""Everything that a language model is asked: one file per Step, with its input, output, prompt and rule body."""

from workbench.llm.step import Step


def catalogue() -> dict[str, Step]:
    """Every Step by its name."""
    from workbench.steps import answer, fact_filter, judge, named_entities, triples

    return {module.STEP.name: module.STEP for module in (named_entities, triples, fact_filter, answer, judge)}
