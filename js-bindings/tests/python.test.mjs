// The pack python: CPython in the sandbox, where the engine has WebAssembly exceptions; elsewhere the reason.

import assert from "node:assert/strict";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { Sandbox } from "tidebox";
import { listPacks } from "tidebox/packs";

import { jspi } from "./engine.mjs";
import { data, groups, project, subprocesses } from "./python_cases.mjs";

const [python] = await listPacks();
const missing = "the pack python is not installed; install it with `npx tidebox pack add python`";
assert.ok(python.ready || process.env.CI === undefined, missing);

/** `try_table end` in a module of one function. */
const PROBE = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, 0, 31, 64, 0, 11, 11];
const exceptions = WebAssembly.validate(Uint8Array.from(PROBE));

const create = (options) => Sandbox.create({ packs: ["python"], ...options });

/** Works with a sandbox, and closes it. */
async function within(making, work) {
  const sandbox = await making;
  try {
    await work(sandbox);
  } finally {
    sandbox.close();
  }
}

test("without the option the error names the command that adds the pack", () => within(Sandbox.create(), async (sandbox) => {
  const { output, exitCode } = await sandbox.execute("python3 -V");
  assert.equal(exitCode, 127);
  assert.match(output, /python3: the pack python is not installed; .* tidebox pack add python .* packs: \["python"\]/);
}));

test("a missing pack is an error with the command that adds it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "packs-"));
  try {
    const packs = [{ name: "python", folder }];
    await assert.rejects(Sandbox.create({ packs }), { code: "SETUP_FAILED", message: /npx tidebox pack add python/ });
    await assert.rejects(Sandbox.create({ packs: ["nosuch"] }), { code: "INVALID_OPTIONS", message: /unknown pack 'nosuch'; expected one of: python/ });
    await assert.rejects(Sandbox.create({ packs: "python" }), { code: "INVALID_OPTIONS" });
    await assert.rejects(Sandbox.create({ packs: [1] }), { code: "INVALID_OPTIONS" });
    // An incomplete directory with the name of the pack.
    await symlink("/nonexistent", join(folder, "python"));
    await assert.rejects(Sandbox.create({ packs }), { code: "SETUP_FAILED", message: /is not installed/ });
  } finally {
    await rm(folder, { recursive: true });
  }
});

const skip = !python.ready ? missing : exceptions && jspi ? false : "this engine has no WebAssembly exceptions, or cannot suspend";

const elsewhere = !python.ready ? missing : exceptions ? "this engine has exceptions" : false;

test("an engine without exceptions gets an error with alternatives", { skip: elsewhere }, () => within(create(), async (sandbox) => {
  const { output, exitCode } = await sandbox.execute("python3 -c 'print(1)'");
  assert.equal(exitCode, 126);
  assert.match(output, /^python3: cannot execute: the module uses exceptions, which this JavaScript engine does not have; Node 24\.15/);
  assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
}));

