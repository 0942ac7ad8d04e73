/** Getting a pack from where the application has it, and trusting nothing but its list of hashes. */

import { SandboxError } from "./error.js";
import type { ServedFile, ServedPack } from "./pack_file.js";
import { BLOCK, servedAs } from "./pack_file.js";
import { file, write } from "./pack_store.web.js";
import { RECORD, sha256 } from "./packs_known.js";
import { reasonOf } from "./reason.js";

/** Where a pack is fetched from. */
export interface Fetching {
  /** The folder; ends with a slash. */
  readonly from: URL;
  /** What its list must be. */
  readonly sha256: string | undefined;
  readonly signal: AbortSignal | undefined;
  progress(what: string): void;
}

/** The list of what is there. */
export async function fetchList({ from, sha256: pinned, signal }: Fetching): Promise<ServedPack> {
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
    // Said below.
  }
  throw new SandboxError(`${url} is not the list of a pack; 'from' is a folder that npx tidebox pack export has made`, "SETUP_FAILED");
}

/** Fetches a file, unless all of it is there from an attempt that broke off. */
export async function fetchFile(wanted: ServedFile, path: string, fetching: Fetching): Promise<void> {
  if (await isThere(wanted, path)) return;
  const url = new URL(servedAs(wanted.name), fetching.from);
  fetching.progress(`fetching ${wanted.name}`);
  try {
    const { body } = await get(url, fetching.signal);
    if (body === null) throw new Error("the answer has no body");
    const unpacked = body.pipeThrough(new DecompressionStream("gzip") as unknown as ReadableWritablePair<Uint8Array, Uint8Array<ArrayBuffer>>);
    await write(path, checked(unpacked, wanted, url));
  } catch (cause) {
    throw cause instanceof SandboxError ? cause : unreachable(url, cause);
  }
}

async function isThere({ bytes, blocks }: ServedFile, path: string): Promise<boolean> {
  const found = await file(path);
  if (found?.size !== bytes) return false;
  for (const [n, block] of blocks.entries()) {
    const piece = await found.slice(n * BLOCK, (n + 1) * BLOCK).arrayBuffer();
    if ((await sha256(new Uint8Array(piece))) !== block) return false;
  }
  return true;
}

async function get(url: URL, signal: AbortSignal | undefined): Promise<Response> {
  const response = await fetch(url, { signal: signal ?? null });
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  return response;
}

/** Blocks of a stream, each held to its hash before anybody has it. */
async function* checked(stream: ReadableStream<Uint8Array>, { bytes, blocks }: ServedFile, url: URL): AsyncIterable<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  let block = new Uint8Array(BLOCK);
  let [filled, done] = [0, 0];
  const check = async (piece: Uint8Array<ArrayBuffer>) => {
    if ((await sha256(piece)) !== blocks[done]) throw notPinned(url);
    done += 1;
    return piece;
  };
  for (let { value, done: over } = await reader.read(); !over && value !== undefined; { value, done: over } = await reader.read()) {
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
  if (done !== blocks.length) throw new Error(`the answer ends before ${bytes} bytes`);
}

function unreachable(url: URL, cause: unknown): SandboxError {
  const message =
    `${url} cannot be fetched: ${reasonOf(cause)}; 'from' is the address of a folder that npx tidebox pack export has made, and another ` +
    "server than the page's must send Access-Control-Allow-Origin. Files that were fetched are kept: try again when the cause is gone";
  return new SandboxError(message, "SETUP_FAILED", { cause });
}

function notPinned(url: URL): SandboxError {
  return new SandboxError(`${url} is not what was pinned (SHA-256); what that server delivers cannot be trusted`, "SETUP_FAILED");
}
