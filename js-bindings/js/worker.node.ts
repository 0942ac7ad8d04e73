/** The Worker in Node and in Deno. */

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parentPort } from "node:worker_threads";

import { NodeFolders } from "./folders.node.js";
import type { Report } from "./messages.js";
import { serve } from "./worker.js";

const userland = new URL("../userland/", import.meta.url);
const port = parentPort;
if (port === null) throw new Error("this file is the program of a Worker; import tidebox instead");

serve(
  {
    send: (report: Report) => port.postMessage(report),
    receive: (handle) => void port.on("message", handle),
  },
  {
    files: {
      compile: async (file) => WebAssembly.compile(await readFile(new URL(file, userland))),
      bytes: (file) => readFileSync(new URL(file, userland)),
    },
    folders: new NodeFolders(),
  },
);
