/**
 * The programs of the package as they are packed: each is a piece of a Brotli stream that begins with the pieces of the
 * programs that it follows, because programs share most of what they are linked from. `build/archive.mjs` writes them.
 */

/** A program of the package, as `programs.json` lists it. */
export interface Listed {
  readonly file: string;
  /** Of the module, unpacked. */
  readonly bytes: number;
  readonly sha256: string;
  readonly commands: readonly string[];
  /** The programs with which its stream begins. */
  readonly after: readonly string[];
}

/** How the package is reached on this platform. */
export interface PackageFiles {
  read(file: string): Promise<Uint8Array>;
  /** The same while everything else waits. */
  readNow(file: string): Uint8Array;
  /** Unpacks a Brotli stream of so many bytes. */
  unpack(packed: Uint8Array, bytes: number): Promise<Uint8Array>;
  unpackNow(packed: Uint8Array, bytes: number): Uint8Array;
}

/** Ends a stream: no more data. */
const END = Uint8Array.of(3);

export class Archive {
  readonly #listed: ReadonlyMap<string, Listed>;
  readonly #files: PackageFiles;

  constructor(listed: readonly Listed[], files: PackageFiles) {
    this.#listed = new Map(listed.map((program) => [program.file, program]));
    this.#files = files;
  }

  has(file: string): boolean {
    return this.#listed.has(file);
  }

  /** The module of a program. */
  async module(file: string): Promise<Uint8Array<ArrayBuffer>> {
    const { names, before, bytes } = this.#stream(file);
    const pieces = await Promise.all(names.map((name) => this.#files.read(name)));
    return cut(await this.#files.unpack(joined(pieces), before + bytes), before, bytes, file);
  }

  /** The same at once. */
  moduleNow(file: string): Uint8Array<ArrayBuffer> {
    const { names, before, bytes } = this.#stream(file);
    const pieces = names.map((name) => this.#files.readNow(name));
    return cut(this.#files.unpackNow(joined(pieces), before + bytes), before, bytes, file);
  }

  /** The files are not named `.br`: servers say of those that they are compressed, and browsers then unpack them as a whole. */
  #stream(file: string): { names: string[]; before: number; bytes: number } {
    const { after, bytes } = this.#program(file);
    const before = after.reduce((sum, other) => sum + this.#program(other).bytes, 0);
    return { names: [...after, file].map((name) => `${name}.piece`), before, bytes };
  }

  #program(file: string): Listed {
    const program = this.#listed.get(file);
    if (program === undefined) throw new Error(`${file} is not in the package`);
    return program;
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, END.length));
  let at = 0;
  for (const piece of [...pieces, END]) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function cut(stream: Uint8Array, before: number, bytes: number, file: string): Uint8Array<ArrayBuffer> {
  if (stream.length !== before + bytes) throw new Error(`${file} of the package is damaged; install the package again`);
  return stream.subarray(before) as Uint8Array<ArrayBuffer>;
}
