// Runs random commands in many sandboxes of the pool and terminates random Workers meanwhile. Checks that the effects of all
// calls that were answered stay, that those of other calls do not, and that memory does not grow.
//
//   node soak.mjs [--minutes 10] [--sandboxes 1000] [--kill-ms 2000] [--runners 32] [--seed 1]
//
// Run `npm install` in this folder after `cargo xtask npm`.

import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";

import { Sandbox } from "tidebox";

const MIB = 2 ** 20;
/** Periods after which memory is compared. */
const ROUNDS = 5;
/**
 * Commands for each sandbox before the first period: then files, pools and caches have their usual sizes, and the C library has
 * reserved memory for as many threads as it does.
 */
const FILL = 60;
/** Growth between the first and the last round that counts as noise: a fraction, and bytes. */
const NOISE = 0.1;
const NOISE_BYTES = 32 * MIB;
/** Sandboxes that are closed and replaced: one of this many commands. */
const REPLACED = 200;

const text = { type: "string" };
const { values } = parseArgs({ options: { minutes: text, sandboxes: text, "kill-ms": text, runners: text, seed: text } });
const minutes = Number(values.minutes ?? 10);
const count = Number(values.sandboxes ?? 1000);
const killMs = Number(values["kill-ms"] ?? 2000);
const runners = Number(values.runners ?? 32);
let state = Number(values.seed ?? 1);

/** Returns a pseudorandom integer below `limit` (mulberry32). */
function random(limit) {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
}

const workers = new Set();
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (...message) {
  if (!workers.has(this)) {
    workers.add(this);
    this.once("exit", () => workers.delete(this));
  }
  return Reflect.apply(post, this, message);
};

const counted = { commands: 0, restarted: 0, killed: 0, replaced: 0, checked: 0 };

/** Commands, each with the change that it makes in the expected files. */
const COMMANDS = [
  (files, name, value) => [`echo ${value} > ${name}`, () => files.set(name, `${value}\n`)],
  (files, name, value) => [`echo ${value} >> ${name}`, () => files.set(name, `${files.get(name) ?? ""}${value}\n`)],
  (files, name) => [`rm -f ${name}`, () => files.delete(name)],
  (files, name, value) => [`seq 1 ${value % 3000} | grep 7 | sort -r | head -5 > ${name}`, () => files.set(name, pipeline(value % 3000))],
  (files, name, value) => [`sleep 0.0${value % 9}; echo ${value} | tr 0-9 a-j > ${name}`, () => files.set(name, `${[...`${value}`].map((digit) => "abcdefghij"[digit]).join("")}\n`)],
  (files, name, value) => [`i=0; while [ $i -lt ${value % 2000} ]; do i=$((i+1)); done; echo $i > ${name}`, () => files.set(name, `${value % 2000}\n`)],
  (files, name, value) => [`head -c ${value} /dev/zero | tr '\\0' x > ${name}`, () => files.set(name, "x".repeat(value))],
  () => ["while :; do :; done", undefined],
];

function pipeline(last) {
  const found = Array.from({ length: last }, (_, at) => `${at + 1}`).filter((line) => line.includes("7"));
  return found.sort().reverse().slice(0, 5).map((line) => `${line}\n`).join("");
}

const live = [];

/** Errors of a call whose Worker was terminated: while the call was in progress, or while the sandbox was created again. */
const ENDED = /was restarted|cannot start the worker/;

async function add(at) {
  const content = `${at}\n`;
  for (;;) {
    try {
      const sandbox = await Sandbox.create({ thread: "pool", files: { "first.txt": content } });
      live[at] = { sandbox, files: new Map([["first.txt", content]]), busy: false };
      return;
    } catch (error) {
      assert.match(error.message, ENDED);
    }
  }
}

