"""What NumPy's files keep whole: numbers with a scale, as one record."""

from __future__ import annotations

from typing import Any

import numpy as np

LONGEST_NAME = 8000  # of a field: NumPy does not read a longer header without being told to


class Recorded:
    """Codes and scales in NumPy's files; its other functions see the numbers."""

    __slots__ = ()

    def _named_parts(self) -> tuple[str, dict[str, np.ndarray]]:
        """What it is, a word and settings as `axis=0` behind it, and its arrays."""
        raise NotImplementedError

    def as_record(self) -> np.ndarray:
        """Codes and scales as one record, as np.save writes it and `ww.load` reads it.

        >>> import widthwise as ww
        >>> ww.blocks([6.0, 3.0], "mxfp4").as_record().dtype.names
        ('block(e2m1fn,32,e8m0fnu) axis=-1',)
        """
        name, parts = self._named_parts()
        if len(name) > LONGEST_NAME:
            raise ValueError(
                f"{name[:40]}… takes {len(name)} letters to name its format, for which these files "
                f"have no room: {LONGEST_NAME}; save codes and scales as arrays, and the values "
                "beside them"
            )
        fields = np.dtype([(part, x.dtype, x.shape) for part, x in parts.items()])
        record = np.zeros((), np.dtype([(name, fields)]))
        for part, x in parts.items():
            record[name][part] = x
        return record

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .. import _files

        own = {np.save: _files.save, np.savez: _files.savez}
        own[np.savez_compressed] = _files.savez_compressed
        if function in own:
            return own[function](*args, **kwargs)
        return function(*numbers_of(args), **{name: numbers_of(x) for name, x in kwargs.items()})


def numbers_of(x: Any) -> Any:
    """What has a scale, and such in a sequence, as the numbers that they stand for."""
    if isinstance(x, list):
        return [numbers_of(y) for y in x]
    if isinstance(x, tuple):
        return tuple(numbers_of(y) for y in x)
    return np.asarray(x) if isinstance(x, Recorded) else x
