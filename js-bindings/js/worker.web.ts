/** The worker in browsers. */

import { webFiles } from "./files.web.js";
import type { WorkerLock } from "./worker_lock.web.js";
import { isWorkerLock, holdLock } from "./worker_lock.web.js";
import type { WorkerInput, WorkerOutput } from "./messages.js";
import { packs } from "./pack_host.web.js";
import { serve } from "./worker.js";

interface Scope {
  postMessage(message: WorkerOutput | WorkerLock, moved?: ArrayBuffer[]): void;
  onmessage: ((event: MessageEvent<WorkerInput | WorkerLock>) => void) | null;
}

const scope = globalThis as unknown as Scope;

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
  { files: webFiles, packs },
);