/** Compares all files of a sandbox with the expected ones. */
async function check({ sandbox, files }) {
  const expected = [...files].sort(([one], [other]) => (one < other ? -1 : 1));
  for (;;) {
    const { output, exitCode, truncated } = await sandbox.execute("for f in *; do [ -e $f ] && { echo \"== $f\"; cat $f; echo; }; done; true");
    if (exitCode === null) {
      assert.match(output, ENDED);
      continue;
    }
    assert.equal(truncated, false);
    assert.equal(output, expected.map(([name, content]) => `== ${name}\n${content}\n`).join(""));
    counted.checked += 1;
    return;
  }
}

async function step() {
  const at = random(live.length);
  const entry = live[at];
  if (entry.busy) return new Promise(setImmediate);
  entry.busy = true;
  counted.commands += 1;
  if (random(REPLACED) === 0) {
    counted.replaced += 1;
    await check(entry);
    await entry.sandbox.close();
    return add(at);
  }
  const [command, effect] = COMMANDS[random(COMMANDS.length)](entry.files, `f${random(6)}.txt`, random(20_000));
  // A command without an effect does not end on its own.
  const options = effect === undefined ? { timeoutMs: 20 } : {};
  const { exitCode, output } = await entry.sandbox.execute(command, options);
  if (exitCode === null) {
    assert.match(output, ENDED);
    counted.restarted += 1;
  } else if (effect === undefined) {
    assert.equal(exitCode, 124, output);
  } else {
    assert.deepEqual([exitCode, output], [0, ""], command);
    effect();
  }
  if (random(8) === 0) await check(entry);
  entry.busy = false;
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

function kill() {
  const all = [...workers];
  const one = all[random(Math.max(all.length, 1))];
  if (one === undefined) return;
  counted.killed += 1;
  void one.terminate();
}

/** Runs commands, and returns the least memory in the second half: a Worker that was just terminated or started counts for a moment. */
async function round(seconds) {
  const started = performance.now();
  const until = started + seconds * 1000;
  let least = Infinity;
  const measuring = setInterval(() => {
    if (performance.now() < (started + until) / 2) return;
    collect();
    least = Math.min(least, process.memoryUsage().rss);
  }, 1000);
  const run = async () => {
    while (performance.now() < until) await step();
  };
  await Promise.all(Array.from({ length: runners }, run));
  clearInterval(measuring);
  return Number.isFinite(least) ? least : process.memoryUsage().rss;
}

for (let at = 0; at < count; at++) await add(at);
console.log(`${count} sandboxes, ${runners} commands at once, a Worker terminated every ${killMs} ms, for ${minutes} minutes`);
const killing = killMs > 0 ? setInterval(kill, killMs) : undefined;
const fill = async () => {
  while (counted.commands < FILL * count) await step();
};
await Promise.all(Array.from({ length: runners }, fill));
console.log(`filled: ${(process.memoryUsage().rss / MIB).toFixed(0)} MiB, ${JSON.stringify(counted)}`);
const sizes = [];
for (let n = 0; n < ROUNDS; n++) {
  sizes.push(await round((minutes * 60) / ROUNDS));
  // What the garbage collector of this thread counts: a growth of the resident set beyond it is that of Workers and of malloc.
  const { heapUsed, external } = process.memoryUsage();
  console.log(`round ${n + 1}: ${(sizes[n] / MIB).toFixed(0)} MiB, ${((heapUsed + external) / MIB).toFixed(0)} MiB of it in the heap of this thread, ${workers.size} Workers, ${JSON.stringify(counted)}`);
}
clearInterval(killing);
for (const entry of live) await check(entry);
await Promise.all(live.map(({ sandbox }) => sandbox.close()));
assert.ok(counted.commands > 0 && (killMs === 0 || counted.restarted > 0), "no command was in progress when a Worker ended");
const grown = sizes.at(-1) - sizes[0];
assert.ok(grown < sizes[0] * NOISE + NOISE_BYTES, `memory has grown by ${(grown / MIB).toFixed(0)} MiB after the first round`);
console.log(`nothing was lost; memory after the first and the last round: ${[sizes[0], sizes.at(-1)].map((size) => (size / MIB).toFixed(0)).join(" and ")} MiB`);
