"""Records how the public methods of a client end in a session, for the table in the provider's page."""

import inspect

# Outcomes of each method: `None`, or the exception.
_outcomes = {}
_classes = []


class _Recorded:
    """A method that records its outcomes."""

    def __init__(self, name, method):
        self.name, self.method = name, method

    def __get__(self, instance, owner=None):
        bound = self.method.__get__(instance, owner) if hasattr(self.method, "__get__") else self.method

        def call(*arguments, **options):
            try:
                result = bound(*arguments, **options)
            except Exception as error:
                _outcomes[self.name].append(error)
                raise
            if inspect.iscoroutine(result):
                return self.awaited(result)
            if inspect.isgenerator(result):
                return self.iterated(result)
            _outcomes[self.name].append(None)
            return result

        return call

    def iterated(self, generator):
        """The first item, or the end, is the outcome."""
        try:
            first = next(generator)
        except StopIteration:
            _outcomes[self.name].append(None)
            return
        except Exception as error:
            _outcomes[self.name].append(error)
            raise
        _outcomes[self.name].append(None)
        yield first
        yield from generator

    async def awaited(self, coroutine):
        try:
            result = await coroutine
        except Exception as error:
            _outcomes[self.name].append(error)
            raise
        _outcomes[self.name].append(None)
        return result


def public(kind, known=()):
    """The names of the public methods of a class, without those of the classes in `known`."""
    inherited = {name for base in (object, *known) for name in dir(base)}
    names = [name for name in dir(kind) if not name.startswith("_") and name not in inherited]
    method = lambda name: not isinstance(getattr(kind, name), type) and callable(getattr(kind, name))
    return [name for name in names if method(name)]


def record(*kinds, known=(), without=()):
    """Records the calls of all public methods of these classes from now on."""
    for kind in kinds:
        names = [name for name in public(kind, known) if name not in without]
        _classes.append((kind.__name__, names))
        for name in names:
            key = f"{kind.__name__}.{name}"
            _outcomes[key] = []
            setattr(kind, name, _Recorded(key, inspect.getattr_static(kind, name)))


def absent(call, feature="Tidebox", name="the call"):
    """Calls a method that the emulator does not have. Its error names the feature."""
    try:
        result = call()
    except Exception as error:
        assert feature in str(error), f"{name}: {type(error)}: {error}"
        return error
    raise AssertionError(f"{name} succeeded: {result!r}")


def all_absent(owner, names, feature="Tidebox", values={}, options={}):
    """Calls methods with made-up values for their required parameters, and with the options of each."""
    kind = owner if isinstance(owner, type) else type(owner)
    for name in names:
        method = inspect.getattr_static(kind, name)
        method = method.method if isinstance(method, _Recorded) else method
        parameters = inspect.signature(getattr(method, "__func__", method)).parameters.values()
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        needed = [one.name for one in parameters if one.kind in kinds and one.default is one.empty]
        arguments = {one: values.get(one, "x") for one in needed if one not in ("self", "cls")}
        arguments |= options.get(f"{kind.__name__}.{name}", {})
        absent(lambda: getattr(owner, name)(**arguments), feature, name)


def report(differs={}, absences=("Tidebox",)):
    """Prints the table. Every method must have been called; one that only fails must say what is absent."""
    untested = [name for name, outcomes in _outcomes.items() if not outcomes]
    assert not untested, f"not called: {untested}"
    unknown = set(differs) - set(_outcomes)
    assert not unknown, f"no such methods: {unknown}"
    print("page: | class | works | differs | absent |")
    print("page: |---|---|---|---|")
    for kind, names in _classes:
        cells = {"works": [], "differs": [], "absent": []}
        for name in names:
            outcomes = _outcomes[f"{kind}.{name}"]
            how = differs.get(f"{kind}.{name}")
            if None in outcomes or (how or "").startswith("always fails"):
                cells["differs" if how else "works"].append(f"`{name}`: {how}" if how else f"`{name}`")
                continue
            assert not how, f"{kind}.{name} differs, but it never succeeded"
            says = [error for error in outcomes if any(word in str(error) for word in absences)]
            assert len(says) == len(outcomes), f"{kind}.{name}: {outcomes}"
            cells["absent"].append(f"`{name}`")
        join = lambda names, mark: mark.join(names) or "-"
        print(f"page: | `{kind}` | {join(cells['works'], ', ')} | {join(cells['differs'], '; ')} | {join(cells['absent'], ', ')} |")
