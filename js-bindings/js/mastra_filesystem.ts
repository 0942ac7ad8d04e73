/** The files of a sandbox as a file system of Mastra. */

import {
  DirectoryNotEmptyError, DirectoryNotFoundError, FileExistsError, FileNotFoundError, FilesystemError, IsDirectoryError,
  MastraFilesystem, NotDirectoryError, PermissionError, StaleFileError, WorkspaceReadOnlyError,
} from "@mastra/core/workspace";
import type {
  CopyOptions, FileContent, FileEntry, FileStat, FilesystemInfo, ListOptions, ProviderStatus, ReadOptions,
  RemoveOptions, WalkEntry, WalkOptions, WriteOptions,
} from "@mastra/core/workspace";

import type { Completed, FileStat as Stat } from "./adapter.js";
import { WORKSPACE, readBytes, resolvePath, run, stat, writeBytes } from "./adapter.js";
import type { AgentBackend } from "./agent_backend.js";
import { SandboxError } from "./error.js";
import type { TideboxSandbox } from "./mastra.js";
import type { ExecuteOptions } from "./options.js";

/** Options of a file system. */
export interface TideboxFilesystemOptions {
  /** The sandbox. A `TideboxSandbox` starts with the first operation. */
  sandbox: TideboxSandbox | AgentBackend;
  /** Directory that relative paths start in. Default: the working directory of the sandbox, or `/workspace`. */
  workingDirectory?: string;
  /** Rejects all changes with a `WorkspaceReadOnlyError`. Commands of the sandbox can still change files. */
  readOnly?: boolean;
}

/** Options of a new directory. */
export interface MkdirOptions {
  /** Creates missing parent directories. Default true. */
  recursive?: boolean;
}

/** The files of a sandbox. Absolute paths are those of the sandbox. */
export class TideboxFilesystem extends MastraFilesystem {
  /** Id of the file system: that of the sandbox. */
  readonly id: string;
  /** Name of this class. */
  readonly name = "TideboxFilesystem";
  /** Name of this provider. */
  readonly provider = "tidebox";
  /** True if changes are rejected. */
  readonly readOnly: boolean;
  /** State of the file system. */
  status: ProviderStatus = "pending";

  readonly #sandbox: TideboxSandbox | AgentBackend;
  readonly #base: string;

  /** Creates a file system for one sandbox. */
  constructor({ sandbox, workingDirectory, readOnly = false }: TideboxFilesystemOptions) {
    super({ name: "TideboxFilesystem" });
    this.#sandbox = sandbox;
    this.id = sandbox.id;
    this.readOnly = readOnly;
    const own = "workingDirectory" in sandbox ? sandbox.workingDirectory : undefined;
    this.#base = workingDirectory ?? own ?? WORKSPACE;
  }

