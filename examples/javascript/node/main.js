// A walk through the package in Node: files, commands, output as it comes, a time limit, and files out again.

import { Sandbox } from "tidebox";

const sandbox = await Sandbox.create({
  files: { "sales.csv": "north,3\nsouth,5\nnorth,4\n" },
  env: { REGION: "north" },
});

try {
  // What a model wrote can be wrong; that is an answer and never an exception.
  const { output, exitCode } = await sandbox.execute("awk -F, -v r=$REGION '$1 == r { n += $2 } END { print r, n }' sales.csv");
  console.log(`${exitCode}: ${output.trimEnd()}`);

  // Output as it comes, the two streams told apart.
  const steps = sandbox.executeStream("for n in 1 2 3; do echo step $n; done; echo careful >&2");
  for await (const { stream, text } of steps) process.stdout.write(`${stream}: ${text}`);
  console.log(`${(await steps.result).exitCode}: all steps`);

  // A loop without end costs its time limit and nothing else: this program goes on meanwhile, and the files stay.
  const endless = await sandbox.execute("echo kept > kept.txt; while :; do :; done", { timeoutMs: 500 });
  console.log(`${endless.exitCode}: stopped by ${endless.stoppedBy}`);

  // What a model breaks can be looked at and undone.
  const before = await sandbox.snapshot();
  await sandbox.execute("rm *; echo '#!/bin/sh' > new.sh");
  const { changes } = await sandbox.diff(before);
  console.log(changes.map(({ change, path }) => `${change} ${path}`).join(", "));
  await sandbox.restore(before);

  // Files go in and out as bytes; commands and file tools see the same ones.
  await sandbox.uploadFiles([["/workspace/in.bin", new Uint8Array([3, 1, 2])]]);
  await sandbox.execute("rev kept.txt > out.txt; gzip -k sales.csv");
  const [text, packed] = await sandbox.downloadFiles(["/workspace/out.txt", "/workspace/sales.csv.gz"]);
  console.log(`${new TextDecoder().decode(text.content).trimEnd()}, and gzip begins with ${packed.content.slice(0, 2)}`);

  // There is no network unless somebody allows it.
  console.log((await sandbox.execute("curl -s https://example.com || echo no network: $?")).output.trimEnd());
} finally {
  await sandbox.close();
}
