/** Folders of the host as the kernel reaches them; `src/host_mount.rs` calls these functions. Platforms say what is behind. */

import type { MountSettings } from "./messages.js";

/**
 * What reaches folders of the host, by the place that each has in the options. Paths are bytes relative to the folder, without
 * `.` and `..`; the folder itself is the empty path. What goes wrong is thrown as the number of an errno of preview1.
 */
export interface FolderHost {
  open(mounts: readonly MountSettings[]): void;
  folderIsWritable(folder: number): boolean;
  folderStat(folder: number, path: Uint8Array, fields: Float64Array): void;
  folderList(folder: number, path: Uint8Array): [Uint8Array, number][];
  folderReadLink(folder: number, path: Uint8Array): Uint8Array;
  folderOpen(folder: number, path: Uint8Array, write: boolean): number;
  folderCreate(folder: number, path: Uint8Array, mode: number): void;
  folderCreateDir(folder: number, path: Uint8Array, mode: number): void;
  folderSymlink(folder: number, target: Uint8Array, path: Uint8Array): void;
  folderHardLink(folder: number, existing: Uint8Array, path: Uint8Array): void;
  folderRemove(folder: number, path: Uint8Array, directory: boolean): void;
  folderRename(folder: number, from: Uint8Array, to: Uint8Array): void;
  folderSetMode(folder: number, path: Uint8Array, mode: number): void;
  folderSetTimes(folder: number, path: Uint8Array, atime: number, mtime: number): void;
  fileStat(file: number, fields: Float64Array): void;
  fileRead(file: number, offset: number, to: Uint8Array): number;
  fileWrite(file: number, offset: number, from: Uint8Array): number;
  fileSetLen(file: number, length: number): void;
  fileSync(file: number): void;
  fileClose(file: number): void;
}

/** `NOTSUP` of preview1. */
const NOTSUP = 58;

let host: FolderHost | undefined;

/** Opens the folders of the options, before the kernel makes the sandbox. */
export function useFolders(folders: FolderHost | undefined, mounts: readonly MountSettings[]): void {
  host = folders;
  host?.open(mounts);
}

function known(): FolderHost {
  if (host === undefined) throw NOTSUP;
  return host;
}

export const folderIsWritable: FolderHost["folderIsWritable"] = (folder) => host?.folderIsWritable(folder) ?? false;
export const folderStat: FolderHost["folderStat"] = (...all) => known().folderStat(...all);
export const folderList: FolderHost["folderList"] = (...all) => known().folderList(...all);
export const folderReadLink: FolderHost["folderReadLink"] = (...all) => known().folderReadLink(...all);
export const folderOpen: FolderHost["folderOpen"] = (...all) => known().folderOpen(...all);
export const folderCreate: FolderHost["folderCreate"] = (...all) => known().folderCreate(...all);
export const folderCreateDir: FolderHost["folderCreateDir"] = (...all) => known().folderCreateDir(...all);
export const folderSymlink: FolderHost["folderSymlink"] = (...all) => known().folderSymlink(...all);
export const folderHardLink: FolderHost["folderHardLink"] = (...all) => known().folderHardLink(...all);
export const folderRemove: FolderHost["folderRemove"] = (...all) => known().folderRemove(...all);
export const folderRename: FolderHost["folderRename"] = (...all) => known().folderRename(...all);
export const folderSetMode: FolderHost["folderSetMode"] = (...all) => known().folderSetMode(...all);
export const folderSetTimes: FolderHost["folderSetTimes"] = (...all) => known().folderSetTimes(...all);
export const fileStat: FolderHost["fileStat"] = (...all) => known().fileStat(...all);
export const fileRead: FolderHost["fileRead"] = (...all) => known().fileRead(...all);
export const fileWrite: FolderHost["fileWrite"] = (...all) => known().fileWrite(...all);
export const fileSetLen: FolderHost["fileSetLen"] = (...all) => known().fileSetLen(...all);
export const fileSync: FolderHost["fileSync"] = (...all) => known().fileSync(...all);
export const fileClose: FolderHost["fileClose"] = (file) => host?.fileClose(file);
