/** The worker in Node and Deno. */

import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";

import { files } from "./files.node.js";
import { NodeDirectories } from "./directories.node.js";
import type { WorkerInput, WorkerOutput } from "./messages.js";
import { packs } from "./pack_host.node.js";
import { randomBytes } from "./random.node.js";
import { reuse } from "./reuse.node.js";
import { serve } from "./worker.js";

const port = parentPort;
if (port === null) throw new Error("this file must run in a worker; import tidebox instead");

serve(
  {
    send: (report: WorkerOutput, moved?: ArrayBuffer[]) => port.postMessage(report, moved),
    receive: (handle) => void port.on("message", handle),
    end: () => process.exit(),
    take: () => receiveMessageOnPort(port)?.message as WorkerInput | undefined,
  },
  { files, folders: new NodeDirectories(), packs, randomBytes, reuse: reuse(workerData) },
);
