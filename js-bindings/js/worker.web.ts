/** The Worker in browsers. */

import { unpack } from "./kernel.js";
import type { Life } from "./life.web.js";
import { isLife, live } from "./life.web.js";
import type { Order, Report } from "./messages.js";
import { packs } from "./pack_host.web.js";
import userland from "./userland.web.js";
import { serve } from "./worker.js";

interface Scope {
  postMessage(message: Report | Life): void;
  onmessage: ((event: MessageEvent<Order | Life>) => void) | null;
}

const scope = globalThis as unknown as Scope;

function address(file: string): URL {
  const url = userland[file];
  if (url === undefined) throw new Error(`${file} is not in the package`);
  return url;
}

function unless(loaded: boolean, url: URL, status: number): void {
  if (!loaded) throw new Error(`${url} cannot be loaded (${status}); serve the whole package`);
}

async function read(file: string): Promise<Uint8Array> {
  const url = address(file);
  const response = await fetch(url);
  unless(response.ok, url, response.status);
  return new Uint8Array(await response.arrayBuffer());
}

/** A guest that reads the file of a program waits for it; a Worker may. */
function readNow(file: string): Uint8Array {
  const url = address(file);
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  request.send();
  unless(request.status === 200 || url.protocol === "data:", url, request.status);
  return new Uint8Array(request.response as ArrayBuffer);
}

serve(
  {
    send: (report) => scope.postMessage(report),
    receive: (handle) => {
      scope.onmessage = ({ data }) => {
        if (isLife(data)) live(data, (held) => scope.postMessage(held));
        else handle(data);
      };
    },
  },
  // Browsers have no Brotli for scripts, so the kernel's module has.
  { files: { read, readNow, unpack: async (packed, bytes) => unpack(packed, bytes), unpackNow: unpack }, packs },
);
