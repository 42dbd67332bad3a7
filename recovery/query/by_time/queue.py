"""The search by time that fits a queue."""

from __future__ import annotations

from parsers.queues.queue import BatchQueue, DatabaseQueue, FileQueue, Queue
from recovery.query.by_time.batch import BatchTimeSearch
from recovery.query.by_time.database import DatabaseTimeSearch
from recovery.query.by_time.time_search import QueueSearch, TimeSearch
from recovery.scan.log_access import LogAccess


def search_of(queue: Queue, log: LogAccess) -> QueueSearch:
    """The queue opened for searches by time. Raises TypeError for a queue of no known type."""
    if isinstance(queue, FileQueue):
        return TimeSearch(queue.files, log)
    if isinstance(queue, BatchQueue):
        return BatchTimeSearch(queue.files, log.min_physical_offset)
    if isinstance(queue, DatabaseQueue):
        return DatabaseTimeSearch(queue, log.min_physical_offset)
    raise TypeError(type(queue).__name__)
