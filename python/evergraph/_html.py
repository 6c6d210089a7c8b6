"""What notebooks show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any


def table_html(
    names: Sequence[str], rows: Sequence[Sequence[Any]], total: int, info: Mapping[str, float]
) -> str:
    """The first rows of a table, how many there are, and how it came to be."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_short(value))}</td>" for value in row) + "</tr>"
        for row in rows
    )
    said = ", ".join(f"{escape(name)} {escape(_short(value))}" for name, value in info.items())
    left = f"{len(rows):,} of {total:,} rows" if total > len(rows) else f"{total:,} rows"
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{left}; {said}</p>"
    )


def facts_html(title: str, facts: Mapping[str, object]) -> str:
    """A title and what is known, a line each."""
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(_short(value))}</td></tr>"
        for name, value in facts.items()
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{rows}</tbody></table>"


def _short(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
