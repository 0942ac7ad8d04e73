// The shortest walk through all that depends on the platform, for engines whose test runner is not Node's: a Worker, programs
// loaded from the package, a pipeline, a file that is read from the package, a time limit, and the end.

import { Sandbox } from "tidebox";

function equal(found, expected) {
  const [one, two] = [found, expected].map((value) => JSON.stringify(value));
  if (one !== two) throw new Error(`expected ${two}, found ${one}`);
}

export async function smoke() {
  const sandbox = await Sandbox.create({ files: { "notes.txt": "b\na\n" } });
  const run = async (command, options) => {
    const { output, exitCode } = await sandbox.execute(command, options);
    return [output, exitCode];
  };
  equal(await run("sort notes.txt | head -n 1"), ["a\n", 0]);
  equal(await run("x=1; (x=2; echo $x); echo $(echo $x)"), ["2\n1\n", 0]);
  equal(await run("head -c 4 /bin/sh | xxd -p"), ["0061736d\n", 0]);
  equal((await run("while :; do :; done", { timeoutMs: 200 }))[1], 124);
  equal((await sandbox.read("notes.txt")).content, "b\na\n");
  equal((await sandbox.uploadFiles([["/workspace/up", new Uint8Array([1, 2])]]))[0].error, null);
  equal([...(await sandbox.downloadFiles(["/workspace/up"]))[0].content], [1, 2]);
  await sandbox.close();
  equal(sandbox.isRunning, false);
}
