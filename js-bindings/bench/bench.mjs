// Times and memory of the package beside other sandboxes for JavaScript, in one run, as a Markdown table.
// `npm start` in this folder after `cargo xtask npm`; or `node bench.mjs`, `deno run -A bench.mjs` with another engine.
// Arguments are names of the sandboxes to measure.

import { spawn } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

import { SUBJECTS } from "./subjects.mjs";

/** Processes that are started for the rows of a fresh process. */
const FRESH = 10;
/** Differs from the first subject only in a fresh process. */
const ONLY_FRESH = "tidebox, prepared";

const script = fileURLToPath(new URL("measure.mjs", import.meta.url));
const isDeno = process.versions.deno !== undefined;

/** Runs a part of `measure.mjs` in a separate process. Returns its figures and the number of full collections that V8 reports. */
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

/** A part that fails is left out, with the reason on standard error. */
async function part(subject, name, traced) {
  try {
    return await measure(subject, name, traced);
  } catch (error) {
    console.error(`left out: ${error.message}`);
    return undefined;
  }
}

/** All rows of one subject: lists of three figures for times, of one for the others. */
async function rows(subject) {
  const fresh = [];
  for (let n = 0; n < FRESH; n++) fresh.push(await measure(subject, "fresh"));
  const column = (name) => summary(fresh.map((figures) => figures[name]));
  const first = {
    "import": column("import"),
    "create + first echo, fresh process": column("first"),
    "import + create + first echo, fresh process": column("together"),
    "first pipeline, fresh process": column("pipeline"),
  };
  if (subject === ONLY_FRESH) return first;
  const { times = {} } = (await part(subject, "warm")) ?? {};
  const timed = Object.fromEntries(Object.entries(times).map(([name, list]) => [name, summary(list)]));
  const { kib = {}, process: mib, seconds } = (await part(subject, "memory")) ?? {};
  const memory = Object.fromEntries(Object.entries(kib).map(([count, figure]) => [`KiB of each of ${Number(count).toLocaleString("en")} idle sandboxes`, [figure]]));
  const collections = (await part(subject, "collections", true))?.collections;
  return { ...first, ...timed, "MiB of the warm process": [mib], ...memory, "s until the last of these was created": [seconds], "full collections in 1,000 echoes": [collections] };
}

function digits(figure) {
  return figure >= 100 ? figure.toFixed(0) : figure >= 10 ? figure.toFixed(1) : figure >= 1 ? figure.toFixed(2) : figure.toFixed(3);
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
console.log(`${engine}, ${cpus().length} x ${cpus()[0]?.model}. Milliseconds: median / mean / 95th percentile. In parentheses the mean as a`);
console.log("multiple of the first column; below 1 the other one is ahead.\n");
const [first, ...others] = Object.keys(all);
const of = (name, row) => (all[name][row] ?? []).filter((figure) => figure !== undefined);
const mean = (name, row) => of(name, row)[1] ?? of(name, row)[0];

function cell(name, row) {
  const figures = of(name, row);
  if (figures.length === 0) return "-";
  const ratio = mean(name, row) / mean(first, row);
  return figures.map(digits).join(" / ") + (name === first || !Number.isFinite(ratio) ? "" : ` (${digits(ratio)})`);
}

const line = (cells) => console.log(`| ${cells.join(" | ")} |`);
line(["", first, ...others]);
line(["---", ...Object.keys(all).map(() => "---")]);
for (const row of Object.keys(all[first] ?? {})) line([row, ...Object.keys(all).map((name) => cell(name, row))]);
