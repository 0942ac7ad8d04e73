/**
 * Finds the first byte of a memory that is not zero. Most of a stack is never written, and the system backs the pages that are only
 * read with one page of zeros: the scan is three times as quick as overwriting them, and does not make them resident.
 */

/** Bytes of a step; ranges are multiples of it. */
export const SCAN_STEP = 128;

/** Returns the start of the first step between two addresses that has a byte other than zero, or `end`. */
export type ZeroScan = (start: number, end: number) => number;

/** Operators of the function; see the binary format of WebAssembly. */
const [LOCAL_GET, LOCAL_SET, I32_CONST, I32_ADD, I32_LESS, LOOP, IF, BRANCH, RETURN, END] = [0x20, 0x21, 0x41, 0x6a, 0x49, 0x03, 0x04, 0x0c, 0x0f, 0x0b];
const [VECTOR, LOAD, OR, ANY_TRUE] = [0xfd, 0x00, 0x50, 0x53];
const VECTOR_BYTES = 16;
const [I32, NOTHING, ALIGNED] = [0x7f, 0x40, 4];
/** Local variables: the parameters. */
const [AT, LAST] = [0, 1];

/**
 * ```wat
 * (func (export "scan") (param $at i32) (param $end i32) (result i32)
 *   (loop $next
 *     (if (i32.lt_u (local.get $at) (local.get $end)) (then
 *       (if (v128.any_true (v128.or ...)) (then (return (local.get $at))))
 *       (local.set $at (i32.add (local.get $at) (i32.const 128)))
 *       (br $next))))
 *   (local.get $end))
 * ```
 */
function scanBody(): number[] {
  const load = (offset: number) => [LOCAL_GET, AT, VECTOR, LOAD, ALIGNED, offset];
  const loads = load(0);
  for (let offset = VECTOR_BYTES; offset < SCAN_STEP; offset += VECTOR_BYTES) loads.push(...load(offset), VECTOR, OR);
  return [
    0, LOOP, NOTHING, LOCAL_GET, AT, LOCAL_GET, LAST, I32_LESS, IF, NOTHING,
    ...loads, VECTOR, ANY_TRUE, IF, NOTHING, LOCAL_GET, AT, RETURN, END,
    LOCAL_GET, AT, I32_CONST, SCAN_STEP | 0x80, SCAN_STEP >> 7, I32_ADD, LOCAL_SET, AT, BRANCH, 1,
    END, END, LOCAL_GET, LAST, END,
  ];
}

const name = (text: string) => [text.length, ...new TextEncoder().encode(text)];

/** All lengths are below 128, which is their encoding, but that of the code. */
function scanModule(): WebAssembly.Module {
  const section = (id: number, content: number[]) => [id, (content.length & 0x7f) | 0x80, content.length >> 7, ...content];
  const body = scanBody();
  return new WebAssembly.Module(new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 2, I32, I32, 1, I32]),
    ...section(2, [1, ...name("guest"), ...name("memory"), 2, 0, 0]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...name("scan"), 0, 0]),
    ...section(10, [1, (body.length & 0x7f) | 0x80, body.length >> 7, ...body]),
  ]));
}

let compiled: WebAssembly.Module | undefined;

/** Returns the scan of a memory. */
export function zeroScan(memory: WebAssembly.Memory): ZeroScan {
  compiled ??= scanModule();
  const { exports } = new WebAssembly.Instance(compiled, { guest: { memory } });
  return exports["scan"] as ZeroScan;
}
