#!/usr/bin/env python3
"""Runs Node's own tests with Node on this host and in the sandbox, and counts for each module what passes.

Usage: suite.py --source DIR --node PROGRAM --tidebox PROGRAM --results FILE [--again] [PREFIX ...]

DIR is the directory `test` of Node's source. Debian's source package `nodejs` has it: `apt-get source --download-only nodejs`. Results are
kept in FILE, so that an interrupted run continues; `--again` runs the selected tests again. `docs/node.md` has the counts.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess

# Time limit of a test in seconds.
SECONDS = 30
# Tests of one sandbox.
BATCH = 8

# Names of test files, after `test-`, and the module that they belong to. A longer prefix has priority.
MODULES = {
    "abort": "events", "assert": "assert", "async-local": "async_hooks", "async-wrap-constructor": "async_hooks", "blob": "buffer", "btoa": "buffer", "atob": "buffer",
    "buffer": "buffer", "child-process": "child_process", "console": "console", "crypto": "crypto", "diagnostics-channel": "diagnostics_channel",
    "dns": "dns", "event": "events", "fetch": "fetch", "file": "fs", "fs": "fs", "http": "http", "https": "https", "http2": None, "microtask": "timers",
    "module": "module", "require": "module", "cjs": "module", "esm": "module", "net": "net", "next-tick": "timers", "os": "os", "path": "path",
    "performance": "perf_hooks", "perf-hooks": "perf_hooks", "pipe": "stream", "process": "process", "promise": "process", "querystring": "querystring",
    "readable": "stream", "readline": "readline", "runner": "node:test", "stdin": "process", "stdio": "process", "stdout": "process", "stream": "stream",
    "string-decoder": "string_decoder", "structuredClone": "util", "timers": "timers", "tty": "process", "unhandled": "process", "uncaught": "process",
    "exception": "process", "url": "url", "util": "util", "vm": "vm", "webstream": "stream", "whatwg-encoding": "util", "whatwg-events": "events",
    "whatwg-readable": "stream", "whatwg-transform": "stream", "whatwg-writable": "stream", "whatwg-url": "url", "whatwg-webstreams": "stream",
    "writable": "stream", "stream2": "stream", "stream3": "stream", "zlib": "zlib", "eventtarget": "events", "beforeexit": "process", "exit": "process", "signal": "process",
    "webcrypto": "crypto", "global-webcrypto": "crypto", "global": "process", "error": "process", "parse-args": "util", "mime": "util", "compression": "zlib", "set-timeout": "timers",
}

# Options of tests that are not counted: internals of Node, options of V8, and what docs/node.md lists as refused.
OPTIONS = re.compile(
    r"--(expose[-_]internals|expose[-_]gc|allow[-_]natives|inspect|permission|experimental-permission|abort[-_]on|max[-_]|stack[-_]size|harmony|js-|"
    r"trace-event|heap|cpu-prof|prof|security-revert|tls-|openssl|force-fips|enable-fips|secure-heap|icu|perf-|interpreted|zero-fill|no-opt|"
    r"experimental-(loader|worker|wasm|shadow|vm-modules|quic|eventsource|network|test-coverage|sea|websocket|transform)|watch|expose-wasm|"
    r"no-experimental-(websocket|global-navigator|sqlite)|jitless|gc-|no-concurrent|disable-wasm|use-(system-)?ca|node-snapshot|build-snapshot|"
    r"no-use|frozen-intrinsics|report|localstorage|stack-trace-limit=|snapshot|use-openssl|experimental-default-config|experimental-config)")

# Parts of scripts that use what docs/node.md lists as refused or absent.
REFUSED = {
    "threads, processes that share servers": r"worker_threads|require\('(node:)?cluster'\)|new Worker\(|SharedArrayBuffer|Atomics\.",
    "debugger, REPL, tracing and V8": r"require\('(node:)?(inspector|inspector/promises|repl|trace_events|v8)'\)|from 'node:(v8|repl|inspector)'|startNewREPLServer|--inspect|--interpreted|%\w+\(",
    "HTTP/2, datagrams, SQLite, WASI and WebAssembly": r"require\('(node:)?(http2|dgram|sqlite|wasi)'\)|WebAssembly|\.wasm'",
    "servers and options of TLS": r"tls\.createServer|https\.createServer|createSecureContext|require\('tls'\)|(key|cert|pfx|ca): *fixtures\.readKey|loadPEM|createServer\(\{ *key|https\.Server",
    "Unix sockets, and handles sent to processes": r"common\.PIPE|\.send\([^)]*(server|socket|handle)",
    "hooks of asynchronous resources and modules": r"createHook|executionAsyncId|triggerAsyncId|asyncId|module\.register|registerHooks|--experimental-loader|--loader",
    "watching files": r"fs\.watch\(|fs\.promises\.watch|fsPromises\.watch|[^.]\bwatch\(|--watch",
    "internals": r"internalBinding|process\.binding|expose[-_]internals|require\('internal/|_linkedBinding|process\._(getActive|debug|kill)|addons",
    "other kinds of keys and ciphers": r"'(dsa|dh|rsa-pss|ed448|x448)'|['_]dsa_|rsa_pss_|ed448_|X509|Certificate\b|secureHeap|setEngine|Fips|fips|des-?ede|-(ccm|ocb|wrap)\b|chacha|"
                                       r"argon2|encapsulate|paramEncoding: 'explicit'|ML-(DSA|KEM)|KMAC|cSHAKE|MessageChannel",
    "Zstandard and dictionaries": r"[Zz]std|dictionary",
    "Intl": r"hasIntl\)|Intl\.|toLocale",
    "other modes of the command": r"--(permission|test-reporter-destination|snapshot|build-snapshot|heapsnapshot|abort-on|stack-size|max-old|report|experimental-sea)|common\.getTTYfd|runBenchmark|pty",
}
COMMENTS = re.compile(r"/\*.*?\*/|(?<![:'\"`])//[^\n]*", re.S)
MARK = "@@tidebox-suite@@"


def module_of(name):
    """Returns the module of a test, or None if it belongs to none of docs/node.md."""
    stem = name.removeprefix("test-").rsplit(".", 1)[0]
    found = [prefix for prefix in MODULES if stem == prefix or stem.startswith(f"{prefix}-") or (stem.startswith(prefix) and prefix[-1].isalpha() and not stem[len(prefix)].isdigit())]
    return MODULES[max(found, key=len)] if found else None


def options_of(text):
    """Returns the options in the head of a test."""
    found = re.search(r"^// Flags: (.*)$", text, re.M)
    return found[1].split() if found else []


def reason_not_counted(text):
    """Returns why a test is not counted, or None."""
    if any(OPTIONS.match(option) for option in options_of(text)):
        return "options of internals, of V8 and of refused modes"
    code = COMMENTS.sub("", text)
    for reason, pattern in REFUSED.items():
        if re.search(pattern, code):
            return reason
    return None


def outcome(code, output):
    """Returns how a test ended."""
    if code == 124 or code == 137:
        return "time"
    if code == 0:
        return "skip" if re.search(r"^1\.\.0 # Skipped", output, re.M) else "pass"
    return "fail"


def run_native(node, source, name, options):
    """Runs a test on this host."""
    folder = source / "parallel"
    command = ["timeout", "-k", "2", str(SECONDS), node, *options, name]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return outcome(done.returncode, done.stdout.decode(errors="replace"))


def run_sandbox(tidebox, source, tests):
    """Runs tests in one sandbox. Returns how each ended, and the end of its output."""
    lines = []
    for name, options in tests:
        words = " ".join(f"'{word}'" for word in [*options, name])
        lines.append(f"timeout -k 2 {SECONDS} node {words} </dev/null >/tmp/out 2>&1; echo '{MARK}' {name} $?; tail -c 3000 /tmp/out; echo")
    script = "cd /suite/test/parallel; export NODE_SKIP_FLAG_CHECK=1\n" + "\n".join(lines)
    limit = str(len(tests) * (SECONDS + 5))
    command = [tidebox, "exec", "--mount", f"{source}:/suite/test:cow", "--timeout", limit, script]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    found = {}
    for part in done.stdout.decode(errors="replace").split(MARK)[1:]:
        head, _, output = part.partition("\n")
        name, code = head.split()
        found[name] = (outcome(int(code), output), output.strip()[-2000:])
    for name, _ in tests:
        found.setdefault(name, ("fail", "the sandbox ended: " + done.stdout.decode(errors="replace")[-300:]))
    return found


def report(results):
    """Prints the counts of each module, and why tests are not counted."""
    modules = collections.defaultdict(collections.Counter)
    reasons = collections.Counter()
    for name, result in results.items():
        counts = modules[module_of(name)]
        if result["reason"]:
            reasons[result["reason"]] += 1
        elif result["native"] != "pass":
            reasons[f"on the host: {result['native']}"] += 1
        elif result["sandbox"] == "skip":
            reasons["skips itself in the sandbox"] += 1
        else:
            counts["all"] += 1
            counts[result["sandbox"]] += 1
    total = collections.Counter()
    print("| module | counted | pass | |\n|---|---|---|---|")
    for module, counts in sorted(modules.items()):
        total.update(counts)
        if counts["all"]:
            print(f"| {module} | {counts['all']} | {counts['pass']} | {100 * counts['pass'] / counts['all']:.0f} % |")
    print(f"| all | {total['all']} | {total['pass']} | {100 * total['pass'] / max(total['all'], 1):.1f} % |\n")
    for reason, count in reasons.most_common():
        print(f"{count} not counted: {reason}")


def main():
    parser = argparse.ArgumentParser()
    for option in ["--source", "--node", "--tidebox", "--results"]:
        parser.add_argument(option, required=True)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--failed", action="store_true", help="run those again that failed in the sandbox")
    parser.add_argument("prefixes", nargs="*")
    given = parser.parse_args()
    source, kept = pathlib.Path(given.source).resolve(), pathlib.Path(given.results)
    results = json.loads(kept.read_text()) if kept.exists() else {}
    pending = []
    for path in sorted((source / "parallel").glob("test-*.*js")):
        name = path.name
        if module_of(name) is None or (given.prefixes and not any(name.startswith(f"test-{prefix}") for prefix in given.prefixes)):
            continue
        text = path.read_text(errors="replace")
        result = results.setdefault(name, {})
        result["reason"] = reason_not_counted(text)
        if result["reason"]:
            continue
        options = options_of(text)
        result["native"] = result.get("native") or run_native(given.node, source, name, options)
        again = given.again or (given.failed and result.get("sandbox") in ("fail", "time"))
        if result["native"] == "pass" and (again or "sandbox" not in result):
            pending.append((name, options))
    kept.write_text(json.dumps(results, indent=1))
    batches = [pending[at : at + BATCH] for at in range(0, len(pending), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for at, found in enumerate(pool.map(lambda tests: run_sandbox(given.tidebox, source, tests), batches)):
            for name, (ended, output) in found.items():
                results[name].update(sandbox=ended, output=output if ended != "pass" else "")
            kept.write_text(json.dumps(results, indent=1))
            print(f"{at + 1} of {len(batches)} batches", flush=True)
    selected = {name: result for name, result in results.items() if not given.prefixes or any(name.startswith(f"test-{prefix}") for prefix in given.prefixes)}
    report(selected)


main()
