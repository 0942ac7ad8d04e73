/**
 * Host directories in Node and Deno.
 *
 * A path is resolved one directory at a time. Each directory is opened relative to its parent and without following links, so
 * that concurrent changes cannot lead outside. If the system cannot open relative to a directory (`/proc/self/fd` exists only on
 * Linux), each directory is checked with `lstat` instead, which leaves a race between check and use. There, an opened file is
 * used only if its path still refers to it afterwards.
 */

import type { Stats } from "node:fs";
import * as fs from "node:fs";

import type { DirectoryHost } from "./directories.js";
import { checkMove, checkTarget, depth } from "./directory_links.js";
import { errno, numbers } from "./errno.js";
import type { MountSettings } from "./messages.js";

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = fs.constants;
/** Linux: a descriptor that only identifies its object. */
const O_PATH = process.platform === "linux" ? 0x200000 : 0;

const SLASH = 47;
const DOT = Buffer.from("/.");

/** File types, as `src/host_mount.rs` reads them. */
const FILE = 1;
const DIRECTORY = 2;
const LINK = 3;
const HIDDEN = 0;

interface Directory {
  /** An open descriptor of the directory. */
  readonly descriptor: number;
  /** Its real path, for systems without `/proc/self/fd`. */
  readonly real: Buffer;
  readonly mode: MountSettings["mode"];
}

/** Runs a file system call. Its errors are thrown as errno values. */
function withErrno<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw errno(error);
  }
}

export class NodeDirectories implements DirectoryHost {
  readonly #directories = new Map<number, Directory>();
  #last = 0;
  /** True if paths can be resolved from a descriptor. */
  #anchored = false;
  /** Device numbers of file systems that expose the host and store nothing: `/proc`, `/sys`, `/dev`. */
  #pseudoFileSystems: number[] = [];

  open(mounts: readonly MountSettings[]): number {
    const first = this.#last + 1;
    if (mounts.length === 0) return first;
    this.#pseudoFileSystems = pseudoFileSystems();
    this.#last += mounts.length;
    try {
      for (const [at, { directory, mode }] of mounts.entries()) this.#directories.set(first + at, this.#openDirectory(directory, mode));
    } catch (error) {
      this.close(first, mounts.length);
      throw error;
    }
    this.#anchored = [...this.#directories.values()].every(isAnchor);
    return first;
  }

  close(first: number, count: number): void {
    for (let number = first; number < first + count; number += 1) {
      const directory = this.#directories.get(number);
      this.#directories.delete(number);
      if (directory !== undefined) fs.closeSync(directory.descriptor);
    }
  }

