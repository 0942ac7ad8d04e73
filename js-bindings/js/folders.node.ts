/**
 * Folders of the host in Node and in Deno.
 *
 * A path is gone through one directory at a time, each opened relative to the one before and without following a link, so that
 * nothing outside is reached whoever changes the folder meanwhile. Where the system cannot open relative to a directory
 * (`/proc/self/fd` is Linux's), each directory on the way is looked at instead, which leaves a moment between look and use; a
 * file that was opened meanwhile is used only when it is the one that is at its path afterwards, too.
 */

import type { Stats } from "node:fs";
import * as fs from "node:fs";

import type { FolderHost } from "./folders.js";
import { checkMove, checkTarget, depth } from "./folder_links.js";
import { errno, numbers } from "./errno.js";
import type { MountSettings } from "./messages.js";

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = fs.constants;
/** Linux: a descriptor that only names its object. */
const O_PATH = process.platform === "linux" ? 0x200000 : 0;

const SLASH = 47;
const HERE = Buffer.from("/.");

/** What an object is, as `src/host_mount.rs` reads it. */
const FILE = 1;
const DIRECTORY = 2;
const LINK = 3;
const HIDDEN = 0;

interface Folder {
  /** An open descriptor of it. */
  readonly descriptor: number;
  /** Its real path, for systems without `/proc/self/fd`. */
  readonly real: Buffer;
  readonly mode: MountSettings["mode"];
}

/** Runs work of the host; its errors become numbers. */
function told<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw errno(error);
  }
}

export class NodeFolders implements FolderHost {
  #folders: Folder[] = [];
  /** Whether paths can begin at a descriptor. */
  #anchored = false;
  /** File systems that are windows on the machine and not storage: `/proc`, `/sys`, `/dev`. */
  #windows: number[] = [];

  open(mounts: readonly MountSettings[]): void {
    if (mounts.length === 0) return;
    this.#windows = windows();
    this.#folders = mounts.map(({ folder, mode }) => this.#openOne(folder, mode));
    this.#anchored = this.#folders.every(isAnchor);
  }

