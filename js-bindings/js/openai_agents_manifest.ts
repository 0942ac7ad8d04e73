/** Creates the entries of a manifest of the OpenAI Agents SDK in a sandbox. */

import {
  SandboxLocalDirReadError, SandboxLocalFileReadError, SandboxUnsupportedFeatureError, permissionsForSandboxEntry,
} from "@openai/agents-core/sandbox";
import type { Entry, Manifest, SandboxPathGrant } from "@openai/agents-core/sandbox";

import { checkResult, resolvePath, run, writeBytes } from "./adapter.js";
import type { AgentBackend } from "./agent_backend.js";

/** Returns the error for a feature of the SDK that a sandbox lacks. */
export function unsupported(feature: string, hint: string): SandboxUnsupportedFeatureError {
  const details = { provider: "tidebox", feature };
  return new SandboxUnsupportedFeatureError(`tidebox does not support ${feature}; ${hint}`, details);
}

/** Throws for users, groups and host paths, which a sandbox lacks. */
export function checkManifest(manifest: Manifest): void {
  if (manifest.users.length > 0) throw unsupported("manifest.users", "every command runs as the user tidebox");
  if (manifest.groups.length > 0) throw unsupported("manifest.groups", "every command runs as the user tidebox");
  if (manifest.extraPathGrants.some(({ hostPath }) => hostPath !== undefined)) {
    throw unsupported("host paths in manifest.extraPathGrants", "pass mounts in the options of the client");
  }
}

/** Creates all entries of a manifest below its root. */
export async function createEntries(sandbox: AgentBackend, manifest: Manifest): Promise<void> {
  checkManifest(manifest);
  await makeDirectory(sandbox, manifest.root);
  for (const [path, entry] of Object.entries(manifest.entries)) {
    await createEntry(sandbox, resolvePath(manifest.root, path), entry, manifest.extraPathGrants);
  }
}

/** Creates an entry and its children at an absolute path. */
export async function createEntry(
  sandbox: AgentBackend, path: string, entry: Entry, grants: readonly SandboxPathGrant[],
): Promise<void> {
  if (entry.group !== undefined) throw unsupported(`the group of the manifest entry ${path}`, "omit it");
  switch (entry.type) {
    case "dir":
      await makeDirectory(sandbox, path);
      for (const [name, child] of Object.entries(entry.children ?? {})) {
        await createEntry(sandbox, resolvePath(path, name), child, grants);
      }
      break;
    case "file":
      await writeBytes(sandbox, path, entry.content);
      break;
    case "local_file":
      await writeBytes(sandbox, path, await readLocalFile(entry.src, grants));
      break;
    case "local_dir":
      await copyLocalDirectory(sandbox, path, await localSource(entry.src, "local_dir", grants));
      break;
    case "git_repo":
      throw unsupported("git_repo entries", "clone the repository on the host and use a local_dir entry");
    default:
      throw unsupported(`${entry.type} entries`, "pass mounts in the options of the client, or use a local_dir entry");
  }
  const { permissions } = entry;
  if (permissions === undefined) return;
  const mode = permissionsForSandboxEntry(permissions).toMode().toString(8);
  await runChecked(sandbox, ["chmod", mode, "--", path]);
}

/** Runs a program that must succeed. */
export async function runChecked(sandbox: AgentBackend, command: readonly string[]): Promise<string> {
  const { exitCode, stdout, output } = await run(sandbox, command, { cwd: "/", shellMode: "fresh" });
  if (exitCode !== 0) checkResult({ error: output.trimEnd() });
  return stdout;
}

async function makeDirectory(sandbox: AgentBackend, path: string): Promise<void> {
  await runChecked(sandbox, ["mkdir", "-p", "--", path]);
}

/**
 * Returns the real path of a host file. Like the local client of the SDK, this accepts only files below the working
 * directory of the application, or below a path grant of the manifest.
 */
async function localSource(src: string, type: string, grants: readonly SandboxPathGrant[]): Promise<string> {
  const [{ realpath }, { resolve, sep }] = await Promise.all([import("node:fs/promises"), import("node:path")]);
  const source = await realpath(resolve(src)).catch((error: Error) => {
    const ErrorClass = type === "local_dir" ? SandboxLocalDirReadError : SandboxLocalFileReadError;
    throw new ErrorClass(`cannot read the ${type} entry ${src}: ${error.message}`, { src });
  });
  for (const granted of [process.cwd(), ...grants.map(({ path }) => path)]) {
    const root = await realpath(granted).catch(() => undefined);
    if (root === undefined) continue;
    if (source === root || source.startsWith(root.endsWith(sep) ? root : root + sep)) return source;
  }
  const hint = "add its directory to manifest.extraPathGrants";
  throw new SandboxLocalFileReadError(`the ${type} entry ${src} is outside of the working directory; ${hint}`, { src });
}

async function readLocalFile(src: string, grants: readonly SandboxPathGrant[]): Promise<Uint8Array> {
  const { readFile } = await import("node:fs/promises");
  return readFile(await localSource(src, "local_file", grants));
}

/**
 * Copies a host directory. Symbolic links are errors, as in the local client of the SDK: they may lead out of the
 * directory.
 */
async function copyLocalDirectory(sandbox: AgentBackend, path: string, source: string): Promise<void> {
  const [{ readFile, readdir }, { join }] = await Promise.all([import("node:fs/promises"), import("node:path")]);
  await makeDirectory(sandbox, path);
  for (const child of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [join(source, child.name), `${path}/${child.name}`];
    if (child.isDirectory()) await copyLocalDirectory(sandbox, to, from);
    else if (child.isFile()) await writeBytes(sandbox, to, await readFile(from));
    else throw new SandboxLocalDirReadError(`local_dir: not a file or directory: ${from}`, { src: from });
  }
}
