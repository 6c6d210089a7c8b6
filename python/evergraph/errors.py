"""What can go wrong: a small tree, so that a program catches as much as it can mend.

``ConflictError`` is the only one that goes away by itself: run the transaction again.
"""


class EvergraphError(Exception):
    """The root: everything that Evergraph raises on its own account."""


class NotFoundError(EvergraphError, LookupError):
    """A vertex, an edge, a version or a database does not exist; the message names it."""


class TooOldError(NotFoundError):
    """A version is no longer kept; the message names the oldest that is."""


class AlreadyExistsError(EvergraphError, ValueError):
    """A vertex, an edge or a database exists already; the message names it."""


class InvalidError(EvergraphError, ValueError):
    """An argument can never be right: a key of the wrong kind, a weight that is no number."""


class ConflictError(EvergraphError):
    """Another transaction changed the same thing and committed first. Run this one again."""


class LimitError(EvergraphError):
    """A limit of the graph was reached; the message says which, and what to do."""


class BacklogFullError(LimitError):
    """So many ingested changes wait that no more are taken. Those before in the call were taken."""


class SnapshotExpiredError(EvergraphError):
    """The snapshot was ended, because of its age or number. Open a new one."""


class TransactionEndedError(EvergraphError):
    """The transaction was committed or rolled back, or open for too long. Begin a new one."""


class ClosedError(EvergraphError):
    """The graph was closed. Open it again."""


class ReadOnlyError(EvergraphError):
    """The graph was opened to be read only."""


class LockedError(EvergraphError, OSError):
    """Another process, which the message names, has the folder open. Close it there first."""


class StorageError(EvergraphError, OSError):
    """A call to the disk failed. Commits are refused until the graph is opened again."""


class DiskFullError(StorageError):
    """There is no space left. Nothing was committed; make room and commit again."""


class OutcomeUnknownError(StorageError):
    """The disk failed during a commit: whether it is there shows when the graph is opened again."""


class CorruptError(StorageError):
    """A file is damaged; the message says where. Nothing was opened or changed."""


class ForkedError(EvergraphError, RuntimeError):
    """The graph was made before this process was forked. Make or load it in the child."""


class ReadError(EvergraphError, OSError):
    """A graph file could not be read; the message names the file and the line."""
