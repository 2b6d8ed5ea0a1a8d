"""Arrays in NumPy's files, without pickle: the dtype's one field is named as the format prints."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ._array import Array
from ._create import code_array
from ._format import Format
from ._format_texts import said
from ._formats import portable
from ._settings import brief
from .containers.recorded import LONGEST_NAME, Recorded

if TYPE_CHECKING:
    from ._safetensors import Checkpoint

INDEX = ".safetensors.index.json"  # of a checkpoint in several files


def stored(x: Any) -> np.ndarray:
    """Codes of a structured dtype, as [('e5m10', '<u2')]; nothing is copied."""
    if isinstance(x, Recorded):
        return x.as_record()
    if not isinstance(x, Array):
        return np.asarray(x)
    limbs = () if x.format.limbs == 1 else (x.format.limbs,)
    named = np.dtype([(field_name(x.format), x.format.dtype, limbs)])
    return np.ascontiguousarray(x.bits).view(named).reshape(x.shape)


def field_name(f: Format) -> str:
    text = portable(f)
    if len(text) > LONGEST_NAME:
        raise ValueError(
            f"{said(f)} has {len(f.values)} values, for which these files have no room; save "
            "x.bits, and the values beside them"
        )
    return text


def restored(name: str, a: Any) -> Any:
    """What `stored` took. An array that has no format's name is itself."""
    if not isinstance(a, np.ndarray):
        raise ValueError(f"{name} of this file is no array; np.savez writes nothing else")
    if a.dtype.names is None:
        return a
    if len(a.dtype.names) != 1:  # codes have one field, named as their format prints
        return a
    if a.dtype[0].names is not None:
        from .containers.records import of_record

        return of_record(name, a)
    try:
        format = Format(a.dtype.names[0])
    except ValueError:
        return a
    return code_array(name, a[a.dtype.names[0]].astype(format.dtype, copy=False), format)


def save(file: Any, arr: Any, **how: Any) -> None:
    np.save(file, stored(arr), **(how | {"allow_pickle": False}))


def savez(file: Any, *args: Any, **named: Any) -> None:
    np.savez(file, *map(stored, args), **all_stored(named))


def savez_compressed(file: Any, *args: Any, **named: Any) -> None:
    np.savez_compressed(file, *map(stored, args), **all_stored(named))


def all_stored(named: dict[str, Any]) -> dict[str, Any]:
    return {name: stored(x) for name, x in named.items()}


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A new file that takes the place of what stands at the path once it is whole; else it
    disappears."""
    import errno

    target = os.path.realpath(path)  # the file that a link leads to is replaced, not the link
    if os.path.exists(target) and not os.path.isfile(target):
        code = errno.EISDIR if os.path.isdir(target) else errno.ENOTSUP
        raise OSError(code, os.strerror(code))
    part = f"{target}.{os.getpid()}-{os.urandom(4).hex()}.part"
    file = os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666), "w+b")
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # a full disk may show only when the bytes have to arrive
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


def is_checkpoint(file: Any) -> bool:
    """Whether it begins as a .safetensors file does; a file is left where it stood."""
    if isinstance(file, str | os.PathLike):
        with open(file, "rb") as opened:
            start = opened.read(9)
    else:
        at = file.tell()
        start = file.read(9)
        file.seek(at)
    return start[8:] == b"{" and not start.startswith((b"\x93NUMPY", b"PK"))


def of_checkpoint(file: Any) -> dict[str, Any]:
    """Its tensors, each copied; bytes of a type that NumPy has not as uint8."""
    from ._safetensors import Checkpoint  # few programs read one

    named = isinstance(file, str | os.PathLike)
    return copies(Checkpoint.of_file(file) if named else Checkpoint(file.read()))


def of_index(file: str) -> dict[str, Any]:
    from ._shards import Shards

    shards = Shards.of_index(file).files.values()
    return {name: x for tensors in shards for name, x in copies(tensors).items()}


def copies(tensors: Checkpoint) -> dict[str, Any]:
    """Quantised tensors with their scales, which are none by themselves."""
    from ._safetensors import Raw
    from .containers.stored import Reader, kept_in

    kept = kept_in(tensors)
    parts = {name for x in kept.values() for name in x.parts.values()}
    found: dict[str, Any] = {}
    for name in tensors:
        if name in kept:
            try:
                found[name] = Reader(kept[name], tensors.raw).whole()
            except ValueError as why:
                raise ValueError(f"{name}: {why}") from None
        elif name not in parts:
            x = tensors[name]
            bits = np.frombuffer(x.data, np.uint8) if isinstance(x, Raw) else x
            found[name] = bits.copy()
    return found


def load(file: str | os.PathLike[str] | BinaryIO) -> Any:
    """Read what np.save, np.savez or np.savez_compressed wrote of Arrays, every bit and the format.

    Blocks, Affine, Scaled and Coded are a record of codes and scales, named as they print.

    And .safetensors files, and those that a .safetensors.index.json lists: floats as Arrays of
    their own formats, codes that `widthwise quantize` wrote as those of theirs (metadata
    `widthwise.formats`), tensors with scales as what has both (`widthwise.quantized`).

    And .onnx files, as `widthwise.onnx.load` reads them.

    Nothing in such a file is a pickle: its codes are a structured array whose one field is named as
    the format prints, and `np.load(file)["e5m10"]` gives them to anybody.

    Args:
        file: a path, or an open binary file.
    Returns:
        An Array; of a .npz or .safetensors a dict of them, of tensors with scales what has
        `.to_float64()`, too. What was no Array, and integers and truths of a checkpoint, are
        NumPy arrays; types that NumPy has not (F4) their bytes. The file decides which: to type
        checkers it is Any.
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
    if not isinstance(file, str | os.PathLike) and not hasattr(file, "read"):
        raise TypeError(
            f"file = {brief(file)}: a path is wanted, or a file that is open for reading"
        )
    path = os.fspath(file) if isinstance(file, str | os.PathLike) else ""
    if path.endswith(".onnx"):
        from . import onnx  # which few have installed

        found: dict[str, Any] = onnx.load(path)
        return found
    if path.endswith((".safetensors", INDEX)) or is_checkpoint(file):
        try:
            return of_index(path) if path.endswith(INDEX) else of_checkpoint(file)
        except ValueError as why:
            raise ValueError(f"file = {file!r}: {why}") from None
    try:
        content = np.load(file, allow_pickle=False)
        if isinstance(content, np.ndarray):
            return restored("file", content)
        with content:
            return {name: restored(name, content[name]) for name in content.files}
    except broken():
        raise ValueError(f"file = {file!r}: it is empty, cut short or damaged") from None
    except ValueError as why:
        if "pickle" not in str(why):
            raise
        raise ValueError(
            f"file = {file!r}: neither .npy nor .npz, or Python's objects; np.save and np.savez "
            "write what is read here"
        ) from None


def broken() -> tuple[type[Exception], ...]:
    """What comes of a .npz that is empty, cut short or damaged."""
    import zipfile
    import zlib

    return zipfile.BadZipFile, zlib.error, EOFError
