"""The graph of an index and parts of it as networkx graphs and pyvis networks."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import networkx as nx
import pytest
from tiny import TinyEncoder, tiny_dataset

import workbench as wb
from workbench.errors import SettingError
from workbench.exchange import to_graphml
from workbench.index import Index

HOSTILE = "\x01<img src=x onerror=alert(1)> href & ü"


@pytest.fixture
def hostile_index(tmp_path):
    """Of a corpus one of whose passages has a title that a page could act upon, and a character that XML cannot hold"""
    data = tiny_dataset()
    first, *others = data.passages
    data = replace(data, passages=(replace(first, title=HOSTILE), *others))
    return Index.build(data, wb.engine("rules"), tmp_path / "hostile", encoder=TinyEncoder(), progress=False)


@pytest.fixture(params=["graph", "neighbourhood"])
def part(request, hostile_index):
    first = hostile_index.passages.passages[0].id
    whole = request.param == "graph"
    return hostile_index.graph if whole else wb.neighbourhood(hostile_index, first, hops=3, limit=100)


def test_it_is_the_graph_that_is_exported(hostile_index, tmp_path):
    graph, phrases = hostile_index.graph.to_networkx(), hostile_index.graph.phrases
    exported = nx.read_graphml(to_graphml(hostile_index, tmp_path / "graph.graphml"), force_multigraph=True)
    rows = {name: int(name[1:]) + (phrases if name[0] == "p" else 0) for name in exported}
    exported = nx.relabel_nodes(exported, rows)
    assert dict(graph.nodes(data=True)) == dict(exported.nodes(data=True))
    ours, theirs = (sorted(map(str, one.edges(data=True))) for one in (graph, exported))
    assert ours == theirs and len(ours) > 10
    assert graph.nodes[phrases]["title"] == HOSTILE.replace("\x01", "\ufffd")


def test_a_subgraph_has_what_it_shows(tiny_index):
    subgraph = wb.neighbourhood(tiny_index, 0, hops=2)
    graph, whole = subgraph.to_networkx(), tiny_index.graph.to_networkx()
    assert list(graph) == [node.row for node in subgraph.nodes] and graph.number_of_edges() == len(subgraph.edges)
    assert [said["hop"] for _, said in graph.nodes(data=True)] == [node.hop for node in subgraph.nodes]
    stated = [said for *_, said in graph.edges(data=True) if said["kind"] == "relation"]
    assert stated and all(said["label"] for said in stated)
    for source, target, said in graph.edges(data=True):
        ways = (whole.get_edge_data(*ends, default={}) for ends in ((source, target), (target, source)))
        of_kind = [one for way in ways for one in way.values() if one["kind"] == said["kind"]]
        assert of_kind
        if said["kind"] == "relation":
            ids = {one for fact in of_kind for one in json.loads(fact["passages"])}
            assert set(json.loads(said["passages"])) == ids


def test_a_graph_without_names_says_so(tiny_index):
    fact = int((tiny_index.facts.subjects != tiny_index.facts.objects).argmax())
    with pytest.raises(SettingError, match="has no names of nodes; use the `graph` of an index"):
        tiny_index.graph.stating_again(tiny_index.facts, [fact]).to_networkx()
    assert tiny_index.graph.stating_again(tiny_index.facts, []) == tiny_index.graph


def test_a_network_of_pyvis_has_plain_values_and_repeatable_places(part):
    network, graph = part.to_pyvis(height="300px"), part.to_networkx()
    assert network.height == "300px" and network.get_nodes() == list(graph)
    assert [node["label"] for node in network.nodes] == [said["label"] for _, said in graph.nodes(data=True)]
    assert len(network.edges) == graph.number_of_edges()
    json.dumps([network.nodes, network.edges])
    assert [(one["x"], one["y"]) for one in part.to_pyvis().nodes] == [(one["x"], one["y"]) for one in network.nodes]
    network.add_node(-1, "mine")
    network.add_edge(-1, network.nodes[0]["id"])
    assert network.get_node(-1)["label"] == "mine" and len(network.edges) == graph.number_of_edges() + 1


def test_the_page_is_whole_and_in_utf_8(part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network = part.to_pyvis()
    network.save_graph("page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.glob("*.html")] == ["page.html"] and not (tmp_path / "lib").exists()
    assert not re.search(r'<(script|link)\b[^>]*(src|href)="http', page) and "<img src=x" not in page
    assert network.show("shown.html").src == "shown.html"
    assert any("<img" in node["title"] for node in network.nodes), "what is written leaves the network as it is"
