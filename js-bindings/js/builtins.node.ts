/**
 * Modules of Node, for what is loaded with the package. An `import` evaluates all exports of a module, and some of `node:fs` and
 * `node:util` load a dozen others, which takes longer than everything else of importing the package.
 */

import { createRequire } from "node:module";

interface Builtins {
  "node:fs": typeof import("node:fs");
  "node:os": typeof import("node:os");
  "node:timers": typeof import("node:timers");
  "node:worker_threads": typeof import("node:worker_threads");
  "node:zlib": typeof import("node:zlib");
}

/** Loads a module of Node without evaluating its exports. */
export const builtin = createRequire(import.meta.url) as <Name extends keyof Builtins>(name: Name) => Builtins[Name];

/** Files. */
export const fs = builtin("node:fs");
