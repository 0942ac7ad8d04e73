/** Files of a pack, as the sandbox shows them. The native Tidebox uses the same format. */

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { TREE } from "./packs.node.js";
import { INDEX } from "./pack_manifest.js";
import { files } from "./pack_zip.node.js";

/** A tree that is being built. */
export class PackTree {
  readonly #dir: string;
  readonly #lengths = new Map<string, number>();
  readonly #created = new Set<string>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  /**
   * Unpacks an archive into a directory of the sandbox. The file `inner` is itself an archive and becomes a directory with its
   * name without `.zip`. Omits files for which `wanted` returns false.
   */
  async unpack(archive: Buffer, dir: string, inner?: string, wanted: (path: string) => boolean = () => true): Promise<void> {
    for (const { name, unpack } of files(archive)) {
      if (!wanted(name)) continue;
      const content = await unpack();
      if (name !== inner) await this.put(`${dir}/${name}`, content);
      else await this.unpack(Buffer.from(content), `${dir}/${name.replace(/\.zip$/u, "")}`);
    }
  }

  async put(path: string, content: Uint8Array | string): Promise<void> {
    const names = path.split("/").slice(1);
    const safe = (name: string) => name !== "" && name !== "." && name !== ".." && !/[\\\0\n:]/u.test(name);
    if (!path.startsWith("/") || !names.every(safe)) {
      throw new Error(`an archive contains the unsafe path ${JSON.stringify(path)}`);
    }
    const host = join(this.#dir, TREE, ...names);
    const parent = dirname(host);
    if (!this.#created.has(parent)) {
      await mkdir(parent, { recursive: true });
      this.#created.add(parent);
    }
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    await writeFile(host, bytes);
    this.#lengths.set(path, bytes.length);
  }

  /** Writes the index of the files and returns it. */
  async finish(): Promise<string> {
    const paths = [...this.#lengths.keys()].sort();
    const index = paths.map((path) => `${this.#lengths.get(path)} ${path}\n`).join("");
    await writeFile(join(this.#dir, INDEX), index);
    return index;
  }
}
