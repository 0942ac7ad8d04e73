// Connects to servers of many sandboxes, through exposed ports and without them, and cuts connections at random. Meanwhile random
// Workers are terminated and sandboxes are closed. Checks that all data that arrives is that of the server, and that memory and
// descriptors do not grow.
//
//   node soak_ports.mjs [--minutes 10] [--sandboxes 24] [--kill-ms 2000] [--clients 32]
//
// Run `npm install` in this folder after `cargo xtask npm`. Counts descriptors by /proc, so it needs Linux.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";

import { Sandbox } from "tidebox";

const MIB = 2 ** 20;
const ROUNDS = 6;
const PORT = 8000;
const PAGE = "x".repeat(100_000);
const BYTE = PAGE.charCodeAt(0);
const SERVER = `while :; do nc -lN ${PORT} < page > /dev/null; done`;
/** Milliseconds after which a client gives up: a server that was killed in its Worker never responds. */
const PATIENCE_MS = 3_000;
/** Growth between the first and the last round that counts as noise: bytes of memory, and descriptors of clients and Workers. */
const NOISE_BYTES = 64 * MIB;
const NOISE_DESCRIPTORS = 40;
/** Maximum of descriptors after the last sandbox: those of Node, and of Workers that are kept for a while. */
const MAX_DESCRIPTORS = 60;

const text = { type: "string" };
const { values } = parseArgs({ options: { minutes: text, sandboxes: text, "kill-ms": text, clients: text } });
const minutes = Number(values.minutes ?? 10);
const count = Number(values.sandboxes ?? 24);
const killMs = Number(values["kill-ms"] ?? 2000);
const clients = Number(values.clients ?? 32);

const workers = new Set();
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (...message) {
  if (!workers.has(this)) {
    workers.add(this);
    this.once("exit", () => workers.delete(this));
  }
  return Reflect.apply(post, this, message);
};

const counted = { whole: 0, cut: 0, killed: 0, closed: 0, restarted: 0 };
const places = [];
let isRunning = true;

const random = (limit) => Math.floor(Math.random() * limit);
/** Codes of calls whose Worker or sandbox has ended, and of servers that have. */
const ENDED = ["RESTARTED", "CLOSED", "TIMEOUT", "UNAVAILABLE", "SETUP_FAILED"];

/** Works, unless the sandbox ends meanwhile. */
async function unlessEnded(work) {
  try {
    return await work();
  } catch (error) {
    assert.ok(ENDED.includes(error.code), error);
  }
}

async function start({ sandbox }) {
  await unlessEnded(async () => {
    await sandbox.write("/workspace/page", PAGE);
    await sandbox.spawn(SERVER, { tag: "server" });
    await sandbox.waitForPort(PORT);
  });
}

async function open() {
  for (;;) {
    const place = await unlessEnded(async () => {
      const sandbox = await Sandbox.create({ thread: "pool" });
      return { sandbox, exposed: await sandbox.expose(PORT), isClosing: false };
    });
    if (place === undefined) continue;
    await start(place);
    return place;
  }
}

/** Records a connection after its end. */
function record(received) {
  counted[received === PAGE.length ? "whole" : "cut"] += 1;
}

function check(chunk) {
  assert.ok(chunk.every((byte) => byte === BYTE), "a connection received data of something else");
}

/** Number of bytes after which a client closes the connection, if it does. */
const cutAfter = () => (random(3) === 0 ? random(PAGE.length) : Infinity);

function throughPort({ exposed }) {
  return new Promise((resolve, reject) => {
    const [socket, most] = [connectTcp(exposed.port, exposed.host), cutAfter()];
    let received = 0;
    const late = setTimeout(() => socket.destroy(), PATIENCE_MS);
    socket.on("data", (chunk) => {
      received += chunk.length;
      try {
        check(chunk);
      } catch (error) {
        reject(error);
      }
      if (received > most) socket.destroy();
    });
    socket.on("end", () => socket.end());
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(late);
      record(received);
      resolve();
    });
  });
}

async function directly({ sandbox }) {
  const most = cutAfter();
  let received = 0;
  await unlessEnded(async () => {
    const connection = await sandbox.connect(PORT);
    const late = setTimeout(() => void connection.close(), PATIENCE_MS);
    try {
      for await (const chunk of connection.readable) {
        received += chunk.length;
        check(chunk);
        if (received > most) break;
      }
    } finally {
      clearTimeout(late);
      await connection.close();
    }
  });
  record(received);
}

/** Replaces a sandbox while clients use it. */
async function replace(at) {
  const place = places[at];
  if (place.isClosing) return;
  place.isClosing = true;
  counted.closed += 1;
  const [fresh] = await Promise.all([open(), place.sandbox.close()]);
  places[at] = fresh;
}

async function client() {
  while (isRunning) {
    const at = random(count);
    const choice = random(100);
    if (choice === 0) await replace(at);
    else if (choice < 50) await throughPort(places[at]);
    else await directly(places[at]);
    if (choice % 16 === 1 && !places[at].isClosing) {
      counted.restarted += 1;
      await start(places[at]);
    }
  }
}

async function kill() {
  while (isRunning) {
    await pause(killMs);
    const all = [...workers];
    if (all.length === 0) continue;
    counted.killed += 1;
    await all[random(all.length)].terminate();
  }
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
const descriptors = () => readdirSync("/proc/self/fd").length;

for (let at = 0; at < count; at++) places.push(await open());
const working = [kill(), ...Array.from({ length: clients }, client)];
// A failure ends the run immediately.
for (const work of working) work.catch((error) => { throw error; });
const rounds = [];
for (let n = 0; n < ROUNDS; n++) {
  await pause((minutes * 60_000) / ROUNDS);
  collect();
  rounds.push({ rss: process.memoryUsage().rss, descriptors: descriptors() });
  console.log(`round ${n + 1}: ${(rounds[n].rss / MIB).toFixed(0)} MiB, ${rounds[n].descriptors} descriptors, ${JSON.stringify(counted)}`);
}
isRunning = false;
await Promise.all(working);
await Promise.all(places.map(({ sandbox }) => sandbox.close()));
await pause(500);
const [first, last] = [rounds[0], rounds.at(-1)];
assert.ok(last.rss - first.rss < NOISE_BYTES, `memory has grown by ${((last.rss - first.rss) / MIB).toFixed(0)} MiB after the first round`);
assert.ok(last.descriptors - first.descriptors < NOISE_DESCRIPTORS, `${first.descriptors} and then ${last.descriptors} descriptors`);
assert.ok(descriptors() < MAX_DESCRIPTORS, `${descriptors()} descriptors are left`);
assert.ok(counted.whole > 0 && counted.cut > 0 && counted.killed > 0, JSON.stringify(counted));
console.log(`all data was that of the servers; ${descriptors()} descriptors after the last sandbox`);
