"""Operations on a graph, shared by methods and views: walks, regions, neighbourhoods, node details, groupings, check-up."""
