"""What can go wrong: a small tree, so that a program catches as much as it can mend.

``ConflictError`` is the only one that goes away by itself: run the transaction again.
"""


class EvergraphError(Exception):
    """The root: everything that Evergraph raises on its own account."""


class NotFoundError(EvergraphError, LookupError):
    """A vertex or an edge does not exist; the message names it."""


class AlreadyExistsError(EvergraphError, ValueError):
    """A vertex or an edge exists already; the message names it."""


class InvalidError(EvergraphError, ValueError):
    """An argument can never be right: a key of the wrong kind, a weight that is no number."""


class ConflictError(EvergraphError):
    """Another transaction changed the same thing and committed first. Run this one again."""


class LimitError(EvergraphError):
    """A limit of the graph was reached; the message says which, and what to do."""


class SnapshotExpiredError(EvergraphError):
    """The snapshot was ended, because of its age or number. Open a new one."""


class TransactionEndedError(EvergraphError):
    """The transaction was committed or rolled back before. Begin a new one."""


class ForkedError(EvergraphError, RuntimeError):
    """The graph was made before this process was forked. Make or load it in the child."""


class ReadError(EvergraphError, OSError):
    """A file could not be read; the message names the file and the line."""
