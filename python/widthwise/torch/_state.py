"""State dicts whose tensors are codes: by rules on their names, and back."""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from .. import _rules
from .._array import Array
from .._block_format import is_container
from .._machine import by_usual_arithmetic
from .._spelling import as_argument, spelled
from .._table import Findings
from .._views import name_of
from ..containers.chunks import Options, refuse
from ..containers.coded import Bare, refuse_nan
from ..containers.stored import scheme_of
from ._coded import QTensor, decode, encode, packed_codes, rounded_once
from ._memory import DTYPES, words_of

COLUMNS = ("name", "holds", "shape", "format", "scale", "bytes", "snr_db", "untouched")


class QuantizedState(dict[str, Any]):
    """A state dict, some of whose tensors are `QTensor`s. `quantize_state_dict` makes it.

    torch.save takes it, and torch.load gives it back with weights_only.

    Attributes:
        rows: of each tensor what `report` tells.
        dtypes: what the quantised ones were, by their names.

    >>> import torch
    >>> state = quantize_state_dict({"fc.weight": torch.ones(2, 32)}, "mxfp4")
    >>> state["fc.weight"]
    QTensor(shape=(2, 32), format='block(e2m1fn,32,e8m0fnu)', nbytes=34)
    """

    def __init__(
        self, tensors: Mapping[str, Any], rows: list[Any], dtypes: dict[str, str], metadata: Any
    ) -> None:
        super().__init__(tensors)
        self.rows, self.dtypes, self._metadata = rows, dtypes, metadata

    def report(self) -> Findings:
        """A row a tensor: its format, scale, bytes, signal to noise in decibels; or why it stays.

        >>> import torch
        >>> state = {"fc.weight": torch.ones(2, 32), "fc.bias": torch.ones(2)}
        >>> quantize_state_dict(state, "mxfp4").report()["untouched"].tolist()
        ['', 'bias']
        """
        return Findings(COLUMNS, self.rows)

    @property
    def nbytes(self) -> int:
        """Of all tensors together.

        >>> import torch
        >>> quantize_state_dict({"fc.weight": torch.ones(2, 32)}, "mxfp4").nbytes
        34
        """
        return sum(x.nbytes for x in self.values() if isinstance(x, torch.Tensor | QTensor))

    def __reduce__(self) -> tuple[Any, ...]:
        return QuantizedState, (dict(self), self.rows, self.dtypes, self._metadata)


torch.serialization.add_safe_globals([QuantizedState])


def quantize_state_dict(
    state: Mapping[str, Any],
    format: Any,
    scale: str | None = None,
    rules: Any = None,
    *,
    rounding: str = "rne",
    seed: int = 0,
    nan: str | None = None,
) -> QuantizedState:
    """Let a state dict's tensors of floats be codes, by the rules of `widthwise quantize`.

    Norms, biases, embeddings and tensors of one axis or none stay unless a rule takes them.
    Whatever a rule says, integers, floats of 8 bits and fewer, empty tensors, QTensors, and what is
    no tensor stay. `report()` lists all of it.

    Args:
        state: tensors by their names, as `model.state_dict()` gives them; it is not changed.
        format: of blocks ('nvfp4'), of affine integers ('affine(int4,symmetric,32)'), or bare; a
            text, a ww.Format or a ww.BlockFormat.
        scale: of bare formats: 'none', 'tensor' or 'channel', a binary32 scale of largest magnitude
            / largest number (docs/semantics.md, S4); 'none' if left out.
        rules: {glob on names: a format, a dict of format, scale and axis, or None: stays}, or pairs
            of these in a list, of which the first that matches decides; or the path of a TOML file,
            as the command takes it.
        rounding: as in `quantize`.
        seed: an integer, by which stochastic rounding draws each tensor's bits alike.
        nan: 'zero', and NaN becomes +0 in bare formats without NaN, and wherever numbers share a
            scale. If left out it is an error there, but in OCP's MX, where its block becomes NaN.
            Bare formats that have NaN keep it.
    Returns:
        A dict of QTensors and, unchanged, what stays.
    Raises:
        ValueError: a glob that matches no tensor, a rule that decides none, a format that is none,
            a tensor that its format does not take; the text names it.
        TypeError: what stands for a format or a rule is none.

    >>> import torch
    >>> from torch import nn
    >>> net = nn.Sequential(nn.Linear(32, 8), nn.Linear(8, 2))
    >>> state = quantize_state_dict(net.state_dict(), "mxfp4", rules={"1.*": "e4m3fn"})
    >>> state.report()["format"].tolist()
    ['block(e2m1fn,32,e8m0fnu)', '', 'e4m3fn', 'e4m3fn']
    """
    if nan not in (None, "zero"):
        raise ValueError(f"nan = {nan!r}: it may be None or 'zero'")
    options = Options(rounding, seed, nan)
    read = rules_of(rules, _rules.format_text("format", format), scale, options)
    read.check(mapping(state))
    tensors: dict[str, Any] = {}
    rows, dtypes = [], {}
    for name, x in state.items():
        why, how = plan(name, x, read)
        tensors[name] = x if why else coded(name, x, how, options)
        rows.append(row(name, x, tensors[name], why, how))
        if not why:
            dtypes[name] = name_of(x.dtype)
    return QuantizedState(tensors, rows, dtypes, getattr(state, "_metadata", None))


