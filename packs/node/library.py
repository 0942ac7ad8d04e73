"""Packs JavaScript files into the archive that src/library.rs reads.

usage: library.py OUTPUT DIRECTORY PREFIX [DIRECTORY PREFIX]...
"""

import json
import pathlib
import re
import struct
import sys
import zlib

# Modules that nothing here can reach: they are large, and what they need does not exist in a sandbox.
SKIPPED = (
    "internal/deps/v8/", "internal/deps/cjs-module-lexer/dist/", "internal/v8_prof", "internal/deps/amaro/",
    "internal/http2/", "http2", "internal/quic/", "quic", "internal/debugger/", "inspector", "internal/webstorage", "sea", "wasi",
    "_tls_", "tls", "internal/tls/", "sqlite", "cluster", "dgram", "trace_events", "internal/main/inspect", "internal/main/worker",
    "tidebox/kept/sucrase/esm/", "tidebox/kept/sucrase/types/", "tidebox/kept/sucrase/cli", "tidebox/kept/sucrase/register",
)


# Changes of Node's library: (module, text, replacement).
CHANGES = (
    # The engine has `stack` as an accessor of the prototype.
    ("internal/process/promises", "ObjectPrototypeHasOwnProperty(obj, 'stack')", "('stack' in obj)"),
    # Other hosts are reached by the gateway, which resolves their names.
    ("net", "const addressType = isIP(host);\n  if (addressType) {\n    defaultTrigger", "const addressType = tidebox.isOutside(host) ? 4 : isIP(host);\n"
     "  if (addressType) {\n    defaultTrigger"),
    ("net", "    if (addressType === 4)\n      err = self._handle.connect(", "    self._handle.encrypted = self.encrypted === true;\n"
     "    if (addressType === 4)\n      err = self._handle.connect("),
    # The client of `fetch` needs WebAssembly.
    ("internal/deps/undici/undici", "setGlobalDispatcher2(new Agent());", "setGlobalDispatcher2(tidebox.dispatcher());"),
    ("internal/deps/undici/undici", "var llhttpPromise = lazyllhttp();\n    llhttpPromise.catch();", "var llhttpPromise = null;"),
)


def changed(name, content):
    """Applies the changes of a module. Each must apply, so that another version of Node is noticed."""
    for module, text, replacement in CHANGES:
        if module == name:
            if text.encode() not in content:
                sys.exit(f"{name} has no text {text!r}")
            content = content.replace(text.encode(), replacement.encode())
    return content


# Lines that are shown above an error which nothing catches. Files that are loaded when the pack is built are not stored.
SHOWN = re.compile(r"\bthrow\b|Error\(|\bERR_\w+\(")


def lines_of(files):
    """Returns a file with those lines of each module, by their numbers."""
    found = {}
    for name, content in files.items():
        if not name.endswith(".json"):
            lines = enumerate(content.decode().split("\n"), 1)
            found[name] = {number: line for number, line in lines if SHOWN.search(line)}
    return json.dumps(found, separators=(",", ":")).encode()


def main():
    output, pairs = sys.argv[1], sys.argv[2:]
    files = {}
    for directory, prefix in zip(pairs[::2], pairs[1::2]):
        root = pathlib.Path(directory)
        for path in sorted(path for path in root.rglob("*") if path.suffix in (".js", ".json")):
            name = path.relative_to(root).as_posix()
            name = prefix + (name if name.endswith(".json") else name.removesuffix(".js"))
            if not name.startswith(SKIPPED):
                files[name] = changed(name, path.read_bytes())
    files["tidebox/lines.json"] = lines_of(files)
    with open(output, "wb") as file:
        for name, content in sorted(files.items()):
            packed = zlib.compress(content, 9)
            for part in (name.encode(), packed):
                file.write(struct.pack("<I", len(part)) + part)


main()
