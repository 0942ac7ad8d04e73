// Basic use in Node: files, commands, streaming, timeouts and file transfer.

import { Sandbox } from "tidebox";

const sandbox = await Sandbox.create({
  files: { "sales.csv": "north,3\nsouth,5\nnorth,4\n" },
  env: { REGION: "north" },
});

try {
  // A failing command is a result, not an exception.
  const { output, exitCode } = await sandbox.execute("awk -F, -v r=$REGION '$1 == r { n += $2 } END { print r, n }' sales.csv");
  console.log(`${exitCode}: ${output.trimEnd()}`);

  // Stream the output, with separate streams.
  const steps = sandbox.executeStream("for n in 1 2 3; do echo step $n; done; echo careful >&2");
  for await (const { stream, text } of steps) process.stdout.write(`${stream}: ${text}`);
  console.log(`${(await steps.result).exitCode}: all steps`);

  // An endless loop is stopped by its timeout. This program is not blocked, and the files stay.
  const endless = await sandbox.execute("echo kept > kept.txt; while :; do :; done", { timeoutMs: 500 });
  console.log(`${endless.exitCode}: stopped by ${endless.stoppedBy}`);

  // Compare with a snapshot and restore it.
  const before = await sandbox.snapshot();
  await sandbox.execute("rm *; echo '#!/bin/sh' > new.sh");
  const { changes } = await sandbox.diff(before);
  console.log(changes.map(({ change, path }) => `${change} ${path}`).join(", "));
  await sandbox.restore(before);

  // Transfer files as bytes. Commands and file tools share them.
  await sandbox.uploadFiles([["/workspace/in.bin", new Uint8Array([3, 1, 2])]]);
  await sandbox.execute("rev kept.txt > out.txt; gzip -k sales.csv");
  const [text, packed] = await sandbox.downloadFiles(["/workspace/out.txt", "/workspace/sales.csv.gz"]);
  console.log(`${new TextDecoder().decode(text.content).trimEnd()}, and gzip begins with ${packed.content.slice(0, 2)}`);

  // Without a policy there is no network access.
  console.log((await sandbox.execute("curl -s https://example.com || echo no network: $?")).output.trimEnd());
} finally {
  await sandbox.close();
}
