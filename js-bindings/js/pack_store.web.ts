/** Where a browser keeps packs: in the private file system of the page's origin (OPFS). */

import { SandboxError } from "./error.js";
import { reasonOf } from "./reason.js";

/** Below the root of the origin. */
const PLACE = ["tidebox", "packs"];

/** Refuses where there is no such storage. */
export function checkStore(): void {
  if (globalThis.isSecureContext && navigator.storage?.getDirectory !== undefined && navigator.locks !== undefined) return;
  const message =
    "packs are kept in the private storage of the browser (OPFS), which this page does not have; serve it by https or from localhost, to a current browser";
  throw new SandboxError(message, "UNSUPPORTED");
}

async function folder(names: readonly string[], create: boolean): Promise<FileSystemDirectoryHandle> {
  let found = await navigator.storage.getDirectory();
  for (const name of [...PLACE, ...names]) found = await found.getDirectoryHandle(name, { create });
  return found;
}

async function handle(path: string, create: boolean): Promise<FileSystemFileHandle> {
  const names = path.split("/");
  const last = names.pop() ?? "";
  return (await folder(names, create)).getFileHandle(last, { create });
}

/** A file that is there. */
export async function file(path: string): Promise<File | undefined> {
  try {
    return await (await handle(path, false)).getFile();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Writes a file, piece by piece. It is there when all of it is written, and as before when something goes wrong. */
export async function write(path: string, pieces: AsyncIterable<Uint8Array<ArrayBuffer>> | Iterable<Uint8Array<ArrayBuffer>>): Promise<void> {
  const to = await (await handle(path, true)).createWritable();
  try {
    for await (const piece of pieces) await to.write(piece);
    await to.close();
  } catch (cause) {
    await to.abort().catch(() => {});
    if (!(cause instanceof DOMException) || cause.name !== "QuotaExceededError") throw cause;
    const message = `the browser has no room for ${path}: a pack takes some 300 MB; what is kept can be removed with removePack`;
    throw new SandboxError(message, "SETUP_FAILED", { cause });
  }
}

/** Names in the folder of a pack. */
export async function names(pack: string): Promise<string[]> {
  const found: string[] = [];
  try {
    for await (const name of (await folder([pack], false)).keys()) found.push(name);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return found;
}

/** Removes a file or a whole pack; what is not there is no error. */
export async function remove(path: string): Promise<void> {
  const parts = path.split("/");
  const last = parts.pop() ?? "";
  try {
    await (await folder(parts, false)).removeEntry(last, { recursive: true });
  } catch (error) {
    if (!isMissing(error)) throw new SandboxError(`${path} cannot be removed: ${reasonOf(error)}`, "FILE_OPERATION_FAILED", { cause: error });
  }
}

/** One at a time, in all pages of the origin. */
export async function alone<T>(pack: string, work: () => Promise<T>): Promise<T> {
  return navigator.locks.request(`tidebox-pack-${pack}`, work) as Promise<T>;
}

function isMissing(error: unknown): boolean {
  return error instanceof DOMException && error.name === "NotFoundError";
}
