/** The Worker in browsers. */

import type { Call, Report, Setup } from "./messages.js";
import { serve } from "./worker.js";

const userland = new URL("../userland/", import.meta.url);

interface Scope {
  postMessage(report: Report): void;
  onmessage: ((event: MessageEvent<Setup | Call>) => void) | null;
}

const scope = globalThis as unknown as Scope;

/** A guest that reads the file of a program waits for it; a Worker may. */
function bytes(file: string): Uint8Array {
  const url = new URL(file, userland);
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  request.send();
  return new Uint8Array(request.response as ArrayBuffer);
}

serve(
  {
    send: (report) => scope.postMessage(report),
    receive: (handle) => {
      scope.onmessage = ({ data }) => handle(data);
    },
  },
  {
    compile: async (file) => WebAssembly.compile(await (await fetch(new URL(file, userland))).arrayBuffer()),
    bytes,
  },
);
