"""Answers as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _native
from ._html import table_html
from .errors import NotFoundError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class Table:
    """Columns of one length, with what is known about how they came to be.

    Arrow data: whatever takes ``__arrow_c_stream__`` (Polars, pyarrow, DuckDB, pandas) reads the
    columns without a copy. ``table["name"]`` is a column as a new NumPy array.

    >>> import evergraph as eg
    >>> table = eg.from_edges([1, 2], [2, 3]).snapshot().bfs(1)
    >>> table
    Table(vertex, hops; 3 rows at version 1)
    >>> table["hops"]
    array([0, 1, 2], dtype=int32)
    >>> table.to_dict()
    {1: 0, 2: 1, 3: 2}
    """

    __slots__ = ("_columns", "info")

    info: Mapping[str, float]
    """How it came to be: ``version``, and what the algorithm says, such as ``iterations``."""

    def __init__(self, columns: dict[str, _native.Column], info: Mapping[str, float]) -> None:
        self._columns = columns
        self.info = info

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        try:
            return self._columns[name].to_numpy()
        except KeyError:
            known = ", ".join(self._columns)
            raise NotFoundError(f"there is no column {name!r}; there are: {known}") from None

    def column(self, name: str) -> _native.Column:
        """A column as an Arrow array (``__arrow_c_array__``), without a copy."""
        return self._columns[name]

    def to_dict(self) -> dict[Any, Any]:
        """The second column by the first: the values of vertices by their keys."""
        first, second = list(self._columns.values())[:2]
        return dict(zip(first.to_list(), second.to_list(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """A pandas data frame."""
        import pandas as pd

        return pd.DataFrame({name: self[name] for name in self._columns})

    def to_polars(self) -> pl.DataFrame:
        """A Polars data frame on the same memory."""
        import polars as pl

        return pl.DataFrame(self)

    def head(self, rows: int = 10) -> list[tuple[Any, ...]]:
        """The first rows."""
        return [
            tuple(v.item() if isinstance(v, np.generic) else v for v in row)
            for row in zip(*(self[name][:rows] for name in self._columns), strict=True)
        ]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        names, columns = list(self._columns), list(self._columns.values())
        return _native.stream(names, columns, requested_schema)

    def __repr__(self) -> str:
        names = ", ".join(self._columns)
        return f"Table({names}; {len(self):,} rows at version {self.info['version']})"

    def _repr_html_(self) -> str:
        return table_html(self.columns, self.head(), len(self), self.info)
