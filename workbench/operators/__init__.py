"""Operations on a graph, shared by methods and views: walks, regions, neighbourhoods, groupings, check-up."""
