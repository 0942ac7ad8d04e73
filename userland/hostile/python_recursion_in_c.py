# Recurses in functions of the interpreter that are written in C.
import ast, functools, json, pickle, sys
sys.setrecursionlimit(2**30)


def nested(make, depth=200_000):
    value = []
    for _ in range(depth):
        value = make(value)
    return value


def attempt(name, work):
    try:
        work()
        print(name, "returned")
    except (RecursionError, MemoryError, SyntaxError, ValueError) as error:
        print(name, type(error).__name__)


attempt("json", lambda: json.loads("[" * 200_000))
attempt("eval", lambda: eval("(" * 200_000))
attempt("minus", lambda: eval("-" * 200_000 + "1"))
attempt("repr", lambda: repr(nested(lambda value: [value])))
attempt("compare", lambda: nested(lambda value: [value]) == nested(lambda value: [value]))
attempt("hash", lambda: hash(nested(lambda value: (value,), 100_000) and nested(lambda value: frozenset([value or 1]), 1)))
attempt("pickle", lambda: pickle.dumps(nested(lambda value: [value])))
attempt("partial", lambda: nested(lambda value: functools.partial(value or int), 100_000)())
attempt("isinstance", lambda: isinstance(1, nested(lambda value: (value or str,))))
attempt("ast", lambda: ast.literal_eval("{" * 100_000))
