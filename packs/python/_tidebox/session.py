"""An interpreter that keeps its variables: it runs one code cell after the other and returns the result of each.

Requests and responses use two calls of the kernel, so that standard input, output and error belong to the code.
"""

import ast
import json
import os
import sys

from . import command, host_call, preloaded

_resting = None


def serve(names):
    """Handles requests until the code ends the interpreter, and returns the exit code. Returns None if the interpreter rests:
    `go_on` is called for the next request. A resting interpreter has no stack, so the host can save its memory."""
    return _serve(Cells(names))


def is_resting():
    return _resting is not None


def go_on():
    """Handles requests after `serve` has returned None. Returns like `serve`."""
    global _resting
    cells, _resting = _resting, None
    if host_call.restored():
        preloaded.reseed(sys.modules)
    return _serve(cells, host_call.listen())


def _serve(cells, request=None):
    global _resting
    while True:
        if request is None:
            if host_call.rest():
                _resting = cells
                return None
            request = host_call.listen()
        reply = cells.run(request.decode())
        request = None
        for stream in sys.stdout, sys.stderr:
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass  # The code has closed or replaced it.
        if reply.get("exit") is not None:
            return reply["exit"]
        _answer(reply)


def _answer(reply):
    try:
        host_call.reply(json.dumps(reply).encode())
    except OSError:
        # It exceeds the output limit.
        reply.pop("value", None)
        message = "the value is longer than the output that the sandbox allows"
        reply["error"] = {"name": "ValueError", "message": message, "traceback": f"ValueError: {message}\n"}
        host_call.reply(json.dumps(reply).encode())


class Cells:
    """The code cells, which share their variables."""

    def __init__(self, names):
        self._names = names
        self._count = 0
        self._loop = None
        self._pictures = 0
        self._shown = []

        def show(*args, **kwargs):
            self._show_figures()

        # A function, because pyplot sets attributes on it. A pack without matplotlib has no figures.
        if preloaded.has("matplotlib.pyplot"):
            preloaded.module("matplotlib.pyplot").show = show

    def run(self, source):
        """Returns the response for one code cell."""
        self._count += 1
        self._shown = []
        reply = {}
        try:
            value = self._execute(source, f"<cell {self._count}>")
            if value is not None:
                reply["value"] = repr(value)
                self._names["_"] = value
            self._show_figures()
        except SystemExit as error:
            reply["exit"] = command._exit_code(error)
        except BaseException as error:
            command._report(error)
            reply["error"] = {"name": type(error).__name__, "message": _message(error), "traceback": _trace(error)}
        reply["pictures"] = self._shown
        return reply

    def _execute(self, source, name):
        """Runs statements and returns the value of the last one, if it is an expression without a trailing semicolon."""
        tree = compile(source, name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
            last = ast.Expression(tree.body.pop().value)
        value = None
        # The whole cell is compiled before any of it runs.
        codes = [self._compile(part, source, name, mode) for part, mode in ((tree, "exec"), (last, "eval")) if part]
        for code in codes:
            value = self._evaluate(code)
        return value if last else None

    def _compile(self, part, source, name, mode):
        code = compile(part, name, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        preloaded.module("linecache")._register_code(code, source, name)
        return code

    def _evaluate(self, code):
        value = eval(code, self._names)
        if not code.co_flags & 0x80:  # It contains no await.
            return value
        if self._loop is None:
            import asyncio

            self._loop = asyncio.new_event_loop()
        return self._loop.run_until_complete(value)

    # Figures that the code leaves open or shows are saved to files, like in notebooks.

    def _show_figures(self):
        if "matplotlib.pyplot" not in sys.modules:
            return
        pyplot = sys.modules["matplotlib.pyplot"]
        for number in pyplot.get_fignums():
            self._pictures += 1
            os.makedirs("/tmp/figures", exist_ok=True)
            path = f"/tmp/figures/figure-{self._pictures}.png"
            pyplot.figure(number).savefig(path)
            self._shown.append(path)
        pyplot.close("all")


def _message(error):
    try:
        return str(error)
    except BaseException:
        return "<unprintable message>"


def _trace(error):
    try:
        return "".join(preloaded.module("traceback").format_exception(error))
    except BaseException:
        return type(error).__name__ + "\n"
