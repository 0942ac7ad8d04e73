"""Modules that were imported before the program started, and are handed out when it imports them.

What a program has not imported does not show in `sys.modules`. A module brings along those that its import brought, so
that what it finds there is what it would find after importing it itself.
"""

import sys

# Always there, while `importlib.machinery` may be one of those that are handed out.
from _frozen_importlib import ModuleSpec


class Group:
    """What one import brought."""

    def __init__(self, modules):
        self.modules = modules
        self.needs = []


_groups = {}
_used = []


class _Loader:
    """Hands out the module, and leaves it as it was."""

    def __init__(self, name, group):
        self._name, self._group = name, group
        self._module = group.modules[name]

    def create_module(self, spec):
        self._kept = {name: getattr(self._module, name) for name in ("__spec__", "__loader__")
                      if hasattr(self._module, name)}
        unpark(self._group)
        return self._module

    def exec_module(self, module):
        for name, value in self._kept.items():
            setattr(module, name, value)

    def __getattr__(self, name):
        # What else one may ask a loader: the code, the source, files beside it.
        return getattr(self._module.__spec__.loader, name)


class Finder:
    """Comes first among those whom `import` asks."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        group = _groups.get(name)
        if group is None:
            return None
        module = group.modules[name]
        own = module.__spec__
        spec = ModuleSpec(name, _Loader(name, group), origin=getattr(own, "origin", None), is_package=hasattr(module, "__path__"))
        if own is not None:
            spec.has_location = own.has_location
            spec.cached = own.cached
        if hasattr(module, "__path__"):
            spec.submodule_search_locations = module.__path__
        return spec


def unpark(group):
    """Puts what the group's import had brought into `sys.modules`, unless the program has its own there."""
    _used.append(group)
    for name, module in group.modules.items():
        if _groups.pop(name, None) is not None:
            sys.modules.setdefault(name, module)
    for needed in group.needs:
        if any(name in _groups for name in needed.modules):
            unpark(needed)
    refresh(group)


def refresh(group):
    """What must not be the same in every process that begins with one memory."""
    modules = group.modules
    if not live:
        return
    if "random" in modules:
        modules["random"].seed()
    if "numpy.random" in modules:
        modules["numpy.random"].seed()
    if "logging" in modules:
        import time

        modules["logging"]._startTime = time.time_ns()
    if "tempfile" in modules:
        modules["tempfile"].tempdir = None
        modules["tempfile"]._name_sequence = None
    if "uuid" in modules:
        modules["uuid"]._last_timestamp = None


live = False


def park_present(kept):
    """Takes away what the makers of the interpreter had imported, each module with those that it names things of."""
    found = {name: module for name, module in sys.modules.items()
             if name not in kept and not name.startswith(("_tidebox", "encodings"))}
    groups = {name: Group({name: module}) for name, module in found.items()}
    for name, module in found.items():
        named = {name.rpartition(".")[0]}
        for value in vars(module).values():
            if isinstance(value, type(sys)):
                named.add(value.__name__)
            elif isinstance(value, (type, type(park), type(len))):
                named.add(value.__module__)
        groups[name].needs = [groups[other] for other in named if other in groups and other != name]
    for name in found:
        del sys.modules[name]
    _groups.update(groups)


def park(name):
    """Imports a module and takes away what that brought. Answers whether it could be imported."""
    try:
        park_with(name, lambda: __import__(name))
    except ImportError:
        return False
    return True


def park_with(name, bring):
    """Takes away what `bring` has brought, as the import of a module of this name."""
    before = set(sys.modules)
    _used.clear()
    try:
        bring()
    finally:
        _take_away(before)


def _take_away(before):
    """What is there now and was not before. Of an import that failed, too."""
    needs = [group for group in _used]
    taken = {group_name for group in needs for group_name in group.modules}
    brought = {found: sys.modules[found] for found in list(sys.modules) if found not in before}
    group = Group({found: module for found, module in brought.items() if found not in taken})
    group.needs = needs
    for found in brought:
        del sys.modules[found]
    for each in (group, *needs):
        for found in each.modules:
            _groups[found] = each
    _used.clear()


def module(name):
    """A module of the image, whether it was handed out or not."""
    group = _groups.get(name)
    return sys.modules[name] if group is None else group.modules[name]


def install():
    sys.meta_path.insert(0, Finder)
