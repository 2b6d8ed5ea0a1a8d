"""Arrays in NumPy's files, without pickle: the dtype's one field is named as the format prints."""

from __future__ import annotations

import os
from typing import Any, BinaryIO

import numpy as np

from ._array import Array
from ._create import code_array
from ._format import Format


def stored(x: Any) -> np.ndarray:
    """Codes of a structured dtype, as [('e5m10', '<u2')]; nothing is copied."""
    if not isinstance(x, Array):
        return np.asarray(x)
    limbs = () if x.format.limbs == 1 else (x.format.limbs,)
    named = np.dtype([(str(x.format), x.format.dtype, limbs)])
    return np.ascontiguousarray(x.bits).view(named).reshape(x.shape)


def restored(name: str, a: Any) -> Any:
    """What `stored` took. An array that has no format's name is itself."""
    if not isinstance(a, np.ndarray):
        raise ValueError(f"{name} of this file is no array; np.savez writes nothing else")
    if a.dtype.names is None:
        return a
    if len(a.dtype.names) != 1:
        raise ValueError(
            f"{name} has the fields {', '.join(a.dtype.names)}; codes have one, named as their "
            "format prints. np.load reads other arrays"
        )
    format = Format(a.dtype.names[0])
    return code_array(name, a[a.dtype.names[0]].astype(format.dtype, copy=False), format)


def save(file: Any, arr: Any, **how: Any) -> None:
    np.save(file, stored(arr), **(how | {"allow_pickle": False}))


def savez(file: Any, *args: Any, **named: Any) -> None:
    np.savez(file, *map(stored, args), **all_stored(named))


def savez_compressed(file: Any, *args: Any, **named: Any) -> None:
    np.savez_compressed(file, *map(stored, args), **all_stored(named))


def all_stored(named: dict[str, Any]) -> dict[str, Any]:
    return {name: stored(x) for name, x in named.items()}


def load(file: str | os.PathLike[str] | BinaryIO) -> Any:
    """Read what np.save, np.savez or np.savez_compressed wrote of Arrays, every bit and the format.

    Nothing in such a file is a pickle: its codes are a structured array whose one field is named as
    the format prints, and `np.load(file)["e5m10"]` gives them to anybody.

    Args:
        file: a path, or an open binary file.
    Returns:
        An Array; of a .npz a dict of them. What was no Array is the NumPy array it was.
    Raises:
        FileNotFoundError: there is no such file.
        ValueError: what it holds is neither numbers nor codes.

    >>> import io, numpy as np, widthwise as ww
    >>> file = io.BytesIO()
    >>> np.save(file, ww.array([0.1, "inf"], "e5m10"))
    >>> file.seek(0)
    0
    >>> ww.load(file)
    Array([0.1 inf], e5m10)
    """
    try:
        content = np.load(file, allow_pickle=False)
    except ValueError as why:
        if "pickle" not in str(why):
            raise
        raise ValueError(
            f"file = {file!r}: neither .npy nor .npz, or Python's objects; np.save and np.savez "
            "write what is read here"
        ) from None
    if isinstance(content, np.ndarray):
        return restored("file", content)
    with content:
        return {name: restored(name, content[name]) for name in content.files}
