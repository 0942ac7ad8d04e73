// How long the package takes and what it holds, beside other sandboxes for JavaScript, in one run: median, mean and 95th percentile.
// `npm start` in this folder after `cargo xtask npm`; or `node bench.mjs`, `deno run -A bench.mjs` with another engine.
// Arguments are names of the sandboxes to measure.

import { spawn } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

import { SUBJECTS } from "./subjects.mjs";

/** Processes that are started for the rows of a fresh process. */
const FRESH = 10;

const script = fileURLToPath(new URL("measure.mjs", import.meta.url));
const isDeno = process.versions.deno !== undefined;

/** Runs a part of `measure.mjs` in a process of its own; answers its figures and how many full collections V8 reports. */
function measure(subject, part, traced = false) {
  const flags = traced ? ["--trace-gc"] : [];
  const engine = isDeno ? ["run", "-A", ...flags.map((flag) => `--v8-flags=${flag}`)] : flags;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...engine, script, subject, part], { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (bytes) => (output += bytes));
    child.on("error", reject);
    child.on("close", (code) => {
      const found = /^figures (.*)$/m.exec(output);
      if (code !== 0 || found === null) return reject(new Error(`${subject}, ${part}: the process ended with ${code}`));
      const counted = output.slice(output.indexOf("begin"), output.indexOf("end"));
      resolve({ ...JSON.parse(found[1]), collections: counted.split(/Mark-Compact/).length - 1 });
    });
  });
}

function summary(times) {
  const sorted = [...times].sort((one, two) => one - two);
  const mean = sorted.reduce((sum, time) => sum + time, 0) / sorted.length;
  return [sorted[sorted.length >> 1], mean, sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))]];
}

/** All rows of one subject: lists of three figures for times, of one for the others. */
async function rows(subject) {
  const fresh = [];
  for (let n = 0; n < FRESH; n++) fresh.push(await measure(subject, "fresh"));
  const column = (name) => summary(fresh.map((figures) => figures[name]));
  const { times } = await measure(subject, "warm");
  const timed = Object.fromEntries(Object.entries(times).map(([name, list]) => [name, summary(list)]));
  const { kib } = await measure(subject, "memory");
  const { collections } = await measure(subject, "collections", true);
  return {
    "import": column("import"),
    "create + first echo, fresh process": column("first"),
    "first pipeline, fresh process": column("pipeline"),
    ...timed,
    "KiB of an idle sandbox": [kib],
    "full collections in 1,000 echoes": [collections],
  };
}

function digits(figure) {
  return !Number.isFinite(figure) ? "-" : figure >= 100 ? figure.toFixed(0) : figure >= 10 ? figure.toFixed(1) : figure.toFixed(3);
}

const names = process.argv.slice(2).length > 0 ? process.argv.slice(2) : Object.keys(SUBJECTS);
const all = {};
for (const name of names) {
  try {
    all[name] = await rows(name);
  } catch (error) {
    console.error(`${name} is left out: ${error.message}`);
  }
}
const engine = isDeno ? `Deno ${process.versions.deno}` : `Node ${process.versions.node}`;
console.log(`${engine}, ${cpus().length} x ${cpus()[0]?.model}; milliseconds: median / mean / 95th percentile`);
console.log("`x` is how many times as much as tidebox, by the mean; below 1 the other one is ahead");
const [first, ...others] = Object.keys(all);
console.log(["", first, ...others.flatMap((name) => [name, "x"])].map(pad).join(""));
for (const row of Object.keys(all[first] ?? {})) {
  const of = (name) => all[name][row] ?? [];
  const mean = (name) => of(name)[1] ?? of(name)[0];
  const cell = (name) => (of(name).length === 0 ? "-" : of(name).map(digits).join(" / "));
  const cells = others.flatMap((name) => [cell(name), digits(mean(name) / mean(first))]);
  console.log([row, cell(first), ...cells].map(pad).join(""));
}

function pad(cell, at) {
  if (at === 0) return cell.padEnd(36);
  return at > 1 && at % 2 === 1 ? cell.padStart(8) : cell.padStart(26);
}
