// One part of the bench for one subject, in a separate process: `node measure.mjs SUBJECT fresh|warm|memory|collections`.

import { SUBJECTS } from "./subjects.mjs";

const PIPELINE = "seq 1 1000 | grep 7 | sort -r | head -5";
const PIPED = "997\n987\n979\n978\n977\n";
const LOOP = "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done; echo $i";
const MIB = "a line of text with a number 12345\n".repeat(30_000).slice(0, 1 << 20);
const MATCHES = `${MIB.split("\n").filter((line) => line.includes("12345")).length}\n`;
const FILE = MIB.slice(0, 75_000);
/** Milliseconds between the first echo of a fresh process and its first pipeline: an agent thinks longer. */
const PAUSE = 500;
/** Milliseconds until the memory of a process with a few sandboxes is measured: the package compiles programs after its first command. */
const SETTLE = 3_000;
/** Numbers of live sandboxes for the rows of memory. */
const LIVE = [1_000, 10_000];

const [, , name, part] = process.argv;
const { load, create } = SUBJECTS[name];

function expect(found, expected) {
  if (found !== expected) throw new Error(`expected ${JSON.stringify(expected.slice(0, 200))}, found ${JSON.stringify(found?.slice(0, 200))}`);
}

async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function repeat(times, work) {
  const took = [];
  for (let n = 0; n < times; n++) took.push(await timed(() => work(n)));
  return took;
}

const PARTS = {
  async fresh() {
    let loaded;
    let subject;
    const figures = { import: await timed(async () => (loaded = await load())) };
    figures.first = await timed(async () => {
      subject = await create(loaded);
      expect(await subject.run("echo hello"), "hello\n");
    });
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    figures.pipeline = await timed(async () => expect(await subject.run(PIPELINE), PIPED));
    await subject.close();
    return figures;
  },

  async warm() {
    const loaded = await load();
    const subject = await create(loaded);
    const run = async (command, output) => expect(await subject.run(command), output);
    for (let n = 0; n < 20; n++) await run("echo hello", "hello\n");
    const times = {};
    times["create + first echo"] = await repeat(50, async () => {
      const other = await create(loaded);
      expect(await other.run("echo hello"), "hello\n");
      await other.close();
    });
    times["echo"] = await repeat(500, () => run("echo hello", "hello\n"));
    times["pipeline"] = await repeat(100, () => run(PIPELINE, PIPED));
    times["75 kB written and read"] = await repeat(50, async (n) => {
      await subject.write("/tmp/file.txt", FILE + n);
      expect(await subject.read("/tmp/file.txt"), FILE + n);
    });
    times["1 MiB written, then grep"] = await repeat(20, async (n) => {
      await subject.write("/tmp/large.txt", MIB + n);
      await run("grep -c 12345 /tmp/large.txt", MATCHES);
    });
    times["loop of 1,000"] = await repeat(30, () => run(LOOP, "1000\n"));
    await run("mkdir -p /tmp/many", "");
    for (let n = 0; n < 5000; n++) await subject.write(`/tmp/many/file${n}.txt`, "content");
    times["echo > file, 5,000 files there"] = await repeat(100, (n) => run(`echo hello > /tmp/many/new${n % 10}`, ""));
    await subject.close();
    return { times };
  },

  /** KiB of each idle sandbox after one command, for each number of live ones. */
  async memory() {
    const loaded = await load();
    const live = [];
    const open = async (count) => {
      while (live.length < count) {
        const subject = await create(loaded);
        expect(await subject.run("echo hello"), "hello\n");
        live.push(subject);
      }
    };
    const warm = 3;
    await open(warm);
    await new Promise((resolve) => setTimeout(resolve, SETTLE));
    const before = process.memoryUsage().rss;
    const started = performance.now();
    const kib = {};
    for (const count of LIVE) {
      await open(count + warm);
      kib[count] = (process.memoryUsage().rss - before) / 1024 / count;
    }
    return { kib, seconds: (performance.now() - started) / 1000 };
  },

  /** The bench counts what V8 prints between the two marks, for all threads. */
  async collections() {
    const loaded = await load();
    // One sandbox of bashkit runs at most 1,000 commands.
    const subjects = [await create(loaded), await create(loaded)];
    for (const subject of subjects) await subject.run("echo hello");
    console.log("begin");
    for (const subject of subjects) {
      for (let n = 0; n < 500; n++) await subject.run("echo hello");
    }
    console.log("end");
    for (const subject of subjects) await subject.close();
    return {};
  },
};

const figures = await PARTS[part]();
console.log(`figures ${JSON.stringify(figures)}`);
process.exit(0);
