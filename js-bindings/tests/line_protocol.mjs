// The class for a program in another language: one JSON request per line on standard input, responses on standard output. A test in
// Rust (`tests/javascript`) drives it, with the conformance suite of all backends.
//
//   { id, method: "create", args: [options] }               { id, result: { sandbox, id } }
//   { id, method: "createAt", args: [provider, options] }    the same, at a provider in the cloud
//   { id, sandbox, method, args, watch? }                    { id, piece: { stream, bytes } }...  { id, result, running }
//   { id, sandbox, process, method, args }                   { id, result }, for a method of the process with this id
//   { cancel: id }                                           { id, thrown } for an unexpected exception
//
// Methods about processes reject; their result is then { error, code }.
//
// Bytes are `{ "base64": "..." }`, times are milliseconds since 1970.

import { createInterface } from "node:readline";

import { createSandbox, Process, Sandbox, SandboxError } from "tidebox";

// The default of the option `thread`, and the uses of instances, as in `guard.mjs`.
if (process.env.TIDEBOX_REUSE) globalThis[Symbol.for("tidebox.reuse")] = process.env.TIDEBOX_REUSE;
if (process.env.TIDEBOX_THREAD) globalThis[Symbol.for("tidebox.thread")] = process.env.TIDEBOX_THREAD;

const sandboxes = [];
const calls = new Map();

const isBytes = (value) => Object.keys(value).length === 1 && typeof value.base64 === "string";
const revive = (_, value) => (typeof value === "object" && value !== null && isBytes(value) ? Buffer.from(value.base64, "base64") : value);

/** What JSON cannot say. */
function shown(key, value) {
  if (this[key] instanceof Uint8Array) return { base64: Buffer.from(this[key]).toString("base64") };
  return key === "modified_at" ? Date.parse(value) : value;
}

const tell = (line) => process.stdout.write(`${JSON.stringify(line, shown)}\n`);

async function create(made) {
  const sandbox = await made;
  return { sandbox: sandboxes.push(sandbox) - 1, id: sandbox.id };
}

/** Methods of a sandbox that reject if they fail. */
const REJECTING_METHODS = ["spawn", "processes", "portEndpoint"];

/** The result, or the error, of a method that rejects if it fails. */
async function caught(work) {
  try {
    return (await work()) ?? null;
  } catch (error) {
    if (!SandboxError.isInstance(error)) throw error;
    return { error: error.message, code: error.code };
  }
}

const shownProcess = (value) => (value instanceof Process ? { id: value.id } : value);

async function answer({ id, sandbox: number, process, method, args, watch }) {
  if (method === "create") return tell({ id, result: await create(Sandbox.create(...args)) });
  if (method === "createAt") return tell({ id, result: await create(createSandbox(...args)) });
  const sandbox = sandboxes[number];
  const controller = new AbortController();
  calls.set(id, controller);
  if (method === "execute") {
    const [command, options] = args;
    const onOutput = watch ? ({ stream, bytes }) => tell({ id, piece: { stream, bytes } }) : undefined;
    args = [command, { ...options, signal: controller.signal, onOutput }];
  }
  const result = process !== undefined || REJECTING_METHODS.includes(method)
    ? await caught(async () => shownProcess(await (process === undefined ? sandbox : sandbox.process(process))[method](...args)))
    : ((await sandbox[method](...args)) ?? null);
  calls.delete(id);
  tell({ id, result, running: sandbox.isRunning });
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const request = JSON.parse(line, revive);
  if (request.cancel !== undefined) calls.get(request.cancel)?.abort();
  else answer(request).catch((error) => tell({ id: request.id, thrown: String(error?.stack ?? error) }));
}