describe("Python", { skip }, () => {
  for (const [name, cases] of Object.entries(groups)) {
    test(name, () => within(create(), async (sandbox) => {
      for (const { run, prints, fails, says } of cases) {
        const { stdout, stderr, exitCode } = await sandbox.execute(run);
        if (prints === undefined) assert.ok(exitCode === fails && stderr.includes(says), `${run} ended with ${exitCode}: ${stderr}`);
        else assert.deepEqual([stdout, stderr, exitCode], [prints, "", 0], run);
      }
    }));
  }

  describe("in one sandbox", () => {
    let sandbox;
    before(async () => {
      sandbox = await create();
    });
    after(() => sandbox.close());

    test("a traceback names the program's own lines and no others", async () => {
      const { stderr, exitCode } = await sandbox.execute("printf 'def f():\\n    return 1 / 0\\n\\nf()\\n' > t.py; python3 t.py");
      assert.equal(exitCode, 1);
      assert.ok(stderr.startsWith('Traceback (most recent call last):\n  File "/workspace/t.py", line 4'), stderr);
      assert.ok(stderr.endsWith("ZeroDivisionError: division by zero\n") && !stderr.includes("_tidebox"), stderr);
    });

    test("subprocesses take directories, environments and streams", async () => {
      const { stdout, stderr } = await sandbox.execute(`cat > p.py <<'P'${subprocesses.program}P\npython3 p.py`);
      assert.deepEqual([stdout, stderr], [subprocesses.prints, ""]);
    });

    test("a hundred thousand rows are grouped and drawn", async () => {
      const { stdout, stderr } = await sandbox.execute(data);
      const means = "100000 {'g0': 49997.5, 'g1': 49998.5, 'g2': 49999.5, 'g3': 50000.5, 'g4': 50001.5}\n";
      assert.deepEqual([stdout, stderr], [means, ""]);
      const [{ content }] = await sandbox.downloadFiles(["/workspace/means.png"]);
      const picture = new DataView(content.buffer, content.byteOffset);
      assert.deepEqual([picture.getUint32(0), picture.getUint32(16), picture.getUint32(20)], [0x89504e47, 640, 480]);
    });

    test("a package is built and its tests pass", async () => {
      const { stdout, stderr, exitCode } = await sandbox.execute(`${project} python3 -m pytest -q`);
      assert.equal(exitCode, 0, stdout + stderr);
      assert.match(stdout, /5 passed/);
    });

    test("an interrupt is an exception, and a handler of Python runs", async () => {
      const signalled = (signal, program) =>
        `{ until [ -e ready ]; do sleep 0.02; done; pid=$(cat ready); rm ready; kill -${signal} $pid; } & ` +
        `python3 -c 'import os, signal, time\nopen("pid", "w").write(str(os.getpid()))\n${program}'`;
      const busy = await sandbox.execute(signalled("INT", 'os.rename("pid", "ready")\nwhile True: pass'));
      assert.ok(busy.exitCode === 130 && busy.stderr.includes("KeyboardInterrupt"), busy.output);
      const handled = await sandbox.execute(signalled(
        "TERM", 'signal.signal(signal.SIGTERM, lambda *a: (print("term"), exit(7)))\nos.rename("pid", "ready")\ntime.sleep(600)',
      ));
      assert.deepEqual([handled.stdout, handled.exitCode], ["term\n", 7]);
    });

    test("an endless loop is stopped without blocking the caller's event loop", async () => {
      let turns = 0;
      const timer = setInterval(() => (turns += 1), 10);
      const { exitCode, stoppedBy } = await sandbox.execute("python3 -c 'while True: pass'", { timeoutMs: 1000 });
      clearInterval(timer);
      assert.deepEqual([exitCode, stoppedBy], [124, "timeout"]);
      assert.ok(turns > 0, "the event loop had no turn");
      assert.equal((await sandbox.execute("python3 -c 'print(1)'")).output, "1\n");
    });

    test("recursion without end is an exception", async () => {
      const { output } = await sandbox.execute("python3 -c 'def f(): f()\nf()' 2>&1 | tail -1");
      assert.match(output, /^RecursionError: maximum recursion depth exceeded/);
    });

    test("output beyond the limit is dropped and flagged", async () => {
      const { truncated, stdout } = await sandbox.execute("python3 -c 'print(\"x\" * 10_000_000)'");
      assert.ok(truncated && stdout.length > 1_000_000);
    });
  });

  test("too much memory is an exception that can be caught", () => {
    const little = create({ limits: { processMemoryBytes: 400 * 2 ** 20 } });
    return within(little, async (sandbox) => {
      const { output } = await sandbox.execute("python3 -c 'try: x = bytearray(10**9)\nexcept MemoryError: print(\"no\")'");
      assert.equal(output, "no\n");
    });
  });

  test("a fork of a sandbox has Python, and its files", () => within(create(), async (sandbox) => {
    await sandbox.execute("echo 'x = 7' > mine.py");
    await within(sandbox.fork(), async (forked) => {
      assert.equal((await forked.execute("python3 -c 'import mine; print(mine.x)'")).output, "7\n");
    });
  }));

  const noServer = jspi ? false : "this engine cannot suspend WebAssembly";
  test("a server outlives the call that starts it", { skip: noServer }, () => within(create({ files: { "page.txt": "served\n" } }), async (sandbox) => {
    const server = await sandbox.spawn(["python3", "-u", "-m", "http.server", "8000"], { tag: "server" });
    await server.waitForOutput("Serving HTTP");
    for (let n = 0; n < 2; n += 1) {
      const { output } = await sandbox.execute("curl -sS http://localhost:8000/page.txt");
      assert.equal(output, "served\n");
    }
    assert.equal(await server.waitForOutput("GET /page.txt") !== undefined, true);
    await server.signal("INT");
    assert.deepEqual(await server.wait(), { exitCode: 0 });
  }));
});
