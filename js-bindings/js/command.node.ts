#!/usr/bin/env node
/** The command of the package: `npx tidebox pack add python`. */

import { addPack, exportPack, listPacks, removePack } from "./pack_add.node.js";
import { reasonOf } from "./reason.js";

const USAGE = `usage: tidebox pack add NAME
       tidebox pack export NAME FOLDER   for pages: a folder to serve
       tidebox pack list
       tidebox pack remove NAME
`;

async function main(words: readonly string[]): Promise<number> {
  const [topic, action, name, folder, ...more] = words;
  if (topic !== "pack" || more.length > 0 || (action === "export") !== (folder !== undefined)) return usage();
  if (action === "list" && name === undefined) {
    for (const pack of await listPacks()) {
      const more = pack.with.length > 0 ? `, with ${pack.with.join(", ")}` : "";
      process.stdout.write(`${pack.name}\t${pack.version}\t${pack.ready ? "ready" : "not added"}\t${pack.about}${more}\n`);
    }
    return 0;
  }
  if (name === undefined) return usage();
  if (action === "add") {
    await addPack(name, { onProgress: (what) => process.stderr.write(`${name}: ${what}\n`) });
    process.stderr.write(`the pack ${name} is ready\n`);
    return 0;
  }
  if (action === "export" && folder !== undefined) {
    const { sha256 } = await exportPack(name, folder, { onProgress: (what) => process.stderr.write(`${name}: ${what}\n`) });
    process.stdout.write(`${sha256}  ${folder}/pack.json\n`);
    return 0;
  }
  if (action !== "remove") return usage();
  if (!(await removePack(name))) throw new Error(`the pack ${name} is not here`);
  process.stderr.write(`removed the pack ${name}\n`);
  return 0;
}

function usage(): number {
  process.stderr.write(USAGE);
  return 2;
}

main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`tidebox: ${reasonOf(error)}\n`);
    process.exitCode = 1;
  },
);
