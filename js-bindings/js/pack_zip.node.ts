/** Zip reader for wheels. Their content is trusted because the hash of the whole file was checked. */

import { promisify } from "node:util";
import { inflateRaw } from "node:zlib";

const inflate = promisify(inflateRaw);

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const END_BYTES = 22;
/** Maximum length of the comment at the end of an archive. */
const REMARK = 65535;

/** A file of an archive. */
export interface Packed {
  readonly name: string;
  unpack(): Promise<Uint8Array>;
}

/** Yields the files of an archive in order. */
export function* files(zip: Buffer): Iterable<Packed> {
  let at = zip.length - END_BYTES;
  for (const first = Math.max(0, at - REMARK); at >= first && zip.readUInt32LE(at) !== END; ) at -= 1;
  if (at < 0 || zip.readUInt32LE(at) !== END) throw new Error("corrupt archive: it has no end record");
  const count = zip.readUInt16LE(at + 10);
  let entry = zip.readUInt32LE(at + 16);
  for (let n = 0; n < count; n += 1) {
    if (zip.readUInt32LE(entry) !== ENTRY) throw new Error("corrupt archive: its directory is truncated");
    const method = zip.readUInt16LE(entry + 10);
    const [packed, bytes] = [zip.readUInt32LE(entry + 20), zip.readUInt32LE(entry + 24)];
    const [nameLength, extra, remark] = [28, 30, 32].map((field) => zip.readUInt16LE(entry + field)) as [number, number, number];
    const head = zip.readUInt32LE(entry + 42);
    const name = zip.toString("utf8", entry + 46, entry + 46 + nameLength);
    entry += 46 + nameLength + extra + remark;
    if (name.endsWith("/")) continue;
    yield { name, unpack: () => unpack(zip, head, method, packed, bytes, name) };
  }
}

async function unpack(zip: Buffer, head: number, method: number, packed: number, bytes: number, name: string): Promise<Uint8Array> {
  const begin = head + 30 + zip.readUInt16LE(head + 26) + zip.readUInt16LE(head + 28);
  const data = zip.subarray(begin, begin + packed);
  if (method !== 0 && method !== 8) throw new Error(`${name}: unsupported compression method`);
  const content = method === 0 ? data : await inflate(data, { maxOutputLength: Math.max(bytes, 1) });
  if (content.length !== bytes) throw new Error(`${name}: corrupt archive`);
  return content;
}