  #openOne(folder: string, mode: MountSettings["mode"]): Folder {
    try {
      const descriptor = fs.openSync(folder, O_RDONLY | O_DIRECTORY);
      const found = fs.fstatSync(descriptor);
      if (!found.isDirectory()) throw new Error("it is no folder");
      if (this.#windows.includes(found.dev)) {
        throw new Error("it shows this machine's processes and devices, which no sandbox may reach");
      }
      return { descriptor, real: Buffer.from(fs.realpathSync(folder)), mode };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`the folder '${folder}' cannot be mounted: ${why}; name a folder that exists and that you may open`);
    }
  }

  #folder(folder: number): Folder {
    const found = this.#folders[folder];
    if (found === undefined) throw numbers.ESTALE;
    return found;
  }

  /** Work on the name of a path, in a directory that is surely below the folder. */
  #at<T>(folder: number, path: Uint8Array, work: (place: Buffer) => T): T {
    const { descriptor, real } = this.#folder(folder);
    const names = split(path);
    const last = names.pop();
    if (!this.#anchored) return told(() => work(checked(real, names, last)));
    return told(() => {
      if (last === undefined) return work(Buffer.concat([self(descriptor), HERE]));
      let at = descriptor;
      try {
        for (const name of names) {
          const next = fs.openSync(below(self(at), name), O_PATH | O_DIRECTORY | O_NOFOLLOW);
          if (at !== descriptor) fs.closeSync(at);
          at = next;
        }
        return work(below(self(at), last));
      } finally {
        if (at !== descriptor) fs.closeSync(at);
      }
    });
  }

  /** Work on a descriptor of what is at a path, which is no link. */
  #opened<T>(folder: number, path: Uint8Array, work: (descriptor: number, by: Buffer | undefined) => T): T {
    return this.#at(folder, path, (place) => {
      if (this.#look(place) === LINK) throw numbers.ENOTSUP;
      const flags = this.#anchored ? O_PATH | O_NOFOLLOW : O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY;
      const descriptor = fs.openSync(place, flags);
      try {
        return work(descriptor, this.#anchored ? self(descriptor) : undefined);
      } finally {
        fs.closeSync(descriptor);
      }
    });
  }

  #look(place: Buffer): number {
    const found = fs.lstatSync(place);
    if (this.#windows.includes(found.dev)) throw numbers.EACCES;
    return kind(found);
  }

  folderIsWritable(folder: number): boolean {
    return this.#folders[folder]?.mode === "readWrite";
  }

  folderStat(folder: number, path: Uint8Array, fields: Float64Array): void {
    this.#at(folder, path, (place) => {
      const found = fs.lstatSync(place, { bigint: true });
      if (this.#windows.includes(Number(found.dev))) throw numbers.EACCES;
      // The folder itself was removed.
      if (path.length === 0 && found.nlink === 0n) throw numbers.ESTALE;
      describe(found, fields);
    });
  }

  folderList(folder: number, path: Uint8Array): [Uint8Array, number][] {
    return this.#at(folder, path, (place) => {
      if (this.#look(place) !== DIRECTORY) throw numbers.ENOTDIR;
      const descriptor = fs.openSync(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      try {
        const listed = this.#anchored ? Buffer.concat([self(descriptor), HERE]) : place;
        const entries = fs.readdirSync(listed, { withFileTypes: true, encoding: "buffer" });
        return entries.map((entry): [Uint8Array, number] => [Buffer.from(entry.name), kind(entry)]);
      } finally {
        fs.closeSync(descriptor);
      }
    });
  }

  folderReadLink(folder: number, path: Uint8Array): Uint8Array {
    return this.#at(folder, path, (place) => fs.readlinkSync(place, { encoding: "buffer" }));
  }

  folderOpen(folder: number, path: Uint8Array, write: boolean): number {
    return this.#at(folder, path, (place) => {
      // Looked at first, because opening a device can do something, and a pipe's other end would notice.
      if (this.#look(place) !== FILE) throw numbers.EINVAL;
      // And looked at again when it is open, without having waited for the other end of a pipe that took its place.
      const flags = (write ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY;
      const descriptor = fs.openSync(place, flags);
      try {
        this.#verify(folder, path, descriptor);
      } catch (error) {
        fs.closeSync(descriptor);
        throw error;
      }
      return descriptor;
    });
  }

  /** Refuses a descriptor that is none of a file, or of another file than the one which is at the path now. */
  #verify(folder: number, path: Uint8Array, descriptor: number): void {
    const opened = fs.fstatSync(descriptor);
    if (!opened.isFile()) throw numbers.EINVAL;
    if (this.#anchored) return;
    const there = this.#at(folder, path, (place) => fs.lstatSync(place));
    if (opened.ino !== there.ino || opened.dev !== there.dev) throw numbers.ESTALE;
  }

  folderCreate(folder: number, path: Uint8Array, mode: number): void {
    this.#at(folder, path, (place) => {
      fs.closeSync(fs.openSync(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode & 0o777));
    });
  }

  folderCreateDir(folder: number, path: Uint8Array, mode: number): void {
    this.#at(folder, path, (place) => fs.mkdirSync(place, mode & 0o777));
  }

  folderSymlink(folder: number, target: Uint8Array, path: Uint8Array): void {
    checkTarget(target, depth(path));
    this.#at(folder, path, (place) => fs.symlinkSync(Buffer.from(target), place));
  }

  folderHardLink(folder: number, existing: Uint8Array, path: Uint8Array): void {
    this.#at(folder, existing, (from) => {
      if (this.#look(from) !== FILE) throw numbers.EPERM;
      this.#at(folder, path, (to) => fs.linkSync(from, to));
    });
  }

  folderRemove(folder: number, path: Uint8Array, directory: boolean): void {
    this.#at(folder, path, (place) => (directory ? fs.rmdirSync(place) : fs.unlinkSync(place)));
  }

  folderRename(folder: number, from: Uint8Array, to: Uint8Array): void {
    this.#at(folder, from, (old) => {
      checkMove(this, folder, from, to, this.#look(old));
      this.#at(folder, to, (place) => {
        // What does not show is not replaced either.
        const there = fs.lstatSync(place, { throwIfNoEntry: false });
        if (there !== undefined && kind(there) === HIDDEN) throw numbers.EBUSY;
        fs.renameSync(old, place);
      });
    });
  }

  folderSetMode(folder: number, path: Uint8Array, mode: number): void {
    this.#opened(folder, path, (descriptor, by) => {
      if (by === undefined) fs.fchmodSync(descriptor, mode & 0o777);
      else fs.chmodSync(by, mode & 0o777);
    });
  }

  folderSetTimes(folder: number, path: Uint8Array, atime: number, mtime: number): void {
    this.#opened(folder, path, (descriptor, by) => {
      const found = fs.fstatSync(descriptor);
      const [accessed, changed] = [atime < 0 ? found.atimeMs / 1e3 : atime, mtime < 0 ? found.mtimeMs / 1e3 : mtime];
      if (by === undefined) fs.futimesSync(descriptor, accessed, changed);
      else fs.utimesSync(by, accessed, changed);
    });
  }

  fileStat(file: number, fields: Float64Array): void {
    told(() => describe(fs.fstatSync(file, { bigint: true }), fields));
  }

  fileRead(file: number, offset: number, to: Uint8Array): number {
    return told(() => fs.readSync(file, to, 0, to.length, offset));
  }

  fileWrite(file: number, offset: number, from: Uint8Array): number {
    return told(() => fs.writeSync(file, from, 0, from.length, offset));
  }

  fileSetLen(file: number, length: number): void {
    told(() => fs.ftruncateSync(file, length));
  }

  fileSync(file: number): void {
    told(() => fs.fsyncSync(file));
  }

  fileClose(file: number): void {
    try {
      fs.closeSync(file);
    } catch {
      // Nobody hears of it.
    }
  }
}

