# Runs code with the state that earlier runs of the same context left: definitions as source, values by pickle.
import ast
import json
import os
import pickle
import sys
import traceback

state = os.environ.pop("DAYTONA_INTERPRETER_STATE")
code = sys.stdin.read()
names = {"__name__": "__main__", "__builtins__": __builtins__}
definitions = []
try:
    with open(state, "rb") as file:
        saved = pickle.load(file)
except FileNotFoundError:
    saved = {"definitions": [], "values": {}}


def define(source):
    definitions.append(source)
    exec(compile(source, "<context>", "exec"), names)


# Classes exist before their instances are read.
main = sys.modules["__main__"]
for source in saved["definitions"]:
    try:
        define(source)
    except Exception:
        # It depends on a value that was not saved.
        definitions.pop()
for name, value in names.items():
    if name not in ("__name__", "__builtins__"):
        setattr(main, name, value)
for name, value in saved["values"].items():
    names[name] = pickle.loads(value)

error = None
try:
    tree = ast.parse(code, "<code>")
    exec(compile(tree, "<code>", "exec"), names)
except SystemExit:
    pass
except BaseException as failure:
    text = traceback.format_exception(type(failure), failure, failure.__traceback__.tb_next)
    error = {"name": type(failure).__name__, "value": str(failure), "traceback": "".join(text)}
else:
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    definitions += [ast.unparse(node) for node in tree.body if isinstance(node, kinds)]

defined = set()
for source in definitions:
    for node in ast.parse(source).body:
        aliases = getattr(node, "names", None)
        found = [alias.asname or alias.name.split(".")[0] for alias in aliases] if aliases else [node.name]
        defined.update(found)
        for name in found:
            if name in names:
                setattr(main, name, names[name])
values = {}
for name, value in names.items():
    if name in ("__name__", "__builtins__") or name in defined and callable(value):
        continue
    try:
        values[name] = pickle.dumps(value)
    except Exception:
        # A file, a generator or a module is not kept.
        pass
with open(state, "wb") as file:
    pickle.dump({"definitions": definitions, "values": values}, file)
sys.stdout.flush()
sys.stderr.flush()
if error:
    with open(state + ".error", "w") as file:
        json.dump(error, file)
    sys.exit(1)