def mapping(state: Any) -> Mapping[str, Any]:
    if not isinstance(state, Mapping):
        raise TypeError(f"state is {type(state).__name__}; a dict is wanted, as model.state_dict()")
    return state


def rules_of(rules: Any, format: str, scale: str | None, options: Options) -> _rules.Rules:
    own = is_container(format)
    if scale not in (None, *_rules.SCALES):
        raise ValueError(f"scale = {scale!r}: it may be {', '.join(_rules.SCALES)}")
    otherwise = _rules.How(format, scale or ("block" if own else "none"))
    check_scheme("format", otherwise, options)
    if rules is None:
        return _rules.Rules((), True, otherwise)
    if isinstance(rules, str | os.PathLike):
        with open(rules, encoding="utf-8") as file:
            return _rules.read(file.read(), f"rules = {os.fspath(rules)}", otherwise)
    made = tuple(rule_of(*pair, otherwise) for pair in pairs_of(rules))
    for rule in made:
        if not rule.how.keep:
            check_scheme(rule.place, rule.how, options)
    return _rules.Rules(made, True, otherwise)


def pairs_of(rules: Any) -> list[tuple[Any, Any]]:
    pairs = rules.items() if isinstance(rules, Mapping) else rules
    if not isinstance(rules, Mapping | list | tuple):
        raise TypeError(f"rules = {rules!r}: a dict, pairs in a list, or a file's path is wanted")
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise TypeError(f"rules: one is {pair!r}; (glob on names, format) is wanted")
    return list(pairs)


def rule_of(glob: str, value: Any, otherwise: _rules.How) -> _rules.Rule:
    place = f"rules[{glob!r}]"
    if value is None:
        return _rules.Rule(place, (glob,), _rules.How(keep="rule"))
    given = dict(value) if isinstance(value, Mapping) else {"format": value}
    if "format" in given:
        given["format"] = _rules.format_text(place, given["format"])
    unknown = [key for key in given if key not in _rules.KEYS[1:]]
    if unknown:
        keys = ", ".join(_rules.KEYS[1:])
        raise ValueError(f"{place}: {unknown[0]} is no key of a rule; there are {keys}")
    own = given.get("format")
    if own is not None and "scale" not in given:
        blocks = is_container(own)
        given["scale"] = "block" if blocks else otherwise.scale
        if not blocks and otherwise.scale == "block":
            given["scale"] = "none"
    return _rules.Rule(place, (glob,), _rules.how(given, place, 0, otherwise))


def check_scheme(place: str, how: _rules.How, options: Options) -> None:
    try:
        scheme_of(how.format, how.scale, how.axis, options)
    except ValueError as why:
        raise ValueError(f"{place}: {spelled(str(why), as_argument)}") from None


def plan(name: str, x: Any, rules: _rules.Rules) -> tuple[str, _rules.How]:
    """Why a tensor stays, or what becomes of it."""
    none = _rules.How()
    if isinstance(x, QTensor):
        return "quantised already", none
    if not isinstance(x, torch.Tensor):
        return "no tensor", none
    if not x.dtype.is_floating_point:
        return "no float", none
    if not x.numel():
        return "empty", none
    if x.dtype not in DTYPES:
        return "narrow", none
    how = rules.of(name, x.ndim)
    return how.keep, how


