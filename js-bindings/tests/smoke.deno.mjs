// `deno run --allow-read smoke.deno.mjs`: the package may read its own files and nothing else of the host is asked for.

import { smoke } from "./smoke.mjs";

await smoke();
console.log("the sandbox works in Deno", Deno.version.deno);
