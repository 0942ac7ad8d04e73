/**
 * Host directories that the kernel accesses; `src/host_mount.rs` calls these functions. Each platform provides the
 * implementation.
 */

import type { MountSettings } from "./messages.js";

/**
 * Access to host directories by their numbers. Paths are bytes relative to the directory, without `.` and `..`; the
 * directory itself is the empty path. Errors are thrown as errno values of preview1.
 */
export interface DirectoryHost {
  /** Opens directories. Returns the number of the first one; the others follow. */
  open(mounts: readonly MountSettings[]): number;
  /** Closes `count` directories from the number `first`. */
  close(first: number, count: number): void;
  dirIsWritable(dir: number): boolean;
  dirStat(dir: number, path: Uint8Array, fields: Float64Array): void;
  dirList(dir: number, path: Uint8Array): [Uint8Array, number][];
  dirReadLink(dir: number, path: Uint8Array): Uint8Array;
  dirOpenFile(dir: number, path: Uint8Array, write: boolean): number;
  dirCreateFile(dir: number, path: Uint8Array, mode: number): void;
  dirCreateDir(dir: number, path: Uint8Array, mode: number): void;
  dirSymlink(dir: number, target: Uint8Array, path: Uint8Array): void;
  dirHardLink(dir: number, existing: Uint8Array, path: Uint8Array): void;
  dirRemove(dir: number, path: Uint8Array, directory: boolean): void;
  dirRename(dir: number, from: Uint8Array, to: Uint8Array): void;
  dirSetMode(dir: number, path: Uint8Array, mode: number): void;
  dirSetTimes(dir: number, path: Uint8Array, atime: number, mtime: number): void;
  fileStat(file: number, fields: Float64Array): void;
  fileRead(file: number, offset: number, to: Uint8Array): number;
  fileWrite(file: number, offset: number, from: Uint8Array): number;
  fileSetLen(file: number, length: number): void;
  fileSync(file: number): void;
  fileClose(file: number): void;
}

/** `NOTSUP` of preview1. */
const NOTSUP = 58;

let host: DirectoryHost | undefined;

/** Sets the implementation. */
export function useDirectories(directories: DirectoryHost | undefined): void {
  host = directories;
}

/** Opens the directories of a sandbox. Called before the kernel creates it. Returns the number of the first one. */
export function openDirectories(mounts: readonly MountSettings[]): number {
  return host?.open(mounts) ?? 0;
}

/** Closes the directories of a sandbox. */
export function closeDirectories(first: number, count: number): void {
  host?.close(first, count);
}

function known(): DirectoryHost {
  if (host === undefined) throw NOTSUP;
  return host;
}

export const dirIsWritable: DirectoryHost["dirIsWritable"] = (dir) => host?.dirIsWritable(dir) ?? false;
export const dirStat: DirectoryHost["dirStat"] = (...all) => known().dirStat(...all);
export const dirList: DirectoryHost["dirList"] = (...all) => known().dirList(...all);
export const dirReadLink: DirectoryHost["dirReadLink"] = (...all) => known().dirReadLink(...all);
export const dirOpenFile: DirectoryHost["dirOpenFile"] = (...all) => known().dirOpenFile(...all);
export const dirCreateFile: DirectoryHost["dirCreateFile"] = (...all) => known().dirCreateFile(...all);
export const dirCreateDir: DirectoryHost["dirCreateDir"] = (...all) => known().dirCreateDir(...all);
export const dirSymlink: DirectoryHost["dirSymlink"] = (...all) => known().dirSymlink(...all);
export const dirHardLink: DirectoryHost["dirHardLink"] = (...all) => known().dirHardLink(...all);
export const dirRemove: DirectoryHost["dirRemove"] = (...all) => known().dirRemove(...all);
export const dirRename: DirectoryHost["dirRename"] = (...all) => known().dirRename(...all);
export const dirSetMode: DirectoryHost["dirSetMode"] = (...all) => known().dirSetMode(...all);
export const dirSetTimes: DirectoryHost["dirSetTimes"] = (...all) => known().dirSetTimes(...all);
export const fileStat: DirectoryHost["fileStat"] = (...all) => known().fileStat(...all);
export const fileRead: DirectoryHost["fileRead"] = (...all) => known().fileRead(...all);
export const fileWrite: DirectoryHost["fileWrite"] = (...all) => known().fileWrite(...all);
export const fileSetLen: DirectoryHost["fileSetLen"] = (...all) => known().fileSetLen(...all);
export const fileSync: DirectoryHost["fileSync"] = (...all) => known().fileSync(...all);
export const fileClose: DirectoryHost["fileClose"] = (file) => host?.fileClose(file);
