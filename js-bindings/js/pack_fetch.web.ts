/** Download of a pack from a server of the application. Only the hashes of its list are trusted. */

import { SandboxError } from "./error.js";
import type { ServedFile, ServedPack } from "./pack_file.js";
import { BLOCK, servedAs } from "./pack_file.js";
import type { ProgressCallback } from "./pack_options.js";
import { file, write } from "./pack_store.web.js";
import { RECORD, sha256 } from "./pack_manifest.js";
import { messageOf } from "./error_message.js";

/** Source and options of a download. */
export interface DownloadOptions {
  /** URL of the directory; ends with a slash. */
  readonly from: URL;
  /** Required SHA-256 of its list. */
  readonly sha256: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly progress: ProgressCallback;
}

/** Downloads the list of files. */
export async function fetchList({ from, sha256: pinned, signal }: DownloadOptions): Promise<ServedPack> {
  const url = new URL(RECORD, from);
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(await (await get(url, signal)).arrayBuffer());
  } catch (cause) {
    throw unreachable(url, cause);
  }
  if (pinned !== undefined && (await sha256(bytes)) !== pinned) throw notPinned(url);
  try {
    const list: ServedPack = JSON.parse(new TextDecoder().decode(bytes));
    const good = (file: ServedFile) => typeof file.name === "string" && typeof file.bytes === "number" && Array.isArray(file.blocks);
    if (Array.isArray(list.files) && list.files.every(good)) return list;
  } catch {
    // The error is thrown below.
  }
  throw new SandboxError(`${url} is not the list of a pack; 'from' must be a directory written by npx tidebox pack export`, "SETUP_FAILED");
}

/** Downloads a file, unless it is complete from an earlier attempt. */
export async function fetchFile(entry: ServedFile, path: string, options: DownloadOptions): Promise<void> {
  if (await isComplete(entry, path)) return;
  const url = new URL(servedAs(entry.name), options.from);
  const report = (done: number) => options.progress(`downloading ${entry.name}`, { done, total: entry.bytes });
  report(0);
  try {
    const { body } = await get(url, options.signal);
    if (body === null) throw new Error("the response has no body");
    const unpacked = body.pipeThrough(new DecompressionStream("gzip") as unknown as ReadableWritablePair<Uint8Array, Uint8Array<ArrayBuffer>>);
    await write(path, checked(unpacked, entry, url, report));
  } catch (cause) {
    throw cause instanceof SandboxError ? cause : unreachable(url, cause);
  }
}

async function isComplete({ bytes, blocks }: ServedFile, path: string): Promise<boolean> {
  const found = await file(path);
  if (found?.size !== bytes) return false;
  for (const [n, block] of blocks.entries()) {
    const chunk = await found.slice(n * BLOCK, (n + 1) * BLOCK).arrayBuffer();
    if ((await sha256(new Uint8Array(chunk))) !== block) return false;
  }
  return true;
}

async function get(url: URL, signal: AbortSignal | undefined): Promise<Response> {
  const response = await fetch(url, { signal: signal ?? null });
  if (!response.ok) throw new Error(`the server responded ${response.status}`);
  return response;
}

/** Yields the blocks of a stream after checking the hash of each one. `report` receives the number of checked bytes. */
async function* checked(
  stream: ReadableStream<Uint8Array>, { bytes, blocks }: ServedFile, url: URL, report: (done: number) => void,
): AsyncIterable<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  let block = new Uint8Array(BLOCK);
  let [filled, done] = [0, 0];
  const check = async (chunk: Uint8Array<ArrayBuffer>) => {
    if ((await sha256(chunk)) !== blocks[done]) throw notPinned(url);
    done += 1;
    report(Math.min(done * BLOCK, bytes));
    return chunk;
  };
  for (let { value, done: finished } = await reader.read(); !finished && value !== undefined; { value, done: finished } = await reader.read()) {
    for (let at = 0; at < value.length; ) {
      const part = value.subarray(at, at + BLOCK - filled);
      block.set(part, filled);
      [at, filled] = [at + part.length, filled + part.length];
      if (filled < BLOCK) continue;
      yield await check(block);
      [block, filled] = [new Uint8Array(BLOCK), 0];
    }
  }
  if (filled > 0) yield await check(block.slice(0, filled));
  if (done !== blocks.length) throw new Error(`the response ended before ${bytes} bytes`);
}

function unreachable(url: URL, cause: unknown): SandboxError {
  const message =
    `cannot download ${url}: ${messageOf(cause)}; 'from' must be the URL of a directory written by npx tidebox pack export, and a server ` +
    "of another origin must send Access-Control-Allow-Origin. Completed downloads are kept; try again";
  return new SandboxError(message, "SETUP_FAILED", { cause });
}

function notPinned(url: URL): SandboxError {
  return new SandboxError(`${url} does not match its pinned hash (SHA-256); the server cannot be trusted`, "SETUP_FAILED");
}
