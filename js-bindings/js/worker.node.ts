/** The Worker in Node and in Deno. */

import { parentPort, receiveMessageOnPort } from "node:worker_threads";

import { files } from "./files.node.js";
import { NodeFolders } from "./folders.node.js";
import type { Order, Report } from "./messages.js";
import { packs } from "./pack_host.node.js";
import { serve } from "./worker.js";

const port = parentPort;
if (port === null) throw new Error("this file is the program of a Worker; import tidebox instead");

serve(
  {
    send: (report: Report) => port.postMessage(report),
    receive: (handle) => void port.on("message", handle),
    take: () => receiveMessageOnPort(port)?.message as Order | undefined,
  },
  { files, folders: new NodeFolders(), packs },
);
