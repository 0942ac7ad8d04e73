/** Browsers. */

import type { Platform } from "./platform.js";

async function bytes(url: URL): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} cannot be loaded (${response.status}); serve the whole package`);
  return response;
}

export const web: Platform = {
  start(listener) {
    const worker = new Worker(new URL("./worker.web.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => listener.report(data);
    worker.onerror = (event) => {
      event.preventDefault();
      listener.broke(new Error(event.message));
    };
    return {
      send: (message) => worker.postMessage(message),
      terminate: () => worker.terminate(),
      // A page ends its Workers when it is left.
      hold: () => {},
    };
  },
  kernel: async () => WebAssembly.compile(await (await bytes(new URL("./kernel_bg.wasm", import.meta.url))).arrayBuffer()),
  connectsByName: true,
  gateway: async () => (await import("./gateway.js")).fetchGateway(fetch),
  folder() {
    throw new Error("a browser has no folders to mount; give the sandbox files instead");
  },
  programs: async () => (await bytes(new URL("../userland/programs.json", import.meta.url))).json(),
};
