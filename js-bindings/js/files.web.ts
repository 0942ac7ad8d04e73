/** Access to the files of the package in browsers. */

import type { PackageFiles } from "./archive.js";
import { decompress } from "./kernel.js";
import userland from "./userland.web.js";

function address(file: string): URL {
  const url = userland[file];
  if (url === undefined) throw new Error(`${file} is not in the package`);
  return url;
}

function checkLoaded(loaded: boolean, url: URL, status: number): void {
  if (!loaded) throw new Error(`cannot load ${url} (${status}); serve the whole package`);
}

async function read(file: string): Promise<Uint8Array> {
  const url = address(file);
  const response = await fetch(url);
  checkLoaded(response.ok, url, response.status);
  return new Uint8Array(await response.arrayBuffer());
}

/** Reads a file synchronously. A page may do so only as text; this character set keeps each byte as the low byte of a character. */
function readNow(file: string): Uint8Array {
  const url = address(file);
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  const isPage = typeof document === "object";
  if (isPage) request.overrideMimeType("text/plain; charset=x-user-defined");
  else request.responseType = "arraybuffer";
  request.send();
  checkLoaded(request.status === 200 || url.protocol === "data:", url, request.status);
  if (!isPage) return new Uint8Array(request.response as ArrayBuffer);
  return Uint8Array.from(request.responseText, (character) => character.charCodeAt(0) & 0xff);
}

/** Browsers have no Brotli API for scripts, so the kernel's module decompresses. */
export const webFiles: PackageFiles = { read, readNow, unpack: async (packed, bytes) => decompress(packed, bytes), unpackNow: decompress };
