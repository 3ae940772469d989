"""Work spread over the processes of a Dask cluster (docs/cluster.md).

`workers.py` hands pieces to Dask and takes their results in order, `hands.py` says what a worker is given in place of
an engine, an encoder, an index or a method, `piece.py` runs a piece there, where what decides its result has to
be equal, and `allowance.py` divides a budget."""

from workbench.cluster.workers import Cluster

__all__ = ["Cluster"]
