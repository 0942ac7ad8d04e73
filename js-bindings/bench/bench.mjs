// How long the package takes, beside just-bash and a shell of the machine, in one run: medians in milliseconds.
// `npm start` in this folder, after `cargo xtask npm`; or `node bench.mjs` with another Node.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";

const PIPELINE = "seq 1 1000 | grep 7 | sort -r | head -5";
const PIPED = "997\n987\n979\n978\n977\n";
const TEXT = "a line of text\n".repeat(5000);

/** Runs `work` so many times; answers the median of the milliseconds. */
async function median(times, work) {
  const took = [];
  for (let n = 0; n < times; n++) {
    const started = performance.now();
    await work(n);
    took.push(performance.now() - started);
  }
  return took.sort((one, two) => one - two)[times >> 1];
}

const once = (work) => median(1, work);

function expect(found, expected) {
  if (found !== expected) throw new Error(`expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
}

/** The same steps for everybody. `create` answers `run`, `write`, `read` and `close`. */
async function measure(load, create) {
  const figures = {};
  let loaded;
  figures["import"] = await once(async () => (loaded = await load()));
  let subject;
  figures["first creation"] = await once(async () => (subject = await create(loaded)));
  figures["first `true`"] = await once(() => subject.run("true"));
  figures["first pipeline"] = await once(() => subject.run(PIPELINE));
  figures["creation"] = await median(15, async () => (await create(loaded)).close());
  for (let n = 0; n < 20; n++) await subject.run("true");
  figures["`true`"] = await median(200, async () => expect(await subject.run("true"), ""));
  figures["pipeline"] = await median(50, async () => expect(await subject.run(PIPELINE), PIPED));
  figures["write and read 75 kB"] = await median(50, async (n) => {
    await subject.write(`file${n}.txt`, TEXT);
    expect((await subject.read(`file${n}.txt`)).length, TEXT.length);
  });
  await subject.close();
  return figures;
}

function tidebox() {
  return measure(() => import("tidebox"), async ({ Sandbox }) => {
    const sandbox = await Sandbox.create();
    return {
      run: async (command) => (await sandbox.execute(command)).output,
      write: (path, text) => sandbox.write(path, text),
      read: async (path) => (await sandbox.readRaw(path)).data.content,
      close: () => sandbox.close(),
    };
  });
}

function justBash() {
  return measure(() => import("just-bash"), async ({ Bash }) => {
    const bash = new Bash();
    return {
      run: async (command) => (await bash.exec(command)).stdout,
      write: (path, text) => bash.fs.writeFile(`/tmp/${path}`, text),
      read: (path) => bash.fs.readFile(`/tmp/${path}`),
      close: async () => {},
    };
  });
}

function native() {
  return measure(async () => {}, async () => {
    const folder = mkdtempSync(join(tmpdir(), "tidebox-bench-"));
    return {
      run: (command) => new Promise((resolve, reject) => {
        const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "inherit"] });
        let output = "";
        child.stdout.on("data", (bytes) => (output += bytes));
        child.on("error", reject);
        child.on("close", () => resolve(output));
      }),
      write: (path, text) => writeFile(join(folder, path), text),
      read: (path) => readFile(join(folder, path), "utf8"),
      close: async () => rmSync(folder, { recursive: true }),
    };
  });
}

const all = { tidebox: await tidebox(), "just-bash": await justBash(), "sh -c": await native() };
console.log(`Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model}; milliseconds`);
console.log(["", ...Object.keys(all)].map((name, at) => (at === 0 ? name.padEnd(22) : name.padStart(10))).join(""));
for (const step of Object.keys(all.tidebox)) {
  const figures = Object.values(all).map((figures) => figures[step].toFixed(2).padStart(10));
  console.log(step.padEnd(22) + figures.join(""));
}
