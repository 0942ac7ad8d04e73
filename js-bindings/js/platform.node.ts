/** Node, and Deno through its Node API: Deno's own workers would keep a program running. */

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { builtin, fs } from "./builtins.node.js";
import { SandboxError } from "./error.js";
import { files, readWhole } from "./files.node.js";
import type { CallerModule, Platform } from "./platform.js";
import { randomBytes } from "./random.node.js";
import { REUSE } from "./reuse.node.js";

/** Time until which the event loop does not sleep if a message is expected; 0 if it may. */
let awakeUntil = 0;
/** Time until which it never sleeps. */
let alwaysUntil = 0;
let isMessageExpected = () => false;
let isAwake = false;
/** Loaded when it is first needed: importing the package should be quick. */
let timers: typeof import("node:timers") | undefined;

function nextTurn(): void {
  const now = performance.now();
  isAwake = now < alwaysUntil || (now < awakeUntil && isMessageExpected());
  if (isAwake) timers?.setImmediate(nextTurn);
}

function maySleep(): void {
  awakeUntil = alwaysUntil = 0;
}

function stayAwake(milliseconds: number, isExpected: () => boolean): void {
  const now = performance.now();
  [awakeUntil, alwaysUntil, isMessageExpected] = [now + milliseconds, now + milliseconds / 10, isExpected];
  if (isAwake) return;
  timers ??= builtin("node:timers");
  isAwake = true;
  timers.setImmediate(nextTurn);
}

let spins: boolean | undefined;

/** With one core the thread would keep the worker from running. In Deno, polling takes longer than waking it. */
function canSpin(): boolean {
  return (spins ??= process.versions["deno"] === undefined && builtin("node:os").availableParallelism() > 1);
}

export const node: Platform = {
  start(listener) {
    const { Worker } = builtin("node:worker_threads");
    const worker = new Worker(new URL("./worker.node.cjs", import.meta.url), {
      env: {}, execArgv: [], stdin: false, workerData: Reflect.get(globalThis, REUSE),
      // The worker prints nothing. Otherwise Node would set up the output of this process first.
      stdout: true, stderr: true,
    });
    worker.on("message", (report) => listener.report(report));
    worker.on("error", (error) => listener.crashed(error));
    worker.on("exit", () => listener.crashed(new Error("the worker of the sandbox has ended")));
    return {
      send: (message, moved) => worker.postMessage(message, moved),
      terminate: () => void worker.terminate(),
      // Deno's workers use no threads that have to end first.
      canEnd: process.versions["deno"] === undefined,
      hold: (hold) => (hold ? worker.ref() : worker.unref()),
    };
  },
  async caller(copy): Promise<CallerModule> {
    if (copy === 0) return import("./caller.node.js");
    // A module has one instance of the kernel. After it has trapped, the module is loaded again under another name.
    const url = new URL(`./caller.node.js?copy=${copy}`, import.meta.url);
    return (await import(url.href)) as CallerModule;
  },
  kernel: async () => WebAssembly.compile(await readWhole(new URL("./kernel_bg.wasm", import.meta.url))),
  remote: async () => WebAssembly.compile(await readWhole(new URL("./remote_kernel_bg.wasm", import.meta.url))),
  get stayAwake() {
    return canSpin() ? stayAwake : undefined;
  },
  maySleep,
  get maxWorkers() {
    return builtin("node:os").availableParallelism();
  },
  defaultThread: "pool",
  connectsByName: false,
  gateway: async () => (await import("./gateway.node.js")).gateway,
  randomBytes,
  listen: async (hostPort, connect) => (await import("./expose.node.js")).listen(hostPort, connect),
  directory(path) {
    if (process.platform === "win32") throw new Error("host directories are supported only on Unix");
    return resolve(path instanceof URL || path.startsWith("file:") ? fileURLToPath(path) : path);
  },
  pack: async ({ name, folder, from, sha256 }, rewrite) => {
    const { findPack, packsDir } = await import("./packs.node.js");
    if (from !== undefined || sha256 !== undefined) {
      throw new SandboxError(`the pack ${name}: 'from' and 'sha256' are supported only in pages; install it with: npx tidebox pack add ${name}`, "UNSUPPORTED");
    }
    return findPack(name, folder ?? packsDir(), rewrite);
  },
  programs: async () => JSON.parse(await fs.promises.readFile(new URL("../userland/programs.json", import.meta.url), "utf8")),
  files,
};
