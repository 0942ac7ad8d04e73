// The sandboxes that are measured: each answers `run`, `write` and `close` of a new one.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** Node needs the bytes: its `fetch` reads no files. */
async function bashkitWasm() {
  const { initBashkit, Bash } = await import("@everruns/bashkit-wasm");
  const file = fileURLToPath(import.meta.resolve("@everruns/bashkit-wasm/bashkit_wasm_bg.wasm"));
  await initBashkit(await readFile(file));
  return Bash;
}

/** By name: `load` imports the package, `create` makes a sandbox with what it answered. */
export const SUBJECTS = {
  tidebox: {
    load: () => import("tidebox"),
    async create({ Sandbox }) {
      const sandbox = await Sandbox.create();
      return {
        run: async (command) => (await sandbox.execute(command)).output,
        write: (path, text) => sandbox.write(path, text),
        close: () => sandbox.close(),
      };
    },
  },
  "just-bash": {
    load: () => import("just-bash"),
    async create({ Bash }) {
      const bash = new Bash({ executionLimits: { maxLoopIterations: 1_000_000, maxCommandCount: 1_000_000 } });
      return {
        run: async (command) => (await bash.exec(command)).stdout,
        write: (path, text) => bash.fs.writeFile(path, text),
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
        close: async () => bash.free(),
      };
    },
  },
};
