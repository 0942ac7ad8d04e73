// A session with Node in the sandbox, for Node, Deno and pages, and the recorded cases. `assert` is that of Node or of the page.

/** Runs scripts, modules, TypeScript and a process. With `jspi`, also processes that run at the same time, a server, and tests. */
export async function nodeSession(sandbox, assert, jspi = true) {
  const run = async (command, expected, code = 0) => {
    const { stdout, stderr, exitCode } = await sandbox.execute(command);
    assert.deepEqual([stdout, exitCode], [expected, code], `${command}: ${stderr}`);
  };
  await run("node --version", "v22.23.3\n");
  await run("node -e 'console.log(1 + 1)'", "2\n");
  await run(`node -p 'require("node:path").join("/a", "../b")'`, "/b\n");
  await run("echo '[1, 2, 3]' | node -e 'process.stdin.on(\"data\", (text) => console.log(JSON.parse(text).length))'", "3\n");
  await run("echo 'export const twice = (n: number): number => 2 * n;' > twice.mts && echo 'import { twice } from \"./twice.mts\"; console.log(twice(21));' > main.mjs && node main.mjs", "42\n");
  await run("node -e 'fs.writeFileSync(\"kept.txt\", \"kept\\n\"); process.exit(3)'; echo $?; cat kept.txt", "3\nkept\n");
  await run("node -e 'setTimeout(() => { console.log(\"later\"); throw new TypeError(\"thrown\"); }, 5)' 2> message; echo $?; grep -c 'TypeError: thrown' message", "later\n1\n1\n");
  await run("node -p 'require(\"crypto\").createHash(\"sha256\").update(\"a\").digest(\"hex\").slice(0, 8)'", "ca978112\n");
  await run("node -p 'require(\"child_process\").execSync(\"echo from a process\").toString().trim()'", "from a process\n");
  if (!jspi) return;
  await run("node -e 'require(\"child_process\").exec(\"cat\", (error, out) => console.log(error, out)).stdin.end(\"sent\")'", "null sent\n");
  await run("node -e 'require(\"http\").createServer((request, response) => response.end(request.url)).listen(8080, async () => { console.log(await (await fetch(\"http://localhost:8080/path\")).text()); process.exit(); })'", "/path\n");
  await run("echo 'require(\"node:test\").test(\"adds\", () => require(\"assert\").equal(1 + 1, 2))' > sum.test.js && node --test | grep -E '^# (pass|fail)'", "# pass 1\n# fail 0\n");
}

/** Directory of the script of a recorded case. */
export const DIR = "/workspace/case";

/** Splits a file of `tests/node/cases` into its cases. */
export function parseNodeCases(topic, text) {
  return text.split("### ").slice(1).map((part) => {
    const end = part.indexOf("\n");
    const title = part.slice(0, end);
    const ending = title.includes(".") ? title.slice(title.lastIndexOf(".") + 1) : "js";
    return { name: `${topic}/${title}`, file: `script.${ending}`, script: part.slice(end + 1) };
  });
}

/** Returns the output of a script as it is recorded; see `tests/node/cases.rs`. */
export function printed({ exitCode, stdout, stderr }) {
  const clean = (text) => text.replaceAll(DIR, "DIR");
  const [first = ""] = clean(stderr).split(/\r?\n/u);
  return { code: exitCode, stdout: clean(stdout), stderr: first.replace(/^\(node:[^)]*\)/u, "(node:N)") };
}