/** The path of a descriptor. */
function self(descriptor: number): Buffer {
  return Buffer.from(`/proc/self/fd/${descriptor}`);
}

function below(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.of(SLASH), name]);
}

/** Whether paths can begin at this folder's descriptor. Deno wants every permission for `/proc`. */
function isAnchor({ descriptor }: Folder): boolean {
  if (O_PATH === 0) return false;
  try {
    const [one, other] = [fs.fstatSync(descriptor), fs.lstatSync(Buffer.concat([self(descriptor), HERE]))];
    return one.ino === other.ino && one.dev === other.dev;
  } catch {
    return false;
  }
}

function split(path: Uint8Array): Buffer[] {
  const all = Buffer.from(path);
  const names: Buffer[] = [];
  for (let at = 0; at < all.length; ) {
    const slash = all.indexOf(SLASH, at);
    const end = slash < 0 ? all.length : slash;
    names.push(all.subarray(at, end));
    at = end + 1;
  }
  return names;
}

/** A path of which each directory is one and no link, as far as a look can tell. */
function checked(real: Buffer, names: readonly Buffer[], last: Buffer | undefined): Buffer {
  let place = real;
  for (const name of names) {
    place = below(place, name);
    if (!fs.lstatSync(place).isDirectory()) throw numbers.ENOTDIR;
  }
  const found = fs.realpathSync(place, { encoding: "buffer" }) as Buffer;
  if (!found.equals(place)) throw numbers.EPERM;
  return last === undefined ? place : below(place, last);
}

function kind(found: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): number {
  if (found.isFile()) return FILE;
  if (found.isDirectory()) return DIRECTORY;
  return found.isSymbolicLink() ? LINK : HIDDEN;
}

const SECOND = 1_000_000_000n;

function describe(found: fs.BigIntStats, fields: Float64Array): void {
  const time = (nanoseconds: bigint) => [Number(nanoseconds / SECOND), Number(nanoseconds % SECOND)];
  fields.set([
    kind(found), Number(found.mode & 0o777n), Number(found.nlink), Number(found.size),
    ...time(found.atimeNs), ...time(found.mtimeNs), ...time(found.ctimeNs),
  ]);
}

/** In a container some of these are ordinary folders of it. */
function windows(): number[] {
  const device = (path: string): number | undefined => {
    try {
      return (fs.statSync(path) as Stats).dev;
    } catch {
      return undefined;
    }
  };
  const root = device("/");
  const found = ["/proc", "/sys", "/dev", "/dev/pts", "/dev/mqueue"].map(device);
  return found.filter((dev): dev is number => dev !== undefined && dev !== root);
}
