"""Runs the examples of a page that use an adapter: `run_examples.py PAGE MODULE`, such as `pydantic_ai`.

Blocks with the language `python` run, and print the lines after `#>`. Blocks with the language `py` need a model or more code of the
reader: they are compiled, and their imports run.
"""

import ast
import contextlib
import io
import pathlib
import re
import sys


def run(code: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "example", "exec"), {"__name__": "example"})
    expected = re.findall(r"#> (.*)", code)
    assert printed.getvalue().splitlines()[: len(expected)] == expected, printed.getvalue()


def check(code: str) -> None:
    tree = ast.parse(code)
    compile(code, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    tree.body = [line for line in tree.body if isinstance(line, (ast.Import, ast.ImportFrom))]
    exec(compile(tree, "example", "exec"), {"__name__": "example"})


def main(page: str, module: str) -> None:
    blocks = re.findall(r"```(python|py)\n(.*?)```", pathlib.Path(page).read_text(encoding="utf-8"), re.DOTALL)
    own = [(language, code) for language, code in blocks if f"tidebox.integrations.{module} " in code]
    if not own:
        raise SystemExit(f"{page} has no example of tidebox.integrations.{module}")
    for language, code in own:
        run(code) if language == "python" else check(code)
    print(f"{len(own)} passed")


if __name__ == "__main__":
    main(*sys.argv[1:])