  #openDirectory(dir: string, mode: MountSettings["mode"]): Directory {
    try {
      const descriptor = fs.openSync(dir, O_RDONLY | O_DIRECTORY);
      const stats = fs.fstatSync(descriptor);
      if (!stats.isDirectory()) throw new Error("it is not a directory");
      if (this.#pseudoFileSystems.includes(stats.dev)) {
        throw new Error("it exposes processes and devices of the host");
      }
      return { descriptor, real: Buffer.from(fs.realpathSync(dir)), mode };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`cannot mount the directory '${dir}': ${why}; specify an existing directory that you may open`);
    }
  }

  #dir(dir: number): Directory {
    const directory = this.#directories.get(dir);
    if (directory === undefined) throw numbers.ESTALE;
    return directory;
  }

  /** Calls `work` with the path of an entry whose parent is verified to be below the mounted directory. */
  #at<T>(dir: number, path: Uint8Array, work: (hostPath: Buffer) => T): T {
    const { descriptor, real } = this.#dir(dir);
    const names = split(path);
    const last = names.pop();
    if (!this.#anchored) return withErrno(() => work(checkedPath(real, names, last)));
    return withErrno(() => {
      if (last === undefined) return work(Buffer.concat([descriptorPath(descriptor), DOT]));
      let at = descriptor;
      try {
        for (const name of names) {
          const next = fs.openSync(below(descriptorPath(at), name), O_PATH | O_DIRECTORY | O_NOFOLLOW);
          if (at !== descriptor) fs.closeSync(at);
          at = next;
        }
        return work(below(descriptorPath(at), last));
      } finally {
        if (at !== descriptor) fs.closeSync(at);
      }
    });
  }

  /** Calls `work` with a descriptor of the object at a path, which must not be a link. */
  #opened<T>(dir: number, path: Uint8Array, work: (descriptor: number, procPath: Buffer | undefined) => T): T {
    return this.#at(dir, path, (hostPath) => {
      if (this.#kindAt(hostPath) === LINK) throw numbers.ENOTSUP;
      const flags = this.#anchored ? O_PATH | O_NOFOLLOW : O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY;
      const descriptor = fs.openSync(hostPath, flags);
      try {
        return work(descriptor, this.#anchored ? descriptorPath(descriptor) : undefined);
      } finally {
        fs.closeSync(descriptor);
      }
    });
  }

  #kindAt(hostPath: Buffer): number {
    const stats = fs.lstatSync(hostPath);
    if (this.#pseudoFileSystems.includes(stats.dev)) throw numbers.EACCES;
    return kind(stats);
  }

  dirIsWritable(dir: number): boolean {
    return this.#directories.get(dir)?.mode === "readWrite";
  }

  dirStat(dir: number, path: Uint8Array, fields: Float64Array): void {
    this.#at(dir, path, (hostPath) => {
      const stats = fs.lstatSync(hostPath, { bigint: true });
      if (this.#pseudoFileSystems.includes(Number(stats.dev))) throw numbers.EACCES;
      // The mounted directory itself was removed.
      if (path.length === 0 && stats.nlink === 0n) throw numbers.ESTALE;
      writeFields(stats, fields);
    });
  }

  dirList(dir: number, path: Uint8Array): [Uint8Array, number][] {
    return this.#at(dir, path, (hostPath) => {
      if (this.#kindAt(hostPath) !== DIRECTORY) throw numbers.ENOTDIR;
      const descriptor = fs.openSync(hostPath, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      try {
        const listed = this.#anchored ? Buffer.concat([descriptorPath(descriptor), DOT]) : hostPath;
        const entries = fs.readdirSync(listed, { withFileTypes: true, encoding: "buffer" });
        return entries.map((entry): [Uint8Array, number] => [Buffer.from(entry.name), kind(entry)]);
      } finally {
        fs.closeSync(descriptor);
      }
    });
  }

  dirReadLink(dir: number, path: Uint8Array): Uint8Array {
    return this.#at(dir, path, (hostPath) => fs.readlinkSync(hostPath, { encoding: "buffer" }));
  }

  dirOpenFile(dir: number, path: Uint8Array, write: boolean): number {
    return this.#at(dir, path, (hostPath) => {
      // Check the type first: opening a device can have side effects, and opening a FIFO is visible to its other end.
      if (this.#kindAt(hostPath) !== FILE) throw numbers.EINVAL;
      // Check again after opening. O_NONBLOCK avoids waiting for the other end of a FIFO that replaced the file.
      const flags = (write ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY;
      const descriptor = fs.openSync(hostPath, flags);
      try {
        this.#verify(dir, path, descriptor);
      } catch (error) {
        fs.closeSync(descriptor);
        throw error;
      }
      return descriptor;
    });
  }

  /** Throws unless the descriptor refers to a regular file that is still at the path. */
  #verify(dir: number, path: Uint8Array, descriptor: number): void {
    const opened = fs.fstatSync(descriptor);
    if (!opened.isFile()) throw numbers.EINVAL;
    if (this.#anchored) return;
    const current = this.#at(dir, path, (hostPath) => fs.lstatSync(hostPath));
    if (opened.ino !== current.ino || opened.dev !== current.dev) throw numbers.ESTALE;
  }

  dirCreateFile(dir: number, path: Uint8Array, mode: number): void {
    this.#at(dir, path, (hostPath) => {
      fs.closeSync(fs.openSync(hostPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode & 0o777));
    });
  }

  dirCreateDir(dir: number, path: Uint8Array, mode: number): void {
    this.#at(dir, path, (hostPath) => fs.mkdirSync(hostPath, mode & 0o777));
  }

  dirSymlink(dir: number, target: Uint8Array, path: Uint8Array): void {
    checkTarget(target, depth(path));
    this.#at(dir, path, (hostPath) => fs.symlinkSync(Buffer.from(target), hostPath));
  }

  dirHardLink(dir: number, existing: Uint8Array, path: Uint8Array): void {
    this.#at(dir, existing, (from) => {
      if (this.#kindAt(from) !== FILE) throw numbers.EPERM;
      this.#at(dir, path, (to) => fs.linkSync(from, to));
    });
  }

  dirRemove(dir: number, path: Uint8Array, directory: boolean): void {
    this.#at(dir, path, (hostPath) => (directory ? fs.rmdirSync(hostPath) : fs.unlinkSync(hostPath)));
  }

  dirRename(dir: number, from: Uint8Array, to: Uint8Array): void {
    this.#at(dir, from, (old) => {
      checkMove(this, dir, from, to, this.#kindAt(old));
      this.#at(dir, to, (hostPath) => {
        // Hidden objects are not replaced either.
        const current = fs.lstatSync(hostPath, { throwIfNoEntry: false });
        if (current !== undefined && kind(current) === HIDDEN) throw numbers.EBUSY;
        fs.renameSync(old, hostPath);
      });
    });
  }

  dirSetMode(dir: number, path: Uint8Array, mode: number): void {
    this.#opened(dir, path, (descriptor, procPath) => {
      if (procPath === undefined) fs.fchmodSync(descriptor, mode & 0o777);
      else fs.chmodSync(procPath, mode & 0o777);
    });
  }

  dirSetTimes(dir: number, path: Uint8Array, atime: number, mtime: number): void {
    this.#opened(dir, path, (descriptor, procPath) => {
      const stats = fs.fstatSync(descriptor);
      const [accessed, changed] = [atime < 0 ? stats.atimeMs / 1e3 : atime, mtime < 0 ? stats.mtimeMs / 1e3 : mtime];
      if (procPath === undefined) fs.futimesSync(descriptor, accessed, changed);
      else fs.utimesSync(procPath, accessed, changed);
    });
  }

  fileStat(file: number, fields: Float64Array): void {
    withErrno(() => writeFields(fs.fstatSync(file, { bigint: true }), fields));
  }

  fileRead(file: number, offset: number, to: Uint8Array): number {
    return withErrno(() => fs.readSync(file, to, 0, to.length, offset));
  }

  fileWrite(file: number, offset: number, from: Uint8Array): number {
    return withErrno(() => fs.writeSync(file, from, 0, from.length, offset));
  }

  fileSetLen(file: number, length: number): void {
    withErrno(() => fs.ftruncateSync(file, length));
  }

  fileSync(file: number): void {
    withErrno(() => fs.fsyncSync(file));
  }

  fileClose(file: number): void {
    try {
      fs.closeSync(file);
    } catch {
      // The error cannot be reported.
    }
  }
}

