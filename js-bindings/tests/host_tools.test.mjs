// Functions of the application as commands.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Worker } from "node:worker_threads";

import { BrokenPipeError, Sandbox, SandboxError } from "tidebox";

import { noWorkers } from "./engine.mjs";

const suspends = typeof WebAssembly.Suspending === "function";
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("a function as a command", () => {
  const seen = [];
  const secret = "sk-123";
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create({
      files: { "note.txt": "one two three\n" },
      env: { CITY: "Oslo" },
      tools: {
        async weather({ argv, stdout }) {
          await stdout.write(`${argv[1]}: sunny, says a service that knows ${secret.length} letters of us\n`);
        },
        upper: async ({ stdin, stdout }) => {
          for await (const bytes of stdin) await stdout.write(new TextDecoder().decode(bytes).toUpperCase());
        },
        see: (call) => {
          seen.push(call);
          return 3;
        },
        answer: () => ({ stdout: "out\n", stderr: "err\n", exitCode: 4 }),
        throws: () => {
          throw new Error("the service is not there");
        },
        rejects: async () => Promise.reject(new TypeError("no")),
        flood: async ({ stdout }) => {
          for (;;) await stdout.write("y\n".repeat(1000));
        },
        hasty: ({ stdout }) => {
          void stdout.write("written in the end\n");
        },
        hastyFlood: ({ stdout }) => {
          for (let n = 0; n < 100; n++) void stdout.write("x".repeat(10_000));
        },
        words: async ({ argv, files, stdout }) => {
          const text = await files.readText(argv[1]);
          await files.write(`${argv[1]}.count`, `${text.split(/\s+/).filter(Boolean).length}\n`);
          await stdout.write("counted\n");
        },
        bytes: async ({ argvBytes, stdin, stdout }) => {
          await stdout.write(argvBytes[1]);
          await stdout.write(await stdin.bytes());
        },
        little: async ({ stdin }) => void (await stdin.bytes(10)),
        bad: () => 256,
        worse: () => ({ exitCode: "none" }),
        seq: () => ({ stdout: "mine\n" }),
      },
    });
  });
  after(() => sandbox.close());

  const run = async (command, options) => {
    const { output, exitCode } = await sandbox.execute(command, options);
    return [output, exitCode];
  };

  test("is called with its arguments, and works in loops, pipes and substitutions", async () => {
    assert.deepEqual(await run("for c in Rome Oslo; do weather $c; done | cut -d, -f1"), ["Rome: sunny\nOslo: sunny\n", 0]);
    assert.deepEqual(await run("echo \"$(weather Kiel)\" | wc -l | tr -d ' '"), ["1\n", 0]);
    assert.deepEqual(await run("echo abc | upper | rev"), ["CBA\n", 0]);
    assert.deepEqual(await run("printf '%s\\n' a b | xargs -n 1 weather | grep -c sunny"), ["2\n", 0]);
  });

  test("is found like a program, and precedes a program of the same name", async () => {
    assert.deepEqual(await run("which weather; type -t weather; seq 3; /bin/seq 2"), [
      "/usr/local/bin/weather\nfile\nmine\n1\n2\n", 0,
    ]);
    assert.equal((await run("cp /usr/local/bin/weather w; ./w; rm w"))[1], 0);
    assert.match((await run("cp /usr/local/bin/weather w; ./w"))[0], /call the command by its installed name/);
    assert.notEqual((await run("rm /usr/local/bin/weather"))[1], 0);
  });

  test("sees arguments, variables, the working directory and the sandbox, and nothing else", async () => {
    seen.length = 0;
    assert.deepEqual(await run("cd /tmp; ONE=1 see a 'b c' $'\\xff'"), ["", 3]);
    const [{ argv, argvBytes, env, cwd, sandboxId }] = seen;
    assert.deepEqual(argv, ["see", "a", "b c", "\ufffd"]);
    assert.deepEqual([...argvBytes[3]], [0xff]);
    assert.deepEqual([env.ONE, env.CITY, env.HOME, env.toString], ["1", "Oslo", "/workspace", undefined]);
    assert.deepEqual([cwd, sandboxId], ["/tmp", sandbox.id]);
  });

  test("returns output and exit code, or writes to its streams", async () => {
    const { stdout, stderr, exitCode } = await sandbox.execute("answer");
    assert.deepEqual([stdout, stderr, exitCode], ["out\n", "err\n", 4]);
    assert.deepEqual(await run("hasty"), ["written in the end\n", 0]);
    assert.deepEqual(await run("hastyFlood | wc -c | tr -d ' '"), ["1000000\n", 0]);
  });

  test("that throws or returns no exit code ends with 1 and a message", async () => {
    assert.deepEqual(await run("throws"), ["throws: the service is not there\n", 1]);
    assert.deepEqual(await run("rejects || echo failed"), ["rejects: no\nfailed\n", 0]);
    for (const command of ["bad", "worse"]) {
      const [output, exitCode] = await run(command);
      assert.equal(exitCode, 1);
      assert.match(output, /expected an integer from 0 to 255/);
    }
  });

  test("ends with 141 when its reader has exited", async () => {
    assert.deepEqual(await run("flood | head -n 2; echo ${PIPESTATUS[0]}"), ["y\ny\n141\n", 0]);
  });

  test("reads and writes files of the sandbox, and never those of the host", async () => {
    assert.deepEqual(await run("words note.txt; cat note.txt.count"), ["counted\n3\n", 0]);
    assert.match((await run("words /proc/self/environ"))[0], /^words: /);
    const [output, exitCode] = await run("words ../../../../etc/hostname-of-the-host");
    assert.equal(exitCode, 1);
    assert.match(output, /No such file|not found/);
    assert.match((await run("cd /bin && words /etc/passwd"))[0], /Permission denied/);
  });

  test("passes invalid UTF-8 unchanged", async () => {
    const { stdoutBytes } = await sandbox.execute("bytes $'\\xfe'", { stdin: Uint8Array.of(0, 255, 10) });
    assert.deepEqual([...stdoutBytes], [0xfe, 0, 255, 10]);
  });

  test("gives up an input that is longer than it takes", async () => {
    assert.match((await run("head -c 1000 /dev/zero | little"))[0], /exceeds 10 bytes/);
  });

  test("keeps its secrets outside the sandbox", async () => {
    const { output } = await sandbox.execute("env; cat /usr/local/bin/weather; cat /proc/*/environ; grep -r sk-123 / 2>/dev/null");
    assert.doesNotMatch(output, /sk-123/);
  });

  test("calls overlap", async () => {
    const started = performance.now();
    assert.equal((await run("for n in 1 2 3 4; do weather $n & done; wait"))[0].split("\n").length, 5);
    assert.ok(performance.now() - started < 10_000);
  });
});

