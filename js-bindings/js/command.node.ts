#!/usr/bin/env node
/** The command line of the package: `npx tidebox pack add python`. */

import { parseArgs } from "node:util";

import { addPack, exportPack, listPacks, removePack } from "./pack_add.node.js";
import { messageOf } from "./error_message.js";
import { showProgress } from "./progress.node.js";

const USAGE = `usage: tidebox pack add NAME [--from FILE]   (FILE: the wheel of a program pack, such as git)
       tidebox pack export NAME DIRECTORY   (a directory to serve to pages)
       tidebox pack list
       tidebox pack remove NAME
`;

async function main(args: readonly string[]): Promise<number> {
  const parsed = parse(args);
  if (parsed === undefined) return usage();
  const { from, positionals: [topic, action, name, directory, ...more] } = parsed;
  if (topic !== "pack" || more.length > 0 || (action === "export") !== (directory !== undefined)) return usage();
  if (from !== undefined && action !== "add") return usage();
  if (action === "list" && name === undefined) {
    for (const pack of await listPacks()) {
      const more = pack.with.length > 0 ? `, with ${pack.with.join(", ")}` : "";
      process.stdout.write(`${pack.name}\t${pack.version}\t${pack.ready ? "ready" : "not installed"}\t${pack.about}${more}\n`);
    }
    return 0;
  }
  if (name === undefined) return usage();
  if (action === "add") {
    const display = showProgress(name);
    await addPack(name, { onProgress: display.report, ...(from === undefined ? {} : { from }) }).finally(() => display.stop());
    process.stderr.write(`the pack ${name} is ready\n`);
    return 0;
  }
  if (action === "export" && directory !== undefined) {
    const { sha256 } = await exportPack(name, directory, { onProgress: (what) => process.stderr.write(`${name}: ${what}\n`) });
    process.stdout.write(`${sha256}  ${directory}/pack.json\n`);
    return 0;
  }
  if (action !== "remove") return usage();
  if (!(await removePack(name))) throw new Error(`the pack ${name} is not installed`);
  process.stderr.write(`removed the pack ${name}\n`);
  return 0;
}

/** Returns the arguments, or `undefined` for unknown options. */
function parse(args: readonly string[]): { readonly positionals: readonly string[]; readonly from: string | undefined } | undefined {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: { from: { type: "string" } }, allowPositionals: true });
    return { positionals, from: values.from };
  } catch {
    return undefined;
  }
}

function usage(): number {
  process.stderr.write(USAGE);
  return 2;
}

main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`tidebox: ${messageOf(error)}\n`);
    process.exitCode = 1;
  },
);
