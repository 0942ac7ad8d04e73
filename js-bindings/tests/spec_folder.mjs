// The files of recorded cases: `TIDEBOX_SPEC_CASES` is their directory. Without `TIDEBOX_SPEC_EVERY=1` only some of the cases
// run, spread over all features.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const folder = process.env.TIDEBOX_SPEC_CASES;

/** One of this many cases runs. */
export const every = Number(process.env.TIDEBOX_SPEC_EVERY ?? 40);

/** Names and texts; `undefined` when nobody has named the folder. */
export const specFiles = folder === undefined ? undefined : readdirSync(folder)
  .filter((name) => name.endsWith(".spec"))
  .sort()
  .map((file) => ({ file, text: readFileSync(join(folder, file), "utf8") }));
