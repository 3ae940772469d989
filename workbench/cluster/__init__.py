"""Work spread over the processes of a Dask cluster (docs/cluster.md).

`workers.py` hands pieces to Dask and takes their results in order, `hands.py` sends a worker the SPEC, folder and
settings of an engine, an encoder, an index or a method, `piece.py` checks versions and runs a piece there, and
`allowance.py` divides a budget."""

from workbench.cluster.workers import Cluster

__all__ = ["Cluster"]
