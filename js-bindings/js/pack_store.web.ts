/** Storage of packs in a browser: the private file system of the page's origin (OPFS). */

import { SandboxError } from "./error.js";
import { messageOf } from "./error_message.js";

/** Path below the root of the origin. */
const ROOT = ["tidebox", "packs"];

/** Throws if the page has no such storage. */
export function checkStore(): void {
  if (globalThis.isSecureContext && navigator.storage?.getDirectory !== undefined && navigator.locks !== undefined) return;
  const message =
    "cannot store packs: this page has no private file system (OPFS); serve it over https or from localhost, to a current browser";
  throw new SandboxError(message, "UNSUPPORTED");
}

async function directory(names: readonly string[], create: boolean): Promise<FileSystemDirectoryHandle> {
  let found = await navigator.storage.getDirectory();
  for (const name of [...ROOT, ...names]) found = await found.getDirectoryHandle(name, { create });
  return found;
}

async function handle(path: string, create: boolean): Promise<FileSystemFileHandle> {
  const names = path.split("/");
  const last = names.pop() ?? "";
  return (await directory(names, create)).getFileHandle(last, { create });
}

/** Returns a file, or `undefined` if it does not exist. */
export async function file(path: string): Promise<File | undefined> {
  try {
    return await (await handle(path, false)).getFile();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Writes a file chunk by chunk. The file is replaced after all of it is written; on error it stays unchanged. */
export async function write(path: string, chunks: AsyncIterable<Uint8Array<ArrayBuffer>> | Iterable<Uint8Array<ArrayBuffer>>): Promise<void> {
  const to = await (await handle(path, true)).createWritable();
  try {
    for await (const chunk of chunks) await to.write(chunk);
    await to.close();
  } catch (cause) {
    await to.abort().catch(() => {});
    if (!(cause instanceof DOMException) || cause.name !== "QuotaExceededError") throw cause;
    const message = `cannot store ${path}: the storage of the browser is full; a pack takes about 300 MB, remove unused ones with removePack`;
    throw new SandboxError(message, "SETUP_FAILED", { cause });
  }
}

/** Lists the files of a pack. */
export async function names(pack: string): Promise<string[]> {
  const found: string[] = [];
  try {
    for await (const name of (await directory([pack], false)).keys()) found.push(name);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return found;
}

/** Removes a file or a whole pack. A missing one is not an error. */
export async function remove(path: string): Promise<void> {
  const parts = path.split("/");
  const last = parts.pop() ?? "";
  try {
    await (await directory(parts, false)).removeEntry(last, { recursive: true });
  } catch (error) {
    if (!isMissing(error)) throw new SandboxError(`cannot remove ${path}: ${messageOf(error)}`, "FILE_OPERATION_FAILED", { cause: error });
  }
}

/** Runs `work` exclusively among all pages of the origin. */
export async function withLock<T>(pack: string, work: () => Promise<T>): Promise<T> {
  return navigator.locks.request(`tidebox-pack-${pack}`, work) as Promise<T>;
}

function isMissing(error: unknown): boolean {
  return error instanceof DOMException && error.name === "NotFoundError";
}
