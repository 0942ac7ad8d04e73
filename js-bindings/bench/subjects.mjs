// The sandboxes that are measured. Each has the methods `run`, `write`, `read` and `close`.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** Node needs the bytes: its `fetch` reads no files. */
async function bashkitWasm() {
  const { initBashkit, Bash } = await import("@everruns/bashkit-wasm");
  const file = fileURLToPath(import.meta.resolve("@everruns/bashkit-wasm/bashkit_wasm_bg.wasm"));
  await initBashkit(await readFile(file));
  return Bash;
}

/** Sandboxes of this package. */
function tidebox(options, load = () => import("tidebox")) {
  return {
    load,
    async create({ Sandbox }) {
      const sandbox = await Sandbox.create(options);
      return {
        run: async (command) => (await sandbox.execute(command)).output,
        write: (path, text) => sandbox.write(path, text),
        read: async (path) => (await sandbox.readRaw(path)).data.content,
        close: () => sandbox.close(),
      };
    },
  };
}

async function prepared() {
  const loaded = await import("tidebox");
  await loaded.prepare();
  return loaded;
}

/** By name: `load` imports the package, `create` creates a sandbox with its result. */
export const SUBJECTS = {
  tidebox: tidebox({}),
  "tidebox, prepared": tidebox({}, prepared),
  "tidebox, caller": tidebox({ thread: "caller" }),
  "just-bash": {
    load: () => import("just-bash"),
    async create({ Bash }) {
      const bash = new Bash({ executionLimits: { maxLoopIterations: 1_000_000, maxCommandCount: 1_000_000 } });
      return {
        run: async (command) => (await bash.exec(command)).stdout,
        write: (path, text) => bash.fs.writeFile(path, text),
        read: (path) => bash.fs.readFile(path),
        close: async () => {},
      };
    },
  },
  bashkit: {
    load: () => import("@everruns/bashkit"),
    async create({ Bash }) {
      const bash = new Bash({ maxCommands: 1_000_000, maxLoopIterations: 1_000_000 });
      return {
        run: async (command) => (await bash.execute(command)).stdout,
        write: async (path, text) => bash.writeFile(path, text),
        read: async (path) => bash.readFile(path),
        close: async () => {},
      };
    },
  },
  "bashkit-wasm": {
    load: bashkitWasm,
    async create(Bash) {
      const bash = new Bash({ maxCommands: 1_000_000, maxLoopIterations: 1_000_000 });
      return {
        run: async (command) => (await bash.execute(command)).stdout,
        write: async (path, text) => bash.fs().writeFile(path, text),
        read: async (path) => bash.fs().readFile(path),
        close: async () => bash.free(),
      };
    },
  },
};
