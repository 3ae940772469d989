"""Contexts for the tests of compression, small enough to be worked out by hand."""

from hypothesis import strategies as st

from workbench.records import ContextEntity, ContextGraph, ContextRelation, Unit

QUESTION = "Who founded the station that Nora Whitlock directs?"


def path() -> ContextGraph:
    """Nora Whitlock - Kestrel Radio - Ida Holm - Orsby: a path of four nodes, one chunk each; and Tarn Valley, which
    no relation joins to them, in a chunk with Ida Holm."""
    return ContextGraph(
        entities=tuple(
            ContextEntity(name, said, at)
            for at, (name, said) in enumerate(
                [
                    ("NORA WHITLOCK", "A manager of broadcasts."),
                    ("KESTREL RADIO", "A station."),
                    ("IDA HOLM", ""),
                    ("ORSBY", "A town."),
                    ("TARN VALLEY", "A valley."),
                ]
            )
        ),
        relations=(
            ContextRelation("NORA WHITLOCK", "KESTREL RADIO", "Whitlock directs the station."),
            ContextRelation("KESTREL RADIO", "IDA HOLM", "Holm founded it in 1931."),
            ContextRelation("IDA HOLM", "ORSBY", "Holm died in Orsby."),
        ),
        sources=(Unit("7", "A report on Orsby and its people."),),
        chunks=(
            Unit("chunk_1", "Nora Whitlock grew up by the sea."),
            Unit("chunk_2", "Kestrel Radio was begun by Ida Holm."),
            Unit("chunk_3", "Ida Holm hiked in Tarn Valley."),
            Unit("chunk_4", "Tarn Valley is green."),
            Unit("chunk_5", "Somebody founded something elsewhere."),
            Unit("chunk_6", "Nothing is said here."),
        ),
    )


_KNOWN = ["nora", "Whitlock", "Kestrel", "radio", "founded", "the", "of", "Orsby", "1931", "just", "US", ".", "!"]
_HOSTILE = ["|", "-----Sources-----", "İ", "ß", "东京", "<b>", "\x07", "\ud800", "e\u0301", "…"]
_WORDS = st.sampled_from(_KNOWN + _HOSTILE)
_TEXTS = st.lists(_WORDS, max_size=30).map(" ".join) | st.text(max_size=40)
_NAMES = st.lists(_WORDS, max_size=3).map(" ".join)
_NUMBERS = st.integers(0, 99).map(str) | st.text(max_size=5)
_UNITS = st.lists(st.builds(Unit, _NUMBERS, _TEXTS, st.just("") | _NAMES, st.just(("p1",)) | st.just(())), max_size=8)

graphs = st.builds(
    lambda entities, relations, sources, chunks: ContextGraph(*map(tuple, (entities, relations, sources, chunks))),
    st.lists(st.builds(ContextEntity, _NAMES, _TEXTS), max_size=6),
    st.lists(st.builds(ContextRelation, _NAMES, _NAMES, _TEXTS), max_size=6),
    _UNITS,
    _UNITS,
)
questions = _TEXTS
