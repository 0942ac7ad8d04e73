/** Browsers. */

import { SandboxError } from "./error.js";
import { isWorkerLock, newLock, watchLock } from "./worker_lock.web.js";
import type { CallerModule, Platform } from "./platform.js";

/** Loads a file of the package. Servers that respond with a page to every URL are detected because `read` fails. */
export async function load<T>(url: URL, read: (response: Response) => Promise<T>): Promise<T> {
  const hint = "serve the whole package; with Vite 7, add it to optimizeDeps.exclude";
  const response = await fetch(url);
  if (!response.ok) throw new Error(`cannot load ${url} (${response.status}); ${hint}`);
  try {
    return await read(response);
  } catch (cause) {
    throw new Error(`${url} is not the file of the package (${cause}); ${hint}`, { cause });
  }
}

const compile = async (response: Response) => WebAssembly.compile(await response.arrayBuffer());

/** Not inlined into the URL: a bundler that sees the expression a second time copies the file unchanged. */
const FILE = "worker.web.js";

/** Starts a worker that runs `worker.web.js`. */
function startWorker(): Worker {
  // webpack replaces `import.meta.url` with a `file:` URL of the build host.
  const here = new URL(import.meta.url);
  if (!here.protocol.startsWith("http") || here.origin === globalThis.location.origin) {
    // Bundlers detect exactly this expression.
    return new Worker(new URL("./worker.web.js", import.meta.url), { type: "module" });
  }
  // A page cannot start a worker from another origin, but it can start one that imports from there.
  const program = `import ${JSON.stringify(new URL(FILE, here).href)};`;
  const address = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
  try {
    return new Worker(address, { type: "module" });
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** A page shares the cores with others. */
const MAX_WORKERS = 4;

export const web: Platform = {
  start(listener) {
    const worker = startWorker();
    const released = new AbortController();
    worker.onmessage = ({ data }) => {
      if (!isWorkerLock(data)) return listener.report(data);
      watchLock(data, released.signal, () => listener.crashed(new Error("the browser has terminated the worker of the sandbox")));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      listener.crashed(new Error(event.message || "cannot load the worker of the sandbox"));
    };
    const lock = newLock();
    if (lock !== undefined) worker.postMessage(lock);
    return {
      send: (message, moved = []) => worker.postMessage(message, moved),
      terminate() {
        released.abort();
        worker.terminate();
      },
      // A page terminates its workers when it is closed.
      hold: () => {},
    };
  },
  async caller(copy): Promise<CallerModule> {
    // Bundlers load a module once.
    if (copy > 0) throw new Error("the kernel in the thread of this page has failed; reload the page, or use the thread 'own'");
    return import("./caller.web.js");
  },
  kernel: () => load(new URL("./kernel_bg.wasm", import.meta.url), compile),
  remote: () => load(new URL("./remote_kernel_bg.wasm", import.meta.url), compile),
  get maxWorkers() {
    return Math.min(MAX_WORKERS, globalThis.navigator?.hardwareConcurrency ?? 1);
  },
  // A page limits the address space of memories, which only a terminated worker frees immediately.
  defaultThread: "own",
  connectsByName: true,
  gateway: async () => (await import("./gateway.js")).fetchGateway(fetch),
  randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
  async listen() {
    throw new SandboxError("a page cannot listen on a port of its computer; use connect() of the sandbox", "UNSUPPORTED");
  },
  directory() {
    throw new Error("host directories are not supported in browsers; pass files instead");
  },
  pack: async (option, rewrite) => (await import("./packs.web.js")).findPack(option, rewrite),
  programs: () => load(new URL("../userland/programs.json", import.meta.url), (response) => response.json()),
};