describe("a function that is called and not waited for", () => {
  const begun = () => {
    let tell;
    const signal = new Promise((resolve) => (tell = resolve));
    const ended = [];
    const hang = async (call) => {
      tell(call.signal);
      await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
      ended.push(call.signal.aborted);
      await assert.rejects(call.stdout.write("late"), { name: "AbortError" });
      await assert.rejects(call.stdin.read(), { name: "AbortError" });
      ended.push("refused");
    };
    return { hang, signal, ended };
  };

  test("its signal aborts when the command times out", async () => {
    const { hang, signal, ended } = begun();
    const sandbox = await Sandbox.create({ tools: { hang } });
    const { exitCode, stoppedBy } = await sandbox.execute("hang", { timeoutMs: 200 });
    assert.deepEqual([exitCode, stoppedBy], [124, "timeout"]);
    assert.ok((await signal).aborted);
    await pause(20);
    assert.deepEqual(ended, [true, "refused"]);
    assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
    await sandbox.close();
  });

  test("its signal aborts when the caller cancels the command", async () => {
    const { hang, signal } = begun();
    const sandbox = await Sandbox.create({ tools: { hang } });
    const controller = new AbortController();
    const command = sandbox.execute("hang", { signal: controller.signal });
    await signal;
    controller.abort();
    assert.equal((await command).stoppedBy, "cancelled");
    assert.ok((await signal).aborted);
    await sandbox.close();
  });

  test("its signal aborts when a signal kills it", async () => {
    const { hang, signal } = begun();
    const sandbox = await Sandbox.create({ tools: { hang } });
    assert.equal((await sandbox.execute("hang & sleep 0.1; kill $!; wait $!; echo $?")).output, "143\n");
    assert.ok((await signal).aborted);
    assert.equal((await sandbox.execute("timeout 0.1 hang; echo $?")).output, "124\n");
    await sandbox.close();
  });

  test("its signal aborts when the sandbox is closed", async () => {
    const { hang, signal } = begun();
    const sandbox = await Sandbox.create({ tools: { hang } });
    const command = sandbox.execute("hang");
    await signal;
    await sandbox.close();
    assert.ok((await signal).aborted);
    assert.equal((await command).exitCode, null);
  });

  test("may fail as it likes: nothing is left unhandled", async () => {
    const unhandled = [];
    const listen = (error) => unhandled.push(error);
    process.on("unhandledRejection", listen);
    const sandbox = await Sandbox.create({
      tools: {
        late: async ({ signal, stdout, stdin, files }) => {
          void stdin.read();
          void files.read("none");
          void files.write("/none/none", "x");
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          void stdout.write("late");
          throw new Error("late");
        },
        gone: async ({ stdout }) => {
          await pause(20);
          for (let n = 0; n < 100; n++) void stdout.write("x".repeat(10_000));
          throw new BrokenPipeError();
        },
      },
    });
    await sandbox.execute("late", { timeoutMs: 100 });
    assert.equal((await sandbox.execute("gone | true; echo ${PIPESTATUS[0]}")).output, "141\n");
    await sandbox.close();
    await pause(50);
    process.off("unhandledRejection", listen);
    assert.deepEqual(unhandled, []);
  });
});

