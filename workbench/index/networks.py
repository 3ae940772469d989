"""The graph of an index, or a part of it, as a networkx graph and as a pyvis network.

A node is its row in the graph of the index: phrases first, then passages. Attributes are those of an exported GraphML
file (`workbench.exchange.export`): text and numbers only, lists as JSON, and without what is empty, so that networkx
can write every graph as GraphML or GEXF."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx
from pyvis.network import Network, check_html

from workbench.exchange.export import EDGE, NODE, as_attributes, edges, nodes, xml_text
from workbench.index.layout import positions

if TYPE_CHECKING:
    from workbench.index.index import Index
    from workbench.operators.neighbourhood import Subgraph

SPREAD = 1000.0  # of positions in a page, from the middle
SHOWN = 300  # characters of a text in a tooltip
_NODE = ("kind", "name", "label", "type", "hop", "degree", "value")
_SHAPES = {"phrase": "dot", "passage": "square"}
_FROM_WEB = re.compile(r'<(script|link)\b[^>]*(?:src|href)="https?://[^>]*>(?:\s*</script>)?')
_OPTIONS = '{"physics": {"enabled": false}, "interaction": {"hover": true}, "edges": {"smooth": false}}'


def index_to_networkx(index: Index) -> networkx.MultiDiGraph:
    """The whole graph: each fact an edge from subject to object, each passage with edges to its phrases, each synonym
    an edge."""
    graph, phrases = networkx.MultiDiGraph(name=xml_text(index.name)), index.graph.phrases

    def row(name: str) -> int:
        return int(name[1:]) + (phrases if name.startswith("p") else 0)

    graph.add_nodes_from((row(node.id), as_attributes(node, NODE)) for node in nodes(index, text=True))
    graph.add_edges_from((row(edge.source), row(edge.target), as_attributes(edge, EDGE)) for edge in edges(index))
    return graph


def subgraph_to_networkx(subgraph: Subgraph) -> networkx.MultiGraph:
    """The nodes, also with their `hop`, their `degree` in the whole graph and their `value`, and an edge for each kind
    between two of them: `label` has the relations, `passages` the ids of the passages that state them."""
    graph = networkx.MultiGraph(name=xml_text(subgraph.name))
    graph.add_nodes_from((node.row, as_attributes(node, _NODE)) for node in subgraph.nodes)
    for edge in subgraph.edges:
        attributes = as_attributes(edge, ("kind", "weight", "passages"))
        if edge.says:
            attributes["label"] = xml_text(edge.says)
        graph.add_edge(subgraph.nodes[edge.source].row, subgraph.nodes[edge.target].row, **attributes)
    return graph


class OfflineNetwork(Network):
    """A pyvis network whose page contains all that it needs and loads nothing.

    Titles of nodes may be text of a corpus. A page shows them as text, unless one of them holds "href": then pyvis
    makes them HTML. So the titles of `texts`, which are ids of nodes, are escaped in such a page."""

    def __init__(self, *, texts: Iterable[int] = (), **options: Any):
        super().__init__(**options | {"cdn_resources": "in_line"})
        self.prep_notebook()  # for `show` in a notebook
        self.texts = frozenset(texts)

    def generate_html(self, name: str = "index.html", local: bool = True, notebook: bool = False) -> str:
        listed = self.nodes
        if any("href" in node.get("title", "") for node in listed):
            self.nodes = [
                node | {"title": html.escape(node["title"])} if node["id"] in self.texts and "title" in node else node
                for node in listed
            ]
        try:
            self.html = _FROM_WEB.sub("", super().generate_html(name, local, notebook))
        finally:
            self.nodes = listed
        return self.html

    def write_html(self, name: str, local: bool = True, notebook: bool = False, open_browser: bool = False) -> None:
        """As pyvis does, in UTF-8 on every system."""
        check_html(name)
        Path(name).write_text(self.generate_html(notebook=notebook), encoding="utf-8")
        if open_browser:
            import webbrowser

            webbrowser.open(Path(name).resolve().as_uri())


def to_pyvis(graph: networkx.MultiGraph, **options: Any) -> OfflineNetwork:
    """A network of one of the graphs above, with fixed positions, for up to a few thousand nodes. `options` are those
    of `pyvis.network.Network`.

    Nodes and edges are set at once: pyvis's own `add_node` and `add_edge` compare each with all before it."""
    network = OfflineNetwork(texts=graph, **{"directed": graph.is_directed()} | options)
    network.set_options(_OPTIONS)
    number = {node: at for at, node in enumerate(graph)}
    ends = [(number[source], number[target]) for source, target in graph.edges()]
    places = positions([attributes.get("hop", 0) for _, attributes in graph.nodes(data=True)], ends) * SPREAD
    network.node_ids = list(graph)
    network.nodes = [
        {
            "id": node, "label": attributes.get("label", ""), "title": _title(attributes), "group": attributes["kind"],
            "shape": _SHAPES[attributes["kind"]], "x": x, "y": y,
        }
        for (node, attributes), (x, y) in zip(graph.nodes(data=True), places.tolist())
    ]  # fmt: skip
    network.node_map = {node["id"]: node for node in network.nodes}
    arrows = {"arrows": "to"} if graph.is_directed() else {}
    network.edges = [
        {"from": source, "to": target, "title": _title(attributes), "weight": attributes["weight"], **arrows}
        for source, target, attributes in graph.edges(data=True)
    ]
    return network


def _title(attributes: dict[str, Any]) -> str:
    """The tooltip of a node or an edge."""
    parts = (attributes.get(name) for name in ("label", "kind", "type", "description", "text", "passages"))
    return "\n".join(str(part)[:SHOWN] for part in parts if part)
