"""Attention whose products a unit computes, and the layer that has it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from ._layers import Converted, construct
from ._op import are_tensors, following
from ._product import call, linear, matmul, seed_for, units

Product = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    unit: Any,
    backward_unit: Any = None,
    multiplier: Any = None,
    backward_multiplier: Any = None,
    seed: Any = None,
) -> torch.Tensor:
    """Scaled dot-product attention, with the arguments of torch's, whose two products are a unit's.

    The unit computes query @ key.T and weights @ value, and the backward unit the four products of
    their gradients, each as `matmul` does. What lies between is torch's and no unit's: results of
    the first product, times scale, plus mask, and their softmax are computed in binary32 (binary64
    of binary64 tensors), and the weights are rounded once more as operands of the second.

    Args:
        query: values, (..., queries, width).
        key: (..., keys, width).
        value: (..., keys, columns).
        attn_mask: truths, of which False leaves a key out, or floats that are added to the
            products; it broadcasts to (..., queries, keys). A query that is left no key gets 0.
        dropout_p: the share of weights that torch's dropout sets to zero.
        is_causal: no query sees keys after its own place; then there is no attn_mask.
        scale: of the first products; 1 / sqrt(width) if left out.
        enable_gqa: several heads of query share one of key and value: (..., heads, queries, width)
            and (..., fewer heads, keys, width), a divisor of them. Gradients of a shared head are
            added by torch.
        unit, backward_unit, multiplier, backward_multiplier, seed: as in `matmul`.
    Returns:
        A tensor of shape (..., queries, columns).
    Raises:
        ValueError: shapes do not fit; attn_mask and is_causal are both given; or what `matmul`
            refuses.
        TypeError: attn_mask holds integers.

    >>> import torch
    >>> x = torch.eye(2)
    >>> attention(x, x, x, scale=100.0, unit="mac(e5m10)")
    tensor([[1., 0.],
            [0., 1.]])
    """
    are_tensors(query=query, key=key, value=value)
    if enable_gqa:
        key, value = shared(query, key, "key"), shared(query, value, "value")
    shapes = [tuple(x.shape) for x in (query, key, value)]
    if (
        min(map(len, shapes)) < 2
        or query.shape[-1] != key.shape[-1]
        or key.shape[-2] != (value.shape[-2])
    ):
        raise ValueError(
            "query, key and value are {}, {} and {}; (..., queries, width), (..., keys, width) and "
            "(..., keys, columns) are wanted".format(*shapes)
        )
    if is_causal and attn_mask is not None:
        raise ValueError("attn_mask is given and is_causal = True; leave one out")
    of = units(unit, backward_unit, multiplier, backward_multiplier)
    drawn = seed_for(of, seed)

    def first(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return call(a, b, None, *of, drawn)

    def second(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return call(a, b, None, *of, following(drawn, 3))  # after those of the first's gradients

    mask = causal(query, key) if is_causal else attn_mask
    if attn_mask is not None:
        check_kind("attn_mask", attn_mask)
    return attended(query, key, value, mask, dropout_p, scale, (first, second))[0]


def shared(query: torch.Tensor, x: torch.Tensor, name: str) -> torch.Tensor:
    """Each head as often as heads of query share it."""
    heads = x.shape[-3] if min(query.ndim, x.ndim) > 2 else 0
    if not heads or query.shape[-3] % heads:
        raise ValueError(
            f"enable_gqa = True, and query and {name} are {tuple(query.shape)} and "
            f"{tuple(x.shape)}; their axis -3 has heads, of query a multiple of {name}'s"
        )
    return x.repeat_interleave(query.shape[-3] // heads, -3)


def check_kind(name: str, mask: Any) -> None:
    if not isinstance(mask, torch.Tensor):
        raise TypeError(f"{name} is {type(mask).__name__}, and a tensor is taken")
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise TypeError(
            f"{name} holds {mask.dtype}; truths or floats are taken: {name}.bool() has the truths"
        )


def causal(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    seen = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device)
    return seen.tril()


def attended(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    dropout: float,
    scale: float | None,
    products: tuple[Product, Product],
) -> tuple[torch.Tensor, torch.Tensor]:
    """What comes out, and the weights."""
    first, second = products
    scores = first(query, key.mT)
    wide = scores if scores.dtype == torch.float64 else scores.float()
    wide = wide * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if mask is not None:
        check_spreads(mask, scores)
        truths = mask.dtype == torch.bool
        wide = wide.masked_fill(~mask, -math.inf) if truths else wide + mask.to(wide.dtype)
    weights = softmax(wide).to(scores.dtype)
    if dropout:
        weights = F.dropout(weights, dropout)
    return second(weights, value), weights


def check_spreads(mask: torch.Tensor, scores: torch.Tensor) -> None:
    pairs = zip(reversed(mask.shape), reversed(scores.shape), strict=False)
    if mask.ndim > scores.ndim or any(n not in (1, of) for n, of in pairs):
        raise ValueError(
            f"attn_mask is {tuple(mask.shape)}, which does not broadcast to (..., queries, keys), "
            f"{tuple(scores.shape)}"
        )


def softmax(x: torch.Tensor) -> torch.Tensor:
    """0 where a row is -infinity alone, as torch's scaled_dot_product_attention has it."""
    nothing = (x == -math.inf).all(-1, keepdim=True)
    return x.masked_fill(nothing, 0.0).softmax(-1).masked_fill(nothing, 0.0)


