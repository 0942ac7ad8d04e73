/**
 * The packed programs of the package. Each file is a segment of a Brotli stream that starts with the segments of other programs,
 * because programs share most of the code that they link. `build/archive.mjs` writes them.
 */

/** A program of the package, an entry of `programs.json`. */
export interface PackageProgram {
  readonly file: string;
  /** Size of the decompressed module. */
  readonly bytes: number;
  readonly sha256: string;
  readonly commands: readonly string[];
  /** The programs whose segments precede it in its stream. */
  readonly after: readonly string[];
  /** True if the package also has the module itself, which is read more quickly than decompressed. */
  readonly raw?: boolean;
}

/** Access to the files of the package on this platform. */
export interface PackageFiles {
  /** True if modules that are not compressed are read as files. Pages download the smaller segment instead. */
  readonly readsRaw?: boolean;
  read(file: string): Promise<Uint8Array>;
  /** Like {@link read}, but synchronous. */
  readNow(file: string): Uint8Array;
  /** Decompresses a Brotli stream to exactly `bytes` bytes. */
  unpack(packed: Uint8Array, bytes: number): Promise<Uint8Array>;
  unpackNow(packed: Uint8Array, bytes: number): Uint8Array;
}

/** Final Brotli meta-block: no more data. */
const END = Uint8Array.of(3);

export class Archive {
  readonly #listed: ReadonlyMap<string, PackageProgram>;
  readonly #files: PackageFiles;

  constructor(listed: readonly PackageProgram[], files: PackageFiles) {
    this.#listed = new Map(listed.map((program) => [program.file, program]));
    this.#files = files;
  }

  has(file: string): boolean {
    return this.#listed.has(file);
  }

  /** Returns the module of a program. */
  async module(file: string): Promise<Uint8Array<ArrayBuffer>> {
    const { names, before, bytes, raw } = this.#stream(file);
    if (raw) return moduleBytes(await this.#files.read(file), 0, bytes, file);
    const segments = await Promise.all(names.map((name) => this.#files.read(name)));
    return moduleBytes(await this.#files.unpack(concat(segments), before + bytes), before, bytes, file);
  }

  /** Like {@link module}, but synchronous. */
  moduleNow(file: string): Uint8Array<ArrayBuffer> {
    const { names, before, bytes, raw } = this.#stream(file);
    if (raw) return moduleBytes(this.#files.readNow(file), 0, bytes, file);
    const segments = names.map((name) => this.#files.readNow(name));
    return moduleBytes(this.#files.unpackNow(concat(segments), before + bytes), before, bytes, file);
  }

  /**
   * The files are not named `.br`: servers would send them with `Content-Encoding: br`, and browsers would decompress each file
   * on its own.
   */
  #stream(file: string): { names: string[]; before: number; bytes: number; raw: boolean } {
    const { after, bytes, raw: hasRaw = false } = this.#program(file);
    const raw = hasRaw && this.#files.readsRaw === true;
    const before = after.reduce((sum, other) => sum + this.#program(other).bytes, 0);
    return { names: [...after, file].map((name) => `${name}.piece`), before, bytes, raw };
  }

  #program(file: string): PackageProgram {
    const program = this.#listed.get(file);
    if (program === undefined) throw new Error(`${file} is not in the package`);
    return program;
  }
}

function concat(segments: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(segments.reduce((sum, { length }) => sum + length, END.length));
  let at = 0;
  for (const segment of [...segments, END]) {
    all.set(segment, at);
    at += segment.length;
  }
  return all;
}

function moduleBytes(stream: Uint8Array, before: number, bytes: number, file: string): Uint8Array<ArrayBuffer> {
  if (stream.length !== before + bytes) throw new Error(`${file} of the package is corrupt; reinstall the package`);
  return stream.subarray(before) as Uint8Array<ArrayBuffer>;
}
