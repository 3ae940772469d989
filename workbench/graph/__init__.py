"""What methods and views share on a graph: seeds, walks, regions, neighbourhoods, and the details of a node."""