class MultiheadAttention(Converted, nn.MultiheadAttention):
    """torch.nn.MultiheadAttention under a unit, with the settings of `Linear`; the same parameter
    names.

    The unit computes all six products: three projections, both products of `attention`, and the
    projection of the result; scale, masks and softmax are binary32's. `input` is the format of
    query, key and value, `weight` of all projections' weights, `output` of the result.

    >>> import torch
    >>> layer = MultiheadAttention(8, 2, batch_first=True, unit="hopper.f16.f32")
    >>> x = torch.ones(1, 3, 8)
    >>> layer(x, x, x)[0].shape, sorted(layer.state_dict())[:2]
    (torch.Size([1, 3, 8]), ['in_proj_bias', 'in_proj_weight'])
    """

    plain = nn.MultiheadAttention
    beside = "; scale, mask and softmax in binary32"

    def __init__(self, *args: Any, **how: Any) -> None:
        construct(self, nn.MultiheadAttention, args, how)

    def computed(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        key_padding_mask: torch.Tensor | None = None,
        need_weights: bool = True,
        attn_mask: torch.Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        if query.is_nested or key.is_nested or value.is_nested:
            raise ValueError(
                "query, key or value is a nested tensor, which a unit does not take; "
                "nn.TransformerEncoder(…, enable_nested_tensor=False) makes none"
            )
        if is_causal and attn_mask is None:
            raise ValueError("is_causal = True, and there is no attn_mask that it speaks of")
        alone = query.ndim == 2
        turned = not alone and not self.batch_first
        batches = {id(x): as_batch(x, alone, turned) for x in (query, key, value)}
        given = [batches[id(x)] for x in (query, key, value)]
        self.check_masks(key_padding_mask, attn_mask, given, alone)
        mask = self.mask_of(key_padding_mask, attn_mask, given)
        q, k, v = self.projected(given)
        mixed, weights = self.mixed(q, k, v, mask)
        y = self.outward(mixed.transpose(1, 2).flatten(2))
        y = y.transpose(0, 1) if turned else y
        if average_attn_weights:
            weights = weights.mean(1)
        y, weights = (x.squeeze(0) if alone else x for x in (y, weights))
        return y, weights if need_weights else None

    def projected(self, given: list[torch.Tensor]) -> list[torch.Tensor]:
        """Query, key and value, (batch, heads, places, width), and what torch appends to them."""
        if self.in_proj_weight is None:
            own = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
            weights = [self.weighted(weight) for weight in own]
        else:
            weights = list(self.weighted(self.in_proj_weight).chunk(3))
        none = (None, None, None)
        biases = none if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        taken = {id(x): self.taken_in(x) for x in given}  # self-attention's one input once
        parts = zip(given, weights, biases, strict=True)
        made = [self.multiplied(taken[id(x)], weight, bias) for x, weight, bias in parts]
        for i, extra in ((1, self.bias_k), (2, self.bias_v)):
            if extra is not None:
                made[i] = torch.cat([made[i], extra.expand(made[i].shape[0], 1, -1)], 1)
        heads = [x.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for x in made]
        if self.add_zero_attn:
            heads[1:] = [F.pad(x, (0, 0, 0, 1)) for x in heads[1:]]
        return heads

    def mixed(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        how = self.scheme

        def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return a @ b if how.unit is None else matmul(a, b, **how.of_products())

        dropout = self.dropout if self.training else 0.0
        return attended(q, k, v, mask, dropout, None, (product, product))

    def outward(self, x: torch.Tensor) -> torch.Tensor:
        weight = self.weighted(self.out_proj.weight)
        return self.delivered(self.multiplied(x, weight, self.out_proj.bias))

    def multiplied(
        self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
    ) -> torch.Tensor:
        how = self.scheme
        if how.unit is None:
            return F.linear(x, weight, bias)
        return linear(x, weight, bias, **how.of_products())

    def check_masks(self, of_keys: Any, of_pairs: Any, given: Any, alone: bool) -> None:
        (batch, queries), keys = given[0].shape[:2], given[1].shape[1]
        pairs = [(queries, keys), (batch * self.num_heads, queries, keys)]
        each = [(keys,) if alone else (batch, keys)]
        for name, mask, wanted in (
            ("key_padding_mask", of_keys, each),
            ("attn_mask", of_pairs, pairs),
        ):
            if mask is not None:
                check_kind(name, mask)
                if tuple(mask.shape) not in wanted:
                    raise ValueError(
                        f"{name} is {tuple(mask.shape)}; {' or '.join(map(str, wanted))} is wanted"
                    )

    def mask_of(
        self, of_keys: torch.Tensor | None, of_pairs: torch.Tensor | None, given: list[torch.Tensor]
    ) -> torch.Tensor | None:
        """Both masks as floats that are added to (batch, heads, queries, keys)."""
        keys, batch = given[1].shape[1], given[1].shape[0]
        total = None
        if of_pairs is not None:
            pairs = as_floats(of_pairs, given[0].dtype)
            total = pairs.unflatten(0, (batch, -1)) if pairs.ndim == 3 else pairs
        if of_keys is not None:
            each = as_floats(of_keys, given[0].dtype).reshape(-1, 1, 1, keys)
            total = each if total is None else total + each
        more = (self.bias_k is not None) + self.add_zero_attn
        return total if total is None or not more else F.pad(total, (0, more))


def as_batch(x: torch.Tensor, alone: bool, turned: bool) -> torch.Tensor:
    return x.unsqueeze(0) if alone else x.transpose(0, 1) if turned else x


def as_floats(mask: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """True leaves a key out, as torch's layer has it."""
    if mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask, -math.inf)
