/** The files of a pack, as the sandbox shows them. The native Tidebox reads the same. */

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { TREE } from "./packs.node.js";
import { INDEX } from "./packs_known.js";
import { files } from "./pack_zip.node.js";

/** A tree that is being put together. */
export class PackTree {
  readonly #folder: string;
  readonly #lengths = new Map<string, number>();
  readonly #made = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Unpacks an archive into a directory of the sandbox. `inner` is a file of it that is an archive itself, and becomes a directory of
   * its name without the ending.
   */
  async unpack(archive: Buffer, dir: string, inner?: string): Promise<void> {
    for (const { name, unpack } of files(archive)) {
      const content = await unpack();
      if (name !== inner) await this.put(`${dir}/${name}`, content);
      else await this.unpack(Buffer.from(content), `${dir}/${name.replace(/\.zip$/u, "")}`);
    }
  }

  async put(path: string, content: Uint8Array | string): Promise<void> {
    const names = path.split("/").slice(1);
    const safe = (name: string) => name !== "" && name !== "." && name !== ".." && !/[\\\0\n:]/u.test(name);
    if (!path.startsWith("/") || !names.every(safe)) {
      throw new Error(`an archive holds ${JSON.stringify(path)}, which is no path to unpack`);
    }
    const host = join(this.#folder, TREE, ...names);
    const parent = dirname(host);
    if (!this.#made.has(parent)) {
      await mkdir(parent, { recursive: true });
      this.#made.add(parent);
    }
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    await writeFile(host, bytes);
    this.#lengths.set(path, bytes.length);
  }

  /** Writes the list of what is there, and answers it. */
  async finish(): Promise<string> {
    const paths = [...this.#lengths.keys()].sort();
    const index = paths.map((path) => `${this.#lengths.get(path)} ${path}\n`).join("");
    await writeFile(join(this.#folder, INDEX), index);
    return index;
  }
}
