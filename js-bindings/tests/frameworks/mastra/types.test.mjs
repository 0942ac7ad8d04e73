// The types of the adapter are those of the framework.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));

test("the framework accepts the types of the adapter", async () => {
  const options = { cwd: import.meta.dirname };
  const tsc = promisify(execFile)(process.execPath, [join(typescript, "bin/tsc"), "-p", "."], options);
  await tsc.catch((error) => assert.fail(`${error.stdout}${error.stderr}`));
});
