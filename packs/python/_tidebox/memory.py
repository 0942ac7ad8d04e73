"""Puts the memory that interpreters begin with in an order in which they have to write to little of it.

A process shares each page of it with all others until it writes there, which costs a copy. Most of what a short program would
write are counts of references to objects that live for ever, and small objects in holes between them.
"""

import gc
import itertools
import sys
import types

from . import door

# Holes up to this many bytes are filled, from the largest to the smallest, each size so much smaller than the one before. What is
# larger is set aside meanwhile: there a process finds room in one piece.
_LARGEST_HELD, _LARGEST_FILLED, _STEP = 4 << 20, 32 << 10, 0.95

def settle():
    _keep_all_objects(sys.getrefcount(None))
    _fill_holes()


def _keep_all_objects(count):
    """Gives every object that can be found the count of those that are never freed, which nobody changes."""
    # A bit for each place that was seen, in pieces that are made when they are needed.
    seen = {}
    found = gc.get_objects()
    while found:
        fresh = []
        for each in found:
            at = id(each) >> 3
            piece = seen.get(at >> 16)
            if piece is None:
                piece = seen[at >> 16] = bytearray(1 << 13)
            byte, bit = at >> 3 & 0x1FFF, 1 << (at & 7)
            if not piece[byte] & bit and each is not seen and not isinstance(each, types.FrameType):
                piece[byte] |= bit
                fresh.append(each)
        found.clear()
        for some in itertools.batched(fresh, 1 << 12):
            door.set_words(count, [id(each) for each in some])
            found += gc.get_referents(*some)
            for each in some:
                if type(each) is dict:
                    found.extend(each)
                elif isinstance(each, types.CodeType):
                    found += each.co_consts, each.co_names, each.co_qualname, each.co_name, each.co_filename


# How often the oldest objects were collected before the program began.
_collected = 0


def note_collections():
    global _collected
    _collected = _oldest_collections()


def _oldest_collections():
    return gc.get_stats()[-1]["collections"]


def collect():
    """Lets go of all that the program has left in circles. While none of it is old, the young are all there is, and collecting
    those leaves the lists of free objects alone, which lie in shared pages."""
    gc.collect(len(gc.get_stats()) - 1 if _oldest_collections() != _collected else 1)


_filling = []


def _fill_holes():
    """Takes what is free between objects, so that a process finds room for its own in one piece."""
    probe = bytes(2 * _LARGEST_HELD)
    end = id(probe)
    del probe
    held = []
    for _ in range(2):  # The list that holds them leaves holes where it grows.
        size = _LARGEST_HELD
        while size > 0:
            kept = held if size > _LARGEST_FILLED else _filling
            while id(hole := bytes(size)) < end:
                kept.append(hole)
            size = min(size - 8, int(size * _STEP)) & ~7
        # The two smallest pieces that there are.
        for smallest in lambda: float("0.5"), object:
            while id(hole := smallest()) < end:
                _filling.append(hole)
