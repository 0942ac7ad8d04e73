/** Installation of packs that are one program with its files, as `packs/src/program.rs` does it. */

import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { SandboxError } from "./error.js";
import { messageOf } from "./error_message.js";
import { MODULE, RECORD, installCommand } from "./pack_manifest.js";
import type { ProgressCallback } from "./pack_options.js";
import { PackTree } from "./pack_tree.node.js";
import { files } from "./pack_zip.node.js";
import type { ProgramDefinition } from "./packs.js";
import { recordOf } from "./packs.node.js";

/**
 * Installs a program pack from its wheel, replacing an installed one. Without a file the installed one is kept. The wheel is not
 * verified: its program is a guest like every other.
 */
export async function addProgram(pack: ProgramDefinition, dir: string, from: string | URL | undefined, progress: ProgressCallback): Promise<void> {
  const location = join(dir, pack.name);
  if (from === undefined) {
    if ((await recordOf(location, pack)) !== undefined) return;
    throw new SandboxError(`cannot install the pack ${pack.name} without ${pack.wheel}; ${pack.source}, and run: ${installCommand(pack)}`, "SETUP_FAILED");
  }
  progress("unpacking");
  const wheel = from instanceof URL ? fileURLToPath(from) : from;
  const bytes = await readFile(wheel).catch((cause: unknown) => {
    throw new SandboxError(`cannot read the wheel of the pack ${pack.name}: ${messageOf(cause)}`, "SETUP_FAILED", { cause });
  });
  await mkdir(dir, { recursive: true });
  const temp = await mkdtemp(join(dir, ".new-"));
  try {
    await unpack(pack, bytes, wheel, temp);
    await rm(location, { recursive: true, force: true });
    await rename(temp, location);
  } catch (error) {
    await rm(temp, { recursive: true, force: true });
    throw error;
  }
}

async function unpack(pack: ProgramDefinition, bytes: Buffer, wheel: string, dir: string): Promise<void> {
  const tree = new PackTree(dir);
  const [program, prefix] = [`${pack.package}/${pack.name}.wasm`, `${pack.package}/files`];
  let module: Uint8Array | undefined;
  try {
    for (const { name, unpack } of files(bytes)) {
      if (name === program) module = await unpack();
      else if (name.startsWith(`${prefix}/`)) await tree.put(name.slice(prefix.length), await unpack());
    }
  } catch (cause) {
    throw new SandboxError(`cannot unpack ${wheel}: ${messageOf(cause)}`, "SETUP_FAILED", { cause });
  }
  if (module === undefined) throw new SandboxError(`${wheel} is not a wheel of the pack ${pack.name}`, "SETUP_FAILED");
  await tree.finish();
  await writeFile(join(dir, MODULE), module);
  const sha256 = createHash("sha256").update(module).digest("hex");
  // The record of the native Tidebox, which uses the same directory.
  const record = { name: pack.name, version: pack.version, len: module.length, module: sha256 };
  await writeFile(join(dir, RECORD), JSON.stringify(record, undefined, 2));
}