/** Returns the path of a descriptor. */
function descriptorPath(descriptor: number): Buffer {
  return Buffer.from(`/proc/self/fd/${descriptor}`);
}

function below(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.of(SLASH), name]);
}

/** True if paths can be resolved from this directory's descriptor. Deno requires full permissions for `/proc`. */
function isAnchor({ descriptor }: Directory): boolean {
  if (O_PATH === 0) return false;
  try {
    const [a, b] = [fs.fstatSync(descriptor), fs.lstatSync(Buffer.concat([descriptorPath(descriptor), DOT]))];
    return a.ino === b.ino && a.dev === b.dev;
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

/** Returns the path of an entry after checking that each parent is a directory and not a link. Racy; see above. */
function checkedPath(real: Buffer, names: readonly Buffer[], last: Buffer | undefined): Buffer {
  let hostPath = real;
  for (const name of names) {
    hostPath = below(hostPath, name);
    if (!fs.lstatSync(hostPath).isDirectory()) throw numbers.ENOTDIR;
  }
  const stats = fs.realpathSync(hostPath, { encoding: "buffer" }) as Buffer;
  if (!stats.equals(hostPath)) throw numbers.EPERM;
  return last === undefined ? hostPath : below(hostPath, last);
}

function kind(stats: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): number {
  if (stats.isFile()) return FILE;
  if (stats.isDirectory()) return DIRECTORY;
  return stats.isSymbolicLink() ? LINK : HIDDEN;
}

const SECOND = 1_000_000_000n;

function writeFields(stats: fs.BigIntStats, fields: Float64Array): void {
  const time = (nanoseconds: bigint) => [Number(nanoseconds / SECOND), Number(nanoseconds % SECOND)];
  fields.set([
    kind(stats), Number(stats.mode & 0o777n), Number(stats.nlink), Number(stats.size),
    ...time(stats.atimeNs), ...time(stats.mtimeNs), ...time(stats.ctimeNs),
  ]);
}

/** Returns the devices of pseudo file systems. In a container some of these paths are ordinary directories. */
function pseudoFileSystems(): number[] {
  const device = (path: string): number | undefined => {
    try {
      return (fs.statSync(path) as Stats).dev;
    } catch {
      return undefined;
    }
  };
  const root = device("/");
  const stats = ["/proc", "/sys", "/dev", "/dev/pts", "/dev/mqueue"].map(device);
  return stats.filter((dev): dev is number => dev !== undefined && dev !== root);
}
