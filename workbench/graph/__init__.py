"""What methods and views share on a graph: walks, regions, neighbourhoods, and the details of a node."""
