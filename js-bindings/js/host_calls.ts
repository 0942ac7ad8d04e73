/** The caller's side of host tools: functions that run here while their processes run in a worker. */

import type { HostToolResponse, HostCall, HostFiles, HostInput, HostOutput, HostToolResult, HostTool } from "./host_tool.js";
import { BrokenPipeError } from "./host_tool.js";
import type { HostRequest, HostResponse, ToolCall } from "./messages.js";
import { messageOf } from "./error_message.js";

/** Exit code of a tool that threw. */
const THREW = 1;
/** 128 plus the number of SIGPIPE, as in shells. */
const DISCONNECTED = 141;

/** Bytes requested by one read. */
const CHUNK_BYTES = 65536;
/** Default limit of standard input that a tool reads. */
const INPUT_BYTES = 16 << 20;
/** Default limit of a file that a tool reads. */
const FILE_BYTES = 64 << 20;

const encoder = new TextEncoder();
/** Keeps a byte order mark, because it is data of the guest. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function toBytes(data: string | Uint8Array): Uint8Array {
  if (typeof data === "string") return encoder.encode(data);
  if (data instanceof Uint8Array) return data;
  throw new TypeError("write requires a string or a Uint8Array");
}

/** Marks a rejection as handled: a tool that does not await the promise must not end the process. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** The calls in progress of one worker. */
export class HostCalls {
  readonly #tools: Readonly<Record<string, HostTool>>;
  readonly #respond: (response: HostResponse) => void;
  readonly #calls = new Map<number, ToolCallState>();

  constructor(tools: Readonly<Record<string, HostTool>>, respond: (response: HostResponse) => void) {
    this.#tools = tools;
    this.#respond = respond;
  }