describe("tools that are given", () => {
  test("are carried along by forks and stay when a snapshot is restored", async () => {
    const callers = [];
    const sandbox = await Sandbox.create({ tools: { who: ({ sandboxId }) => void callers.push(sandboxId) } });
    const snapshot = await sandbox.snapshot();
    const fork = await sandbox.fork();
    await sandbox.restore(snapshot);
    for (const each of [sandbox, fork]) assert.equal((await each.execute("who")).exitCode, 0);
    assert.deepEqual(callers, [sandbox.id, fork.id]);
    await Promise.all([sandbox.close(), fork.close()]);
  });

  test("that cannot be are refused by name", async () => {
    for (const [tools, words] of [
      [{ "a/b": () => {} }, /cannot install the host tool 'a\/b'/],
      [{ "": () => {} }, /cannot install the host tool ''/],
      [{ x: "text" }, /tools: 'x' must be a function or a Uint8Array/],
      [[], undefined],
      [3, /tools must be an object/],
    ]) {
      const made = Sandbox.create({ tools });
      if (words === undefined) await (await made).close();
      else await assert.rejects(made, (error) => SandboxError.isInstance(error) && words.test(error.message));
    }
  });

  test("go on after the Worker had to start again", { skip: noWorkers }, async (context) => {
    const workers = [];
    const post = Worker.prototype.postMessage;
    context.mock.method(Worker.prototype, "postMessage", function (...message) {
      if (!workers.includes(this)) workers.push(this);
      return post.apply(this, message);
    });
    let gone;
    const tools = {
      hi: () => ({ stdout: "hi\n" }),
      linger: ({ signal }) => new Promise((resolve) => {
        gone = signal;
        signal.addEventListener("abort", resolve);
        void workers[0].terminate();
      }),
    };
    const sandbox = await Sandbox.create({ tools });
    context.after(() => sandbox.close());
    assert.match((await sandbox.execute("linger")).output, /was restarted/);
    assert.ok(gone.aborted);
    assert.equal((await sandbox.execute("hi")).output, "hi\n");
  });
});