  /** Returns the state of the file system. */
  getInfo(): FilesystemInfo {
    const { id, name, provider, status, readOnly } = this;
    return { id, name, provider, status, readOnly, metadata: { workingDirectory: this.#base } };
  }

  /** Returns a description for the instructions of an agent. */
  getInstructions(): string {
    return `Files of the sandbox in which commands run. Relative paths start in ${this.#base}.`;
  }

  /** Reads a file as text or as a `Buffer`. */
  async readFile(path: string, options?: ReadOptions): Promise<string | Buffer> {
    const backend = await this.#open();
    if ((await this.#stat(path))?.kind === "directory") throw new IsDirectoryError(path);
    const bytes = await readBytes(backend, this.#path(path)).catch((error: unknown) => this.#fail(error, path, "read"));
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return options?.encoding === undefined ? buffer : buffer.toString(options.encoding);
  }

  /** Writes a file. Missing directories are created unless `recursive` is false. */
  async writeFile(path: string, content: FileContent, options: WriteOptions = {}): Promise<void> {
    const backend = await this.#openForWrite("writeFile");
    await this.#prepareParent(path, options.recursive !== false);
    const existing = await this.#stat(path);
    if (existing?.kind === "directory") throw new IsDirectoryError(path);
    const { expectedMtime } = options;
    if (expectedMtime !== undefined && existing !== undefined && existing.modifiedMs !== expectedMtime.getTime()) {
      throw new StaleFileError(path, expectedMtime, new Date(existing.modifiedMs));
    }
    if (options.overwrite === false) {
      if (existing !== undefined) throw new FileExistsError(path);
      // The shell creates the file atomically (O_EXCL).
      await this.#redirect("set -C; cat > \"$1\"", path, content);
    } else {
      await writeBytes(backend, this.#path(path), content).catch((error: unknown) => this.#fail(error, path, "write"));
    }
  }

  /** Appends to a file, and creates it and its directories if it is missing. */
  async appendFile(path: string, content: FileContent): Promise<void> {
    await this.#openForWrite("appendFile");
    await this.#prepareParent(path, true);
    await this.#redirect("cat >> \"$1\"", path, content);
  }

  /** Deletes a file or a link. */
  async deleteFile(path: string, options: RemoveOptions = {}): Promise<void> {
    await this.#openForWrite("deleteFile");
    await this.#run(["rm", ...(options.force ? ["-f"] : []), "--", this.#path(path)], path, "delete");
  }

  /** Copies a file, or a directory with `recursive`. */
  async copyFile(src: string, dest: string, options: CopyOptions = {}): Promise<void> {
    await this.#openForWrite("copyFile");
    const source = await this.#stat(src);
    if (source === undefined) throw new FileNotFoundError(src);
    if (source.kind === "directory" && !options.recursive) throw new IsDirectoryError(src);
    await this.#prepareTarget(dest, options);
    const flag = source.kind === "directory" ? "-rT" : "-T";
    await this.#run(["cp", flag, "--", this.#path(src), this.#path(dest)], dest, "copy");
  }

  /** Moves a file or a directory. */
  async moveFile(src: string, dest: string, options: CopyOptions = {}): Promise<void> {
    await this.#openForWrite("moveFile");
    if (!(await this.#isPresent(src))) throw new FileNotFoundError(src);
    await this.#prepareTarget(dest, options);
    await this.#run(["mv", "-T", "--", this.#path(src), this.#path(dest)], dest, "move");
  }

  /**
   * Creates a directory, and its missing parents unless `recursive` is false. An existing directory is not an error.
   */
  async mkdir(path: string, options: MkdirOptions = {}): Promise<void> {
    await this.#openForWrite("mkdir");
    const existing = await this.#stat(path);
    if (existing !== undefined && existing.kind !== "directory") throw new FileExistsError(path);
    if (existing !== undefined) return;
    if (options.recursive === false) await this.#requireDirectory(parentOf(this.#path(path)));
    await this.#run(["mkdir", "-p", "--", this.#path(path)], path, "mkdir");
  }

  /** Removes a directory: an empty one, or any with `recursive`. */
  async rmdir(path: string, options: RemoveOptions = {}): Promise<void> {
    await this.#openForWrite("rmdir");
    const existing = await this.#stat(path);
    if (existing === undefined && options.force) return;
    if (existing === undefined) throw new DirectoryNotFoundError(path);
    if (existing.kind !== "directory") throw new NotDirectoryError(path);
    await this.#run([...(options.recursive ? ["rm", "-r"] : ["rmdir"]), "--", this.#path(path)], path, "rmdir");
  }

  /** Lists a directory. Names in subdirectories contain a slash. Links to directories are not followed. */
  async readdir(path: string, options: ListOptions = {}): Promise<FileEntry[]> {
    const extensions = options.extension === undefined ? undefined : [options.extension].flat();
    const depth = options.recursive ? (options.maxDepth ?? 100) + 1 : 1;
    const entries = await this.#find(path, depth);
    const isWanted = (name: string) => extensions?.some((wanted) => hasExtension(name, wanted)) ?? true;
    return entries
      .filter(({ name, type }) => type !== "file" || isWanted(name))
      .map(({ path: relative, ...entry }) => ({ ...entry, name: relative }));
  }

  /** Lists a directory and its subdirectories in one call. */
  async walk(path: string, options: WalkOptions = {}): Promise<WalkEntry[]> {
    const entries = await this.#find(path, options.maxDepth ?? 100);
    return options.includeHidden ? entries : entries.filter((entry) => !/(^|\/)\./u.test(entry.path));
  }

  /** Returns whether a path exists. */
  async exists(path: string): Promise<boolean> {
    await this.#open();
    return (await this.#stat(path)) !== undefined;
  }

  /**
   * Returns the attributes of a file, with links followed. The time of creation is not recorded: it is that of the
   * change.
   */
  async stat(path: string): Promise<FileStat> {
    await this.#open();
    const found = await this.#stat(path);
    if (found === undefined) throw new FileNotFoundError(path);
    const absolute = this.#path(path);
    const isDirectory = found.kind === "directory";
    const modifiedAt = new Date(found.modifiedMs);
    return {
      name: absolute.slice(absolute.lastIndexOf("/") + 1), path: absolute, type: isDirectory ? "directory" : "file",
      size: isDirectory ? 0 : found.size, createdAt: modifiedAt, modifiedAt,
    };
  }

  /** Returns the path without symbolic links. */
  async realpath(path: string): Promise<string> {
    await this.#open();
    const { stdout } = await this.#run(["realpath", "-e", "--", this.#path(path)], path, "access");
    return stdout.slice(0, -1);
  }

  #path(path: string): string {
    return resolvePath(this.#base, path);
  }

  /** Returns the backend of the started sandbox. */
  async #open(): Promise<AgentBackend> {
    await this.ensureReady();
    const sandbox = this.#sandbox;
    if (!("ensureRunning" in sandbox)) return sandbox;
    await sandbox.ensureRunning();
    return sandbox.backend;
  }

  async #openForWrite(operation: string): Promise<AgentBackend> {
    if (this.readOnly) throw new WorkspaceReadOnlyError(operation);
    return this.#open();
  }

  async #stat(path: string): Promise<Stat | undefined> {
    return stat(await this.#open(), this.#path(path)).catch((error: unknown) => this.#fail(error, path, "access"));
  }

  /** True if the path exists, including a link whose target does not. */
  async #isPresent(path: string): Promise<boolean> {
    const { exitCode } = await run(await this.#open(), ["stat", "--", this.#path(path)]);
    return exitCode === 0;
  }

  async #prepareTarget(dest: string, { overwrite }: CopyOptions): Promise<void> {
    if (overwrite === false && (await this.#isPresent(dest))) throw new FileExistsError(dest);
    await this.#prepareParent(dest, true);
  }

  async #prepareParent(path: string, create: boolean): Promise<void> {
    const parent = parentOf(this.#path(path));
    if (create) await this.#run(["mkdir", "-p", "--", parent], parent, "mkdir");
    else await this.#requireDirectory(parent);
  }

  async #requireDirectory(path: string): Promise<void> {
    const found = await this.#stat(path);
    if (found === undefined) throw new DirectoryNotFoundError(path);
    if (found.kind !== "directory") throw new NotDirectoryError(path);
  }

  async #redirect(script: string, path: string, content: FileContent): Promise<void> {
    await this.#run(["bash", "-c", script, "bash", this.#path(path)], path, "write", { stdin: content });
  }

  /** Runs a program of the userland and converts its message to an error of Mastra. */
  async #run(
    command: readonly string[], path: string, operation: string, options: ExecuteOptions = {},
  ): Promise<Completed> {
    const result = await run(await this.#open(), command, { ...options, cwd: "/", shellMode: "fresh" });
    if (result.exitCode === 0) return result;
    return this.#fail(new SandboxError(result.stderr.trimEnd(), "FILE_OPERATION_FAILED"), path, operation);
  }

  /** Throws the error of Mastra for an error of the sandbox. */
  #fail(error: unknown, path: string, operation: string): never {
    if (!(error instanceof SandboxError) || error.code !== "FILE_OPERATION_FAILED") throw error;
    const message = `${error.cause ?? ""} ${error.message}`;
    if (/permission_denied|Permission denied|Read-only/iu.test(message)) throw new PermissionError(path, operation);
    if (/not_a_directory|Not a directory/u.test(message)) throw new NotDirectoryError(path);
    if (/is_directory|Is a directory|with non-directory/u.test(message)) throw new IsDirectoryError(path);
    if (/file_not_found|No such file/u.test(message)) throw new FileNotFoundError(path);
    if (/not empty/u.test(message)) throw new DirectoryNotEmptyError(path);
    if (/File exists|existing file|non-directory/u.test(message)) throw new FileExistsError(path);
    throw new FilesystemError(error.message, "EIO", path);
  }

  /** Lists entries below a directory, ordered by path. */
  async #find(path: string, depth: number): Promise<WalkEntry[]> {
    await this.#requireDirectory(path);
    // The slash makes `find` enter a directory that a link leads to.
    const depths = ["-mindepth", "1", "-maxdepth", String(depth)];
    const command = ["find", `${this.#path(path)}/`, ...depths, "-printf", "%y %Y %s %P\\0%l\\0"];
    const { stdout, truncated } = await this.#run(command, path, "list");
    if (truncated) throw new FilesystemError(`${path} has too many entries; list a subdirectory`, "EFBIG", path);
    const fields = stdout.split("\0");
    const entries: WalkEntry[] = [];
    for (let at = 0; at + 1 < fields.length; at += 2) entries.push(toEntry(fields[at] ?? "", fields[at + 1] ?? ""));
    return entries.sort((one, other) => (one.path < other.path ? -1 : 1));
  }
}

/** Parses `TYPE TARGET_TYPE SIZE PATH` as printed by `find`. */
function toEntry(fields: string, symlinkTarget: string): WalkEntry {
  const [, own, target, size, path = ""] = /^(\S) (\S) (\d+) (.*)$/su.exec(fields) ?? [];
  const isSymlink = own === "l";
  const type = target === "d" ? "directory" : "file";
  return {
    path, name: path.slice(path.lastIndexOf("/") + 1), type,
    ...(isSymlink ? { isSymlink, symlinkTarget } : type === "file" ? { size: Number(size) } : {}),
  };
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** True if a name has the extension, which may start with a dot. */
function hasExtension(name: string, extension: string): boolean {
  const own = /[^/]\.[^./]*$/u.exec(name)?.[0].slice(1) ?? "";
  return own === extension || own.slice(1) === extension;
}
