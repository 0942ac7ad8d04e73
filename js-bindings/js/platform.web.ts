/** Browsers. */

import { isLife, life, watch } from "./life.web.js";
import type { Platform } from "./platform.js";

/** Loads a file of the package. Servers that answer every address with their page are found out by what `read` makes of it. */
export async function load<T>(url: URL, read: (response: Response) => Promise<T>): Promise<T> {
  const hint = "serve the whole package, and keep Vite 7 from moving it by optimizeDeps.exclude";
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} cannot be loaded (${response.status}); ${hint}`);
  try {
    return await read(response);
  } catch (cause) {
    throw new Error(`${url} is not the file of the package (${cause}); ${hint}`, { cause });
  }
}

const compile = async (response: Response) => WebAssembly.compile(await response.arrayBuffer());

/** Not written out in its address, because a bundler that sees it there a second time copies the file as it is. */
const FILE = "worker.web.js";

/** A Worker that runs `worker.web.js`. */
function startWorker(): Worker {
  // webpack puts the place of the file on the machine that builds here.
  const here = new URL(import.meta.url);
  if (!here.protocol.startsWith("http") || here.origin === globalThis.location.origin) {
    // Bundlers look for exactly this expression.
    return new Worker(new URL("./worker.web.js", import.meta.url), { type: "module" });
  }
  // A page may not start a Worker from another server, but one of its own that imports from there.
  const program = `import ${JSON.stringify(new URL(FILE, here).href)};`;
  const address = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
  try {
    return new Worker(address, { type: "module" });
  } finally {
    URL.revokeObjectURL(address);
  }
}

export const web: Platform = {
  start(listener) {
    const worker = startWorker();
    const unwanted = new AbortController();
    worker.onmessage = ({ data }) => {
      if (!isLife(data)) return listener.report(data);
      watch(data, unwanted.signal, () => listener.broke(new Error("the browser has ended the sandbox's Worker")));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      listener.broke(new Error(event.message || "the sandbox's Worker cannot be loaded"));
    };
    const asked = life();
    if (asked !== undefined) worker.postMessage(asked);
    return {
      send: (message) => worker.postMessage(message),
      terminate() {
        unwanted.abort();
        worker.terminate();
      },
      // A page ends its Workers when it is left.
      hold: () => {},
    };
  },
  kernel: () => load(new URL("./kernel_bg.wasm", import.meta.url), compile),
  remote: () => load(new URL("./remote_kernel_bg.wasm", import.meta.url), compile),
  connectsByName: true,
  gateway: async () => (await import("./gateway.js")).fetchGateway(fetch),
  folder() {
    throw new Error("a browser has no folders to mount; give the sandbox files instead");
  },
  pack: async (wanted, rewrite) => (await import("./packs.web.js")).findPack(wanted, rewrite),
  programs: () => load(new URL("../userland/programs.json", import.meta.url), (response) => response.json()),
};
