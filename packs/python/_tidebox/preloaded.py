"""Modules that were imported before the program started and are restored when it imports them.

Modules that the program has not imported are not in `sys.modules`. Importing one also restores the modules that its original
import loaded, so that `sys.modules` is the same as after a normal import.
"""

import sys

# Always available, while `importlib.machinery` may itself be a preloaded module.
from _frozen_importlib import ModuleSpec


class Group:
    """The modules loaded by one import."""

    def __init__(self, modules):
        self.modules = modules
        self.needs = []


_groups = {}
_used = []


class _Loader:
    """Returns the preloaded module unchanged."""

    def __init__(self, name, group):
        self._name, self._group = name, group
        self._module = group.modules[name]

    def create_module(self, spec):
        self._kept = {name: getattr(self._module, name) for name in ("__spec__", "__loader__")
                      if hasattr(self._module, name)}
        restore(self._group)
        return self._module

    def exec_module(self, module):
        for name, value in self._kept.items():
            setattr(module, name, value)

    def __getattr__(self, name):
        # Other methods of the original loader: code, source, data files.
        return getattr(self._module.__spec__.loader, name)


class Finder:
    """The first finder of `sys.meta_path`."""

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


def restore(group):
    """Adds the modules of a group to `sys.modules`, except names that the program has replaced."""
    _used.append(group)
    for name, module in group.modules.items():
        if _groups.pop(name, None) is not None:
            sys.modules.setdefault(name, module)
    for needed in group.needs:
        if any(name in _groups for name in needed.modules):
            restore(needed)
    refresh(group)


def refresh(group):
    """Resets state that must differ between processes that start from the same memory."""
    modules = group.modules
    if not live:
        return
    reseed(modules)
    if "logging" in modules:
        import time

        modules["logging"]._startTime = time.time_ns()
    if "tempfile" in modules:
        modules["tempfile"].tempdir = None
        modules["tempfile"]._name_sequence = None


def reseed(modules):
    """Gives the modules new random state: otherwise two copies of an interpreter would produce equal numbers."""
    if "random" in modules:
        modules["random"].seed()
    if "numpy.random" in modules:
        modules["numpy.random"].seed()
    if "uuid" in modules:
        modules["uuid"]._last_timestamp = None


live = False


def preload_present(kept):
    """Preloads the modules that the interpreter imports at startup, each grouped with the modules that it refers to."""
    found = {name: module for name, module in sys.modules.items()
             if name not in kept and not name.startswith(("_tidebox", "encodings"))}
    groups = {name: Group({name: module}) for name, module in found.items()}
    for name, module in found.items():
        named = {name.rpartition(".")[0]}
        for value in vars(module).values():
            if isinstance(value, type(sys)):
                named.add(value.__name__)
            elif isinstance(value, (type, type(preload), type(len))):
                named.add(value.__module__)
        groups[name].needs = [groups[other] for other in named if other in groups and other != name]
    for name in found:
        del sys.modules[name]
    _groups.update(groups)


def preload(name):
    """Imports a module and moves the loaded modules out of `sys.modules`. Returns whether the import succeeded."""
    try:
        preload_with(name, lambda: __import__(name))
    except ImportError:
        return False
    return True


def preload_with(name, load):
    """Moves the modules loaded by `load` out of `sys.modules`, as the import of a module with this name."""
    before = set(sys.modules)
    _used.clear()
    try:
        load()
    finally:
        _collect_new(before)


def _collect_new(before):
    """Moves the modules that are new since `before` out of `sys.modules`, also those of a failed import."""
    needs = [group for group in _used]
    taken = {group_name for group in needs for group_name in group.modules}
    loaded = {found: sys.modules[found] for found in list(sys.modules) if found not in before}
    group = Group({found: module for found, module in loaded.items() if found not in taken})
    group.needs = needs
    for found in loaded:
        del sys.modules[found]
    for each in (group, *needs):
        for found in each.modules:
            _groups[found] = each
    _used.clear()


def has(name):
    return name in _groups or name in sys.modules


def module(name):
    """Returns a preloaded module, whether the program has imported it or not."""
    group = _groups.get(name)
    return sys.modules[name] if group is None else group.modules[name]


def install():
    sys.meta_path.insert(0, Finder)
