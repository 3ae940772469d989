"""The losses of GFM-RAG (arXiv 2502.01113, section 3.2.3, and release 1.0)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

EPSILON = 1e-5
SHARE_OF_BCE = 0.3
RETRIEVAL, COMPLETION = 0.2, 1.0  # temperatures of the negatives' weights in the two stages


def balanced_bce(logits: Tensor, positive: Tensor, temperature: float, counted: Tensor | None = None) -> Tensor:
    """Binary cross-entropy in which a question's positives weigh 1 together and its negatives too, the harder ones
    more: softmax(logit / temperature), without gradient. `logits`, `positive` and the mask of entries that are
    `counted`: (nodes, batch)."""
    counted = torch.ones_like(positive) if counted is None else counted
    negative = counted * (1 - positive)
    with torch.no_grad():
        harder = torch.softmax((logits / temperature).masked_fill(negative == 0, -torch.inf), dim=0).nan_to_num()
        weight = positive / positive.sum(0).clamp(min=1) + harder
    loss = binary_cross_entropy_with_logits(logits, positive, weight=weight, reduction="none")
    return (loss.sum(0) / weight.sum(0).clamp(min=EPSILON)).mean()


def list_loss(logits: Tensor, positive: Tensor) -> Tensor:
    """−mean over the positives i of log(σ_i / (Σ_j σ_j + ε) + ε). (nodes, batch)."""
    shares = torch.sigmoid(logits)
    log = torch.log(shares / (shares.sum(0) + EPSILON) + EPSILON)
    return (-(log * positive).sum(0) / positive.sum(0).clamp(min=1)).mean()


def retrieval_loss(logits: Tensor, positive: Tensor) -> Tensor:
    """0.3 BCE + 0.7 list loss."""
    bce = balanced_bce(logits, positive, RETRIEVAL)
    return SHARE_OF_BCE * bce + (1 - SHARE_OF_BCE) * list_loss(logits, positive)
