/** The worker in browsers. */

import { decompress } from "./kernel.js";
import type { WorkerLock } from "./worker_lock.web.js";
import { isWorkerLock, holdLock } from "./worker_lock.web.js";
import type { WorkerInput, WorkerOutput } from "./messages.js";
import { packs } from "./pack_host.web.js";
import userland from "./userland.web.js";
import { serve } from "./worker.js";

interface Scope {
  postMessage(message: WorkerOutput | WorkerLock, moved?: ArrayBuffer[]): void;
  onmessage: ((event: MessageEvent<WorkerInput | WorkerLock>) => void) | null;
}

const scope = globalThis as unknown as Scope;

function address(file: string): URL {
  const url = userland[file];
  if (url === undefined) throw new Error(`${file} is not in the package`);
  return url;
}

function checkLoaded(loaded: boolean, url: URL, status: number): void {
  if (!loaded) throw new Error(`cannot load ${url} (${status}); serve the whole package`);
}

async function read(file: string): Promise<Uint8Array> {
  const url = address(file);
  const response = await fetch(url);
  checkLoaded(response.ok, url, response.status);
  return new Uint8Array(await response.arrayBuffer());
}

/** Reads a file synchronously, which workers allow. */
function readNow(file: string): Uint8Array {
  const url = address(file);
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  request.send();
  checkLoaded(request.status === 200 || url.protocol === "data:", url, request.status);
  return new Uint8Array(request.response as ArrayBuffer);
}

serve(
  {
    send: (report, moved = []) => scope.postMessage(report, moved),
    receive: (handle) => {
      scope.onmessage = ({ data }) => {
        if (isWorkerLock(data)) holdLock(data, (lock) => scope.postMessage(lock));
        else handle(data);
      };
    },
  },
  // Browsers have no Brotli API for scripts, so the kernel's module decompresses.
  { files: { read, readNow, unpack: async (packed, bytes) => decompress(packed, bytes), unpackNow: decompress }, packs },
);
