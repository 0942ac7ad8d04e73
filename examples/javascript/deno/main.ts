// Deno needs to grant one thing: that the package may read its own files. Nothing in the sandbox gets more than that.

import { type ExecuteResult, Sandbox } from "tidebox";

function print(what: string, { output, exitCode }: ExecuteResult): void {
  console.log(`${what} (${exitCode}): ${output.trimEnd()}`);
}

// The sandbox is closed at the end of the block.
await using sandbox = await Sandbox.create({ files: { "words.txt": "sea\nsand\nsea\nshell\n" } });

print("words", await sandbox.execute("sort words.txt | uniq -c | sort -rn | head -n 1"));
print("host", await sandbox.execute("cat /etc/hostname; env | grep -ci deno"));
print("endless", await sandbox.execute("yes > /dev/null", { timeoutMs: 300 }));

const { matches } = await sandbox.grep("sea", "/workspace");
console.log(`grep: ${matches?.map(({ path, line }) => `${path}:${line}`).join(" ")}`);
