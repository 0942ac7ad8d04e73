/** What guests may import: the kernel's exports of these names, and the four things of the engine. Nothing else. */

import { raw } from "./instance.js";

const PREVIEW1 = [
  "args_get", "args_sizes_get", "clock_res_get", "clock_time_get", "environ_get", "environ_sizes_get", "fd_advise",
  "fd_allocate", "fd_close", "fd_datasync", "fd_fdstat_get", "fd_fdstat_set_flags", "fd_fdstat_set_rights",
  "fd_filestat_get", "fd_filestat_set_size", "fd_filestat_set_times", "fd_pread", "fd_prestat_dir_name",
  "fd_prestat_get", "fd_pwrite", "fd_read", "fd_readdir", "fd_renumber", "fd_seek", "fd_sync", "fd_tell", "fd_write",
  "path_create_directory", "path_filestat_get", "path_filestat_set_times", "path_link", "path_open", "path_readlink",
  "path_remove_directory", "path_rename", "path_symlink", "path_unlink_file", "poll_oneoff", "proc_exit", "proc_raise",
  "random_get", "sched_yield", "sock_accept", "sock_recv", "sock_send", "sock_shutdown",
] as const;

const TIDEBOX_V1 = [
  "access", "chdir", "chmod", "dup", "dup_to", "fork", "fstat", "getcwd", "getids", "kill", "limits", "pipe", "setpgid",
  "shell_state_read", "shell_state_write", "sig_set", "sig_take", "spawn", "stat", "umask", "wait",
] as const;

let preview1: WebAssembly.ModuleImports | undefined;
let tideboxV1: WebAssembly.ModuleImports | undefined;
let waiting: WebAssembly.ImportValue | undefined;

function some(names: readonly string[]): WebAssembly.ModuleImports {
  const all = raw();
  // Without a prototype, so that a guest cannot import what every object has.
  const some: WebAssembly.ModuleImports = Object.create(null);
  for (const name of names) some[name] = all[name] as WebAssembly.ImportValue;
  return some;
}

/** Whether guests can be suspended here. */
export function hasJspi(): boolean {
  return typeof WebAssembly.Suspending === "function" && typeof WebAssembly.promising === "function";
}

/** What a guest calls when it cannot go on. */
export interface Waits {
  /** Suspends the guest until it can. */
  suspend(pid: number, code: number): Promise<number>;
  /** Runs others meanwhile, on the same stack; where guests cannot be suspended. */
  stay(pid: number, code: number): number;
}

/** The imports of the guest with this number. */
export function imports(pid: number, waits: Waits): WebAssembly.Imports {
  preview1 ??= some(PREVIEW1);
  tideboxV1 ??= some(TIDEBOX_V1);
  waiting ??= (hasJspi() ? new WebAssembly.Suspending(waits.suspend) : waits.stay) as WebAssembly.ImportValue;
  const { tick, grow } = raw();
  return {
    wasi_snapshot_preview1: preview1,
    tidebox_v1: tideboxV1,
    tidebox_engine: {
      wait: waiting,
      tick: tick as WebAssembly.ImportValue,
      grow: grow as WebAssembly.ImportValue,
      pid: new WebAssembly.Global({ value: "i32" }, pid),
    },
  };
}