  /** Handles a request of the worker. */
  handle(message: HostRequest): void {
    switch (message.type) {
      case "toolCall": {
        const state = new ToolCallState(message.call, message.details, this.#respond);
        this.#calls.set(message.call, state);
        const tool = Object.hasOwn(this.#tools, message.details.tool) ? this.#tools[message.details.tool] : undefined;
        void state.run(tool);
        break;
      }
      case "toolReply":
        this.#calls.get(message.call)?.reply(message.request, message.good, message.bytes);
        break;
      case "toolCancelled":
        this.#calls.get(message.call)?.cancel("the command has ended");
        this.#calls.delete(message.call);
        break;
    }
  }

  /** Called when the worker has ended. */
  stop(): void {
    for (const state of this.#calls.values()) state.cancel("the sandbox was closed");
    this.#calls.clear();
  }
}

interface Waiting {
  resolve(bytes: Uint8Array): void;
  reject(error: Error): void;
}

/** One call of a tool. */
class ToolCallState {
  readonly #call: number;
  readonly #details: ToolCall;
  readonly #respond: (response: HostResponse) => void;
  readonly #controller = new AbortController();
  readonly #waiting = new Map<number, Waiting & { toError(bytes: Uint8Array): Error }>();
  /** Writes in progress. The call ends after them. */
  readonly #writes = new Set<Promise<void>>();
  #last = 0;

  constructor(call: number, details: ToolCall, respond: (response: HostResponse) => void) {
    this.#call = call;
    this.#details = details;
    this.#respond = respond;
  }

  /** Runs the function to completion. Never rejects. */
  async run(tool: HostTool | undefined): Promise<void> {
    let code: number;
    try {
      if (tool === undefined) throw new Error("the application no longer provides this command");
      code = await this.#finish(await tool(this.#hostCall()));
      await Promise.all(this.#writes);
    } catch (error) {
      code = await this.#threw(error);
    }
    if (!this.#controller.signal.aborted) this.#respond({ callback: "toolExited", args: [this.#call, code] });
  }

  async #finish(result: HostToolResult): Promise<number> {
    if (result === undefined || result === null) return 0;
    const { stdout, stderr, exitCode = 0 } = typeof result === "number" ? ({ exitCode: result } as HostToolResponse) : result;
    if (stdout !== undefined) await this.#write(false, stdout);
    if (stderr !== undefined) await this.#write(true, stderr);
    if (!Number.isInteger(exitCode) || exitCode < 0 || exitCode > 255) {
      throw new Error(`the tool returned the exit code ${String(exitCode)}; expected an integer from 0 to 255`);
    }
    return exitCode;
  }

  async #threw(error: unknown): Promise<number> {
    try {
      if (this.#controller.signal.aborted || error instanceof BrokenPipeError) return DISCONNECTED;
      await this.#write(true, `${this.#details.tool}: ${messageOf(error)}\n`);
    } catch {
      // The process has ended; the message cannot be delivered.
    }
    return THREW;
  }

  reply(request: number, good: boolean, bytes: Uint8Array): void {
    const waiting = this.#waiting.get(request);
    this.#waiting.delete(request);
    if (good) waiting?.resolve(bytes);
    else waiting?.reject(waiting.toError(bytes));
  }

  cancel(why: string): void {
    const error = new Error(why);
    error.name = "AbortError";
    this.#controller.abort(error);
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }

  #request(response: (request: number) => HostResponse, toError: (bytes: Uint8Array) => Error): Promise<Uint8Array> {
    const { signal } = this.#controller;
    return quiet(
      new Promise<Uint8Array>((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason as Error);
        const request = ++this.#last;
        this.#waiting.set(request, { resolve, reject, toError });
        this.#respond(response(request));
      }),
    );
  }

  #write(stderr: boolean, data: string | Uint8Array): Promise<void> {
    const bytes = toBytes(data);
    const accepted = this.#request(
      (request) => ({ callback: "toolWrites", args: [this.#call, request, stderr, bytes] }),
      () => new BrokenPipeError(),
    );
    const written = quiet(accepted.then(() => {}));
    this.#writes.add(written);
    void quiet(written.finally(() => this.#writes.delete(written)));
    return written;
  }

  /** Data of the wrong type rejects instead of throwing. */
  async #writeAll(stderr: boolean, data: string | Uint8Array): Promise<void> {
    await this.#write(stderr, data);
  }

  #hostCall(): HostCall {
    const { argv, env, cwd, sandboxId } = this.#details;
    return {
      argv: argv.map((argument) => decoder.decode(argument)),
      argvBytes: argv,
      env: environment(env),
      cwd,
      sandboxId,
      stdin: this.#stdin(),
      stdout: this.#output(false),
      stderr: this.#output(true),
      files: this.#files(),
      signal: this.#controller.signal,
    };
  }

  #output(stderr: boolean): HostOutput {
    return {
      write: (data) => quiet(this.#writeAll(stderr, data)),
    };
  }

  #stdin(): HostInput {
    const read = (maxBytes = CHUNK_BYTES): Promise<Uint8Array> =>
      this.#request(
        (request) => ({ callback: "toolReads", args: [this.#call, request, maxBytes] }),
        () => new Error("cannot read standard input"),
      );
    const bytes = async (maxBytes = INPUT_BYTES): Promise<Uint8Array> => {
      const chunks: Uint8Array[] = [];
      let length = 0;
      for (let chunk = await read(); chunk.length > 0; chunk = await read()) {
        length += chunk.length;
        if (length > maxBytes) throw new Error(`standard input exceeds ${maxBytes} bytes, the limit of this command`);
        chunks.push(chunk);
      }
      return concat(chunks, length);
    };
    return {
      read,
      bytes: (maxBytes) => quiet(bytes(maxBytes)),
      text: (maxBytes) => quiet(bytes(maxBytes).then((all) => decoder.decode(all))),
      async *[Symbol.asyncIterator]() {
        for (let chunk = await read(); chunk.length > 0; chunk = await read()) yield chunk;
      },
    };
  }

  #files(): HostFiles {
    const toError = (bytes: Uint8Array) => new Error(decoder.decode(bytes));
    const read = (path: string | Uint8Array, maxBytes = FILE_BYTES): Promise<Uint8Array> =>
      this.#request(
        (request) => ({ callback: "toolReadsFile", args: [this.#call, request, toBytes(path), maxBytes] }),
        toError,
      );
    return {
      read,
      readText: (path, maxBytes) => quiet(read(path, maxBytes).then((bytes) => decoder.decode(bytes))),
      write: (path, content) => {
        const [name, bytes] = [toBytes(path), toBytes(content)];
        const write = (request: number): HostResponse => ({ callback: "toolWritesFile", args: [this.#call, request, name, bytes] });
        return quiet(this.#request(write, toError).then(() => {}));
      },
    };
  }
}

function concat(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** Converts `NAME=value` pairs to an object without a prototype. */
function environment(pairs: readonly Uint8Array[]): Record<string, string> {
  const variables = pairs.map((pair): [string, string] => {
    const text = decoder.decode(pair);
    const at = text.indexOf("=");
    return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  });
  return Object.assign(Object.create(null) as object, Object.fromEntries(variables));
}
