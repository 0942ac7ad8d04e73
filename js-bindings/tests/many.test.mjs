// Sandboxes that come and go leave nothing behind: no memory, no Worker, no timer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { Sandbox } from "tidebox";

/** How many there are; `TIDEBOX_MANY` says otherwise. */
const MANY = Number(process.env.TIDEBOX_MANY ?? 60);
const AT_ONCE = 4;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

async function one(n) {
  const sandbox = await Sandbox.create({ files: { "a.txt": `${n}\n` } });
  const { output } = await sandbox.execute("sort a.txt | tee b.txt | wc -c | tr -d ' '");
  assert.equal(output, `${`${n}\n`.length}\n`);
  await sandbox.close();
}

async function some(count) {
  let n = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (n < count) await one(n++);
  }));
  // Workers end a moment after they are told to.
  for (let look = 0; look < 100 && workers() > 0; look++) await wait(50);
  collect();
  await wait(100);
}

/** Workers and what else keeps the program running. */
const workers = () => process.getActiveResourcesInfo().filter((name) => name === "MessagePort" || name === "Worker").length;

test(`${MANY} sandboxes leave no Worker, and no more memory than a few do`, { timeout: 600_000 }, async () => {
  await some(20);
  const resources = process.getActiveResourcesInfo().length;
  const before = process.memoryUsage().rss;
  await some(MANY);
  assert.equal(workers(), 0);
  assert.ok(process.getActiveResourcesInfo().length <= resources, `${process.getActiveResourcesInfo()}`);
  const grown = process.memoryUsage().rss - before;
  console.log(`${MANY} sandboxes: ${(grown / 2 ** 20).toFixed(1)} MiB more than after 20`);
  // A sandbox holds some ten times that while it lives.
  assert.ok(grown < 2 ** 20 * (60 + MANY / 50), `${grown} bytes`);
});
