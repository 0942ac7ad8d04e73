"""Arranges the initial memory of interpreters so that they write to few of its pages.

A process shares each page with all others until it writes to it, which costs a copy. Most writes of a short program are
reference counts of objects that are never freed, and small objects in holes between them.
"""

import gc
import itertools
import sys
import types

from . import host_call

# Holes up to _LARGEST_FILLED bytes are filled in decreasing sizes, each _STEP times the previous one. Larger holes are only
# reserved during the filling, and remain as contiguous space for the process.
_LARGEST_HELD, _LARGEST_FILLED, _STEP = 4 << 20, 32 << 10, 0.95

def optimize():
    _keep_all_objects(sys.getrefcount(None))
    _fill_holes()


def _keep_all_objects(count):
    """Makes every reachable object immortal, so that its reference count is never written."""
    # A bitmap of visited addresses, allocated in blocks on demand.
    seen = {}
    found = gc.get_objects()
    while found:
        fresh = []
        for each in found:
            at = id(each) >> 3
            block = seen.get(at >> 16)
            if block is None:
                block = seen[at >> 16] = bytearray(1 << 13)
            byte, bit = at >> 3 & 0x1FFF, 1 << (at & 7)
            if not block[byte] & bit and each is not seen and not isinstance(each, types.FrameType):
                block[byte] |= bit
                fresh.append(each)
        found.clear()
        for some in itertools.batched(fresh, 1 << 12):
            host_call.write_words(count, [id(each) for each in some])
            found += gc.get_referents(*some)
            for each in some:
                if type(each) is dict:
                    found.extend(each)
                elif isinstance(each, types.CodeType):
                    found += each.co_consts, each.co_names, each.co_qualname, each.co_name, each.co_filename


# Number of collections of the oldest generation before the program started.
_recorded_collections = 0


def record_collections():
    global _recorded_collections
    _recorded_collections = _oldest_collections()


def _oldest_collections():
    return gc.get_stats()[-1]["collections"]


def collect():
    """Frees the reference cycles of the program. If the oldest generation was not collected, all its objects are young, and
    collecting only those does not write to the free lists, which are in shared pages."""
    gc.collect(len(gc.get_stats()) - 1 if _oldest_collections() != _recorded_collections else 1)


_filling = []


def _fill_holes():
    """Fills the free holes between objects, so that new objects of a process are contiguous."""
    probe = bytes(2 * _LARGEST_HELD)
    end = id(probe)
    del probe
    held = []
    for _ in range(2):  # The list itself leaves holes when it grows.
        size = _LARGEST_HELD
        while size > 0:
            kept = held if size > _LARGEST_FILLED else _filling
            while id(hole := bytes(size)) < end:
                kept.append(hole)
            size = min(size - 8, int(size * _STEP)) & ~7
        # The two smallest object sizes.
        for smallest in lambda: float("0.5"), object:
            while id(hole := smallest()) < end:
                _filling.append(hole)
