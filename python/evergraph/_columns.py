"""What users give as arrays, in the form that the native half takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InvalidError

Keys = Any
"""Keys of vertices: an array, series or list of whole numbers from 0 on, or of texts."""

Weights = Any
"""Numbers: an array, series or list."""


def keys(values: Keys) -> Any:
    """An Arrow array as it is; NumPy's ``uint64`` or ``int64``; or a list of texts."""
    found = _arrow(values)
    if found is not None:
        return found
    array = np.asarray(values)
    if array.ndim != 1:
        raise InvalidError(f"a column has one dimension; this has {array.ndim}")
    if array.dtype.kind == "u":
        return np.ascontiguousarray(array, dtype=np.uint64)
    if array.dtype.kind == "i":
        return np.ascontiguousarray(array, dtype=np.int64)
    if array.size == 0:
        return np.empty(0, dtype=np.uint64)
    texts = array.tolist()
    if all(isinstance(text, str) for text in texts):
        return texts
    raise InvalidError(
        f"a column of {array.dtype} holds no keys; keys are whole numbers from 0 on, or texts"
    )


def weights(values: Weights | None) -> Any:
    """An Arrow array as it is, or NumPy's ``float64``."""
    if values is None:
        return None
    found = _arrow(values)
    return found if found is not None else np.ascontiguousarray(values, dtype=np.float64)


def _arrow(values: Any) -> Any:
    """The values, if they speak Arrow."""
    if hasattr(values, "__arrow_c_array__"):
        return values
    if not hasattr(values, "__arrow_c_stream__"):
        return None
    if type(values).__module__.partition(".")[0] == "pandas":
        # pandas speaks Arrow through pyarrow, which may be missing, and NumPy without a copy.
        kind = getattr(values.dtype, "kind", "O")
        return None if kind in "iuf" or not _has_pyarrow() else values
    return values


def _has_pyarrow() -> bool:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True
