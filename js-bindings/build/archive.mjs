// Packs the programs of the package: `node archive.mjs FOLDER PACKAGE CACHE` takes the rewritten modules and their list from
// FOLDER, writes `PACKAGE/*.piece` and the list `PACKAGE/programs.json`, and keeps in CACHE what does not change.
//
// The programs share most of what they are linked from, so each is packed as the continuation of others: a piece of a Brotli
// stream that begins with the pieces of the programs that the list names in `after`. Any decoder of Brotli unpacks it: the
// pieces, one after the other, and an end. Brotli, because zlib of Node and of Deno has it and its window reaches over several
// programs (zstd packs as well and quicker, but Node 20 lacks it; xz packs a little better, but nobody has it and it unpacks
// at a tenth of the speed).

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { constants, createBrotliCompress } from "node:zlib";

/** What others begin with, in this order: a small program that has most of the Rust library, and one that has regular expressions. */
const FIRST = ["base.wasm", "text.wasm"];

/**
 * The program of the first command of every sandbox, which the package also has as it is, for Node and Deno: unpacking it takes
 * longer than reading it. Pages download the piece.
 */
const RAW = "sh.wasm";

/** A program follows more of them only for so much less: they are unpacked first, every time. */
const WORTH = 0.95;

/** The best that there is: an eighth smaller than 9, and unpacked as quickly. It takes two minutes for all programs, once. */
const QUALITY = 11;
/** Only to choose what a program follows. */
const TRIAL = 5;

/** What a packed program depends on beside itself. */
const version = createHash("sha256").update(`1 ${QUALITY} ${FIRST}`);

const [folder, out, cache] = process.argv.slice(2);
if (cache === undefined) {
  console.error("usage: node archive.mjs FOLDER PACKAGE CACHE");
  process.exit(2);
}

const listed = JSON.parse(readFileSync(join(folder, "programs.json"), "utf8"));
const content = (file) => readFileSync(join(folder, file));
const chains = [[], ...FIRST.map((_, at) => FIRST.slice(0, at + 1))];
const first = FIRST.map((file) => [file, content(file)]);
for (const [, wasm] of first) version.update(wasm);
const salt = version.digest();

/** The last piece of a stream of these contents. */
async function piece(contents, quality) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  const stream = createBrotliCompress({ params });
  let pieces = [];
  stream.on("data", (bytes) => pieces.push(bytes));
  for (const bytes of contents) {
    pieces = [];
    stream.write(bytes);
    await new Promise((resolve, reject) => {
      stream.once("error", reject);
      stream.flush(constants.BROTLI_OPERATION_FLUSH, resolve);
    });
  }
  stream.destroy();
  return Buffer.concat(pieces);
}

/** What a program follows: as little as is worth it. */
async function chain(file, wasm) {
  const known = FIRST.indexOf(file);
  if (known >= 0) return chains[known];
  let best = { after: [], bytes: Infinity };
  for (const after of chains) {
    const { length } = await piece([...after.map(content), wasm], TRIAL);
    if (length < best.bytes * WORTH) best = { after, bytes: length };
  }
  return best.after;
}

async function pack({ file }, kept) {
  const wasm = content(file);
  const key = createHash("sha256").update(salt).update(file).update(wasm).digest("hex");
  const found = kept.find((name) => name.startsWith(key));
  if (found !== undefined) return { name: found, after: chains[Number(found.at(-1))], packed: readFileSync(join(cache, found)) };
  const after = await chain(file, wasm);
  const packed = await piece([...after.map(content), wasm], QUALITY);
  const name = `${key}.${after.length}`;
  writeFileSync(join(cache, name), packed);
  return { name, after, packed };
}

mkdirSync(cache, { recursive: true });
mkdirSync(out, { recursive: true });
const kept = readdirSync(cache);
const used = new Set();
const waiting = [...listed];

/** Packs one program after the other, beside others that do. */
async function work() {
  for (let program = waiting.shift(); program !== undefined; program = waiting.shift()) {
    const { name, after, packed } = await pack(program, kept);
    used.add(name);
    program.after = after;
    if (program.file === RAW) {
      program.raw = true;
      writeFileSync(join(out, program.file), content(program.file));
    }
    writeFileSync(join(out, `${program.file}.piece`), packed);
    console.log(`${program.file}: ${program.bytes} bytes, packed ${packed.length}${after.length > 0 ? ` after ${after.join(" and ")}` : ""}`);
  }
}

// Node has four threads for this.
await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work));
for (const name of kept) if (!used.has(name)) rmSync(join(cache, name));
writeFileSync(join(out, "programs.json"), JSON.stringify(listed));
