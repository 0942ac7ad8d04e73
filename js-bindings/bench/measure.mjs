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
/** Sandboxes, and commands in each, with which a process warms up: engines optimize what runs often. bashkit allows 1,000 commands. */
const WARM_UP = { sandboxes: 8, commands: 500 };
/** Milliseconds after that until anything is measured: the package compiles programs after its first command. */
const SETTLE = 3_000;
/** Repetitions of a row that are not timed, as a fraction of the others: a row is about commands that have run before. */
const UNTIMED = 0.5;
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

/** Runs the first commands of a process. Returns their times. */
async function warmUp(loaded) {
  const times = [];
  for (let n = 0; n < WARM_UP.sandboxes; n++) {
    const subject = await create(loaded);
    const took = await repeat(WARM_UP.commands, async () => expect(await subject.run("echo hello"), "hello\n"));
    times.push(...took);
    await subject.close();
  }
  await new Promise((resolve) => setTimeout(resolve, SETTLE));
  return times;
}

/** What a warm process repeats, each row in a new sandbox. */
const ROWS = {
  "create + first echo": {
    repetitions: 100,
    async work({ loaded }) {
      const other = await create(loaded);
      expect(await other.run("echo hello"), "hello\n");
      await other.close();
    },
  },
  "echo": { repetitions: 500, work: ({ run }) => run("echo hello", "hello\n") },
  "pipeline": { repetitions: 100, work: ({ run }) => run(PIPELINE, PIPED) },
  "75 kB written and read": {
    repetitions: 200,
    async work({ subject, n }) {
      await subject.write("/tmp/file.txt", FILE + n);
      expect(await subject.read("/tmp/file.txt"), FILE + n);
    },
  },
  "1 MiB written, then grep": {
    repetitions: 20,
    async work({ subject, run, n }) {
      await subject.write("/tmp/large.txt", MIB + n);
      await run("grep -c 12345 /tmp/large.txt", MATCHES);
    },
  },
  "loop of 1,000": { repetitions: 30, work: ({ run }) => run(LOOP, "1000\n") },
  "echo > file, 5,000 files there": {
    repetitions: 100,
    async before({ subject, run }) {
      await run("mkdir -p /tmp/many", "");
      for (let n = 0; n < 5000; n++) await subject.write(`/tmp/many/file${n}.txt`, "content");
    },
    work: ({ run, n }) => run(`echo hello > /tmp/many/new${n % 10}`, ""),
  },
};

const PARTS = {
  async fresh() {
    let loaded;
    let subject;
    const figures = { import: await timed(async () => (loaded = await load())) };
    figures.first = await timed(async () => {
      subject = await create(loaded);
      expect(await subject.run("echo hello"), "hello\n");
    });
    figures.together = figures.import + figures.first;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    figures.pipeline = await timed(async () => expect(await subject.run(PIPELINE), PIPED));
    await subject.close();
    return figures;
  },

  async warm() {
    const loaded = await load();
    const first = await warmUp(loaded);
    const times = { [`echo, the first ${WARM_UP.commands} of a process`]: first.slice(0, WARM_UP.commands) };
    for (const [name, { repetitions, before, work }] of Object.entries(ROWS)) {
      const subject = await create(loaded);
      const run = async (command, output) => expect(await subject.run(command), output);
      await before?.({ subject, run });
      const once = (n) => work({ subject, run, n, loaded });
      await repeat(repetitions * UNTIMED, once);
      times[name] = await repeat(repetitions, once);
      await subject.close();
    }
    return { times };
  },

  /** MiB of the warm process, and KiB of each idle sandbox after one command, for each number of live ones. */
  async memory() {
    const loaded = await load();
    await warmUp(loaded);
    const live = [];
    const open = async (count) => {
      while (live.length < count) {
        const subject = await create(loaded);
        expect(await subject.run("echo hello"), "hello\n");
        live.push(subject);
      }
    };
    const before = process.memoryUsage().rss;
    const started = performance.now();
    const kib = {};
    for (const count of LIVE) {
      await open(count);
      kib[count] = (process.memoryUsage().rss - before) / 1024 / count;
    }
    return { kib, process: before / 1024 / 1024, seconds: (performance.now() - started) / 1000 };
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
