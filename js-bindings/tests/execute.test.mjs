// Commands and their results.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Sandbox } from "tidebox";

import { jspi } from "./engine.mjs";

describe("execute", () => {
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create({ files: { "notes.txt": "b\na\nc\n" }, env: { GREETING: "hello" } });
  });
  after(() => sandbox.close());

  const run = async (command, options) => {
    const { output, exitCode } = await sandbox.execute(command, options);
    return [output, exitCode];
  };

  test("a builtin of the shell writes and ends with 0", async () => {
    assert.deepEqual(await run("echo hi"), ["hi\n", 0]);
  });

  test("an exit code is returned unchanged", async () => {
    assert.deepEqual(await run("exit 7"), ["", 7]);
    assert.deepEqual(await run("no-such-command"), ["bash: line 1: no-such-command: command not found\n", 127]);
  });

  test("a list of arguments reaches the program without a shell", async () => {
    assert.deepEqual(await run(["printf", "[%s]", "$HOME", "*", "it's", ""]), ["[$HOME][*][it's][]", 0]);
    assert.equal((await run(["no-such-command"]))[1], 127);
    assert.equal((await run(["notes.txt"]))[1], 127);
    assert.deepEqual(await run([]), ["tidebox: the list of arguments names no program; its first element must be a name or a path\n", 126]);
    const { exitCode, code } = await sandbox.execute(["echo", 1]);
    assert.deepEqual([exitCode, code], [null, "INVALID_OPTIONS"]);
  });

  test("a program reads files and has separate streams and an exit code", async () => {
    assert.deepEqual(await run("sort notes.txt"), ["a\nb\nc\n", 0]);
    const { stdout, stderr, exitCode } = await sandbox.execute("cat notes.txt none");
    assert.equal(stdout, "b\na\nc\n");
    assert.match(stderr, /none: No such file or directory/);
    assert.equal(exitCode, 1);
  });

  test("variables and the working directory are those of the options", async () => {
    assert.deepEqual(await run("echo $GREETING $PWD"), ["hello /workspace\n", 0]);
    assert.deepEqual(await run("echo $ONE; pwd", { env: { ONE: "1" }, cwd: "/tmp" }), ["1\n/tmp\n", 0]);
  });

  test("standard input is passed by the caller", async () => {
    assert.deepEqual(await run("tr a-z A-Z", { stdin: "abc" }), ["ABC", 0]);
  });

  test("the stages of a pipeline work together", async () => {
    assert.deepEqual(await run("seq 1 1000 | grep 7 | wc -l | tr -d ' '"), ["271\n", 0]);
    assert.deepEqual(await run("seq 9 | sort -r | head -n 3 | paste -sd,"), ["9,8,7\n", 0]);
  });

  test("more data than the capacity of a pipe passes through it", async () => {
    assert.deepEqual(await run("head -c 3000000 /dev/zero | wc -c | tr -d ' '"), ["3000000\n", 0]);
  });

  test("a writer without a reader ends by SIGPIPE", async () => {
    assert.deepEqual(await run("yes | head -n 2; echo ${PIPESTATUS[0]}"), ["y\ny\n141\n", 0]);
  });

  test("subshells and command substitutions are copies of the shell", async () => {
    assert.deepEqual(await run("x=1; (x=2; echo $x); echo $x; y=$(x=3; echo $x); echo $y"), ["2\n1\n3\n", 0]);
  });

  test("files persist between commands", async () => {
    await run("echo one > made.txt; mkdir -p d/e; mv made.txt d/e/");
    assert.deepEqual(await run("cat d/e/made.txt"), ["one\n", 0]);
  });

  test("invalid UTF-8 passes unchanged", async () => {
    const { stdoutBytes } = await sandbox.execute("printf '\\xff\\x00\\xfe'");
    assert.deepEqual([...stdoutBytes], [0xff, 0, 0xfe]);
  });

  test("the exit code of a command that a signal ended is 128 and its number", async () => {
    assert.deepEqual(await run("kill -SEGV $$"), ["", 139]);
  });

  test("commands may overlap", async () => {
    const answers = await Promise.all([1, 2, 3, 4].map((n) => sandbox.execute(`seq ${n} | tail -n 1`)));
    assert.deepEqual(answers.map(({ output }) => output), ["1\n", "2\n", "3\n", "4\n"]);
  });

  test("output is streamed in chunks, and complete in the result", async () => {
    const pieces = [];
    const { output } = await sandbox.execute("echo one; sleep 0.05; echo two >&2", {
      onOutput: ({ stream, bytes }) => pieces.push([stream, new TextDecoder().decode(bytes)]),
    });
    assert.equal(output, "one\ntwo\n");
    assert.deepEqual(pieces, [["stdout", "one\n"], ["stderr", "two\n"]]);
  });

  test("invalid options are named and do not throw", async () => {
    for (const [options, words] of [
      [{ timeout: 5 }, /unknown option 'timeout'; expected one of: timeoutMs,/],
      [{ timeoutMs: -1 }, /timeoutMs must be a non-negative number/],
      [{ env: { a: 1 } }, /'a' must be a string/],
      [{ stdin: {} }, /stdin must be a string/],
      [{ shellMode: "new" }, /'fresh' or 'persistent'/],
    ]) {
      const { output, exitCode } = await sandbox.execute("true", options);
      assert.equal(exitCode, null);
      assert.match(output, words);
    }
    assert.match((await sandbox.write("/workspace/x", () => {})).error, /must be a string or a Uint8Array/);
    assert.equal((await sandbox.read(undefined)).content, undefined);
  });

  test("sleep takes its time, and background jobs run meanwhile", async () => {
    const started = performance.now();
    assert.deepEqual(await run("(sleep 0.05; echo late) & sleep 0.15; echo last; wait"), ["late\nlast\n", 0]);
    assert.ok(performance.now() - started >= 140);
  });

  const serve = "(printf 'hello\\n' | nc -lN 9000 > got) & until ss -Htln | grep -q :9000; do sleep 0.01; done;";

  test("programs connect to each other", { skip: jspi ? false : "guests run to completion without JSPI" }, async () => {
    const ask = "exec 3<>/dev/tcp/localhost/9000; echo question >&3; cat <&3; exec 3>&-; wait; cat got";
    assert.deepEqual(await run(`${serve} ${ask}`), ["hello\nquestion\n", 0]);
    assert.deepEqual(await run(`${serve} nc localhost 9000; wait`), ["hello\n", 0]);
    const limited = await Sandbox.create({ limits: { sockets: 1 } });
    assert.match((await limited.execute("nc -l 9000 & until ss -Htln | grep -q :9000; do sleep 0.01; done; nc -zv localhost 9000; kill %1")).output, /Too many open files in system/);
    await limited.close();
  });

  test("without JSPI a connection fails with a message", { skip: jspi ? "this engine can suspend guests" : false }, async () => {
    const [output, exitCode] = await run("nc -zv localhost 9000");
    assert.match(output, /not supported/i);
    assert.equal(exitCode, 1);
  });
});