def coded(name: str, x: torch.Tensor, how: _rules.How, options: Options) -> QTensor:
    """Codes of a checkpoint lie on this machine."""
    x = x.cpu()
    try:
        if how.scale == "block":
            return in_blocks(x, how, options)
        scheme = Bare(how.format, how.scale, how.axis, options)
        return bare(x, scheme) if how.scale == "none" else under_scales(x, scheme)
    except ValueError as why:
        raise ValueError(f"{name}: {spelled(str(why), as_argument)}") from None


def in_blocks(x: torch.Tensor, how: _rules.How, options: Options) -> QTensor:
    """Of a format whose text says what its scales are of."""
    x = x if options.nan is None else x.masked_fill(x.isnan(), 0.0)
    try:
        return encode(x, how.format, options.rounding, options.seed, axis=how.axis)
    except ValueError:
        if not x.isfinite().all():
            refuse(x.detach().double().numpy(), whole(x), tuple(x.shape))
        raise


def bare(x: torch.Tensor, scheme: Bare) -> QTensor:
    nan, o = x.isnan(), scheme.options
    refuse_nan(nan.numpy(), whole(x), tuple(x.shape), scheme)
    x = x if scheme.format.has_nan or o.nan is None else x.masked_fill(nan, 0.0)
    return encode(x, scheme.format, o.rounding, o.seed)


def whole(x: torch.Tensor) -> tuple[slice, ...]:
    """A piece of it that is all of it."""
    return tuple(slice(0, n) for n in x.shape)


def under_scales(x: torch.Tensor, scheme: Bare) -> QTensor:
    given = Array._of(words_of(x, DTYPES[x.dtype]), DTYPES[x.dtype].format)
    (piece,) = scheme.pieces(tuple(x.shape), lambda cut: given, [whole(x)])
    codes, scales = piece.parts
    assert isinstance(codes, Array)
    kept = torch.from_numpy(np.array(scales, np.float32))
    return QTensor(packed_codes(codes), str(scheme.format), tuple(x.shape), kept)


@by_usual_arithmetic
def row(name: str, x: Any, made: Any, why: str, how: _rules.How) -> tuple[Any, ...]:
    if why == "no tensor":
        return name, type(x).__name__, (), "", "", 0, None, why
    holds = name_of(x.dtype) if isinstance(x, torch.Tensor) else x.format
    if why:
        return name, holds, tuple(x.shape), "", "", x.nbytes, None, why
    snr = decibels(x.double(), decode(made, torch.float64))
    return name, holds, tuple(x.shape), made.format, how.scale, made.nbytes, snr, ""


def decibels(x: torch.Tensor, z: torch.Tensor) -> float:
    """Signal to noise of what was finite; infinite where nothing was lost."""
    finite = x.isfinite()
    signal, noise = (float(part[finite].square().sum()) for part in (x, x - z))
    if noise == 0:
        return math.inf
    if signal == 0 or not math.isfinite(noise):
        return -math.inf
    return 10 * math.log10(signal / noise)


def dequantize_state_dict(
    state: Mapping[str, Any], dtype: torch.dtype | None = None
) -> OrderedDict[str, Any]:
    """The values that a quantised state dict's codes stand for, as `load_state_dict` takes them.

    Args:
        state: what `quantize_state_dict` made, or any dict with QTensors in it.
        dtype: of what was quantised; if left out the one that each had, float32 where the dict does
            not tell. A value that it does not hold is rounded once.
    Returns:
        A dict of tensors under the same names.

    >>> import torch
    >>> from torch import nn
    >>> net = nn.Linear(32, 8)
    >>> state = quantize_state_dict(net.state_dict(), "nvfp4")
    >>> net.load_state_dict(dequantize_state_dict(state))
    <All keys matched successfully>
    """
    dtypes = getattr(state, "dtypes", {})
    found: OrderedDict[str, Any] = OrderedDict()
    for name, x in mapping(state).items():
        if isinstance(x, QTensor):
            of = dtype or getattr(torch, dtypes.get(name, "float32"))
            x = rounded_once(decode(x, torch.float64), of)
        found[name] = x
    metadata = getattr(state, "_metadata", None)
    if metadata is not None:
        found._metadata = metadata  # type: ignore[attr-defined]
    return found
