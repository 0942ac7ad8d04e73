/** The caller's side of host tools: functions that run here while their processes are in a Worker. */

import type { HostAnswer, HostCall, HostFiles, HostInput, HostOutput, HostResult, HostTool } from "./host_tool.js";
import { Disconnected } from "./host_tool.js";
import type { Ask, Tell, ToolCall } from "./messages.js";
import { reasonOf } from "./reason.js";

/** Exit code of a tool that threw. */
const THREW = 1;
/** 128 and the number of SIGPIPE, as shells show it. */
const DISCONNECTED = 141;

/** Bytes that one read asks for. */
const PIECE_BYTES = 65536;
/** Bytes that a tool takes from standard input unless it says otherwise. */
const INPUT_BYTES = 16 << 20;
/** Bytes of a file that a tool reads unless it says otherwise. */
const FILE_BYTES = 64 << 20;

const encoder = new TextEncoder();
/** Keeps a byte order mark: it is the guest's. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function toBytes(data: string | Uint8Array): Uint8Array {
  if (typeof data === "string") return encoder.encode(data);
  if (data instanceof Uint8Array) return data;
  throw new TypeError("write takes a string or a Uint8Array");
}

/** A promise that may be left alone: a tool that does not wait for it must not end the program. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** The calls that are in progress in one Worker. */
export class HostCalls {
  readonly #tools: Readonly<Record<string, HostTool>>;
  readonly #tell: (tell: Tell) => void;
  readonly #calls = new Map<number, Calling>();

  constructor(tools: Readonly<Record<string, HostTool>>, tell: (tell: Tell) => void) {
    this.#tools = tools;
    this.#tell = tell;
  }

  /** What the Worker asks for. */
  asked(ask: Ask): void {
    switch (ask.ask) {
      case "toolCall": {
        const calling = new Calling(ask.call, ask.told, this.#tell);
        this.#calls.set(ask.call, calling);
        const tool = Object.hasOwn(this.#tools, ask.told.tool) ? this.#tools[ask.told.tool] : undefined;
        void calling.run(tool);
        break;
      }
      case "toolReply":
        this.#calls.get(ask.call)?.reply(ask.request, ask.good, ask.bytes);
        break;
      case "toolOver":
        this.#calls.get(ask.call)?.over("the command is over");
        this.#calls.delete(ask.call);
        break;
    }
  }

  /** The Worker is no more. */
  stop(): void {
    for (const calling of this.#calls.values()) calling.over("the sandbox is gone");
    this.#calls.clear();
  }
}

interface Waiting {
  resolve(bytes: Uint8Array): void;
  reject(error: Error): void;
}

/** One call of a tool. */
class Calling {
  readonly #call: number;
  readonly #told: ToolCall;
  readonly #tell: (tell: Tell) => void;
  readonly #controller = new AbortController();
  readonly #waiting = new Map<number, Waiting & { refuse(bytes: Uint8Array): Error }>();
  /** Writes in progress: the call ends after them. */
  readonly #writes = new Set<Promise<void>>();
  #last = 0;

  constructor(call: number, told: ToolCall, tell: (tell: Tell) => void) {
    this.#call = call;
    this.#told = told;
    this.#tell = tell;
  }

  /** Runs the function to its end, whatever it does; never rejects. */
  async run(tool: HostTool | undefined): Promise<void> {
    let code: number;
    try {
      if (tool === undefined) throw new Error("the application does not answer this command any more");
      code = await this.#finish(await tool(this.#hostCall()));
      await Promise.all(this.#writes);
    } catch (error) {
      code = await this.#threw(error);
    }
    if (!this.#controller.signal.aborted) this.#tell({ tell: "toolEnds", args: [this.#call, code] });
  }

  async #finish(result: HostResult): Promise<number> {
    if (result === undefined || result === null) return 0;
    const { stdout, stderr, exitCode = 0 } = typeof result === "number" ? ({ exitCode: result } as HostAnswer) : result;
    if (stdout !== undefined) await this.#write(false, stdout);
    if (stderr !== undefined) await this.#write(true, stderr);
    if (!Number.isInteger(exitCode) || exitCode < 0 || exitCode > 255) {
      throw new Error(`the tool answered the exit code ${String(exitCode)}, which is none from 0 to 255`);
    }
    return exitCode;
  }

  async #threw(error: unknown): Promise<number> {
    try {
      if (this.#controller.signal.aborted || error instanceof Disconnected) return DISCONNECTED;
      await this.#write(true, `${this.#told.tool}: ${reasonOf(error)}\n`);
    } catch {
      // Nobody hears it.
    }
    return THREW;
  }

  reply(request: number, good: boolean, bytes: Uint8Array): void {
    const waiting = this.#waiting.get(request);
    this.#waiting.delete(request);
    if (good) waiting?.resolve(bytes);
    else waiting?.reject(waiting.refuse(bytes));
  }

  over(why: string): void {
    const error = new Error(why);
    error.name = "AbortError";
    this.#controller.abort(error);
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }

  #ask(tell: (request: number) => Tell, refuse: (bytes: Uint8Array) => Error): Promise<Uint8Array> {
    const { signal } = this.#controller;
    return quiet(
      new Promise<Uint8Array>((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason as Error);
        const request = ++this.#last;
        this.#waiting.set(request, { resolve, reject, refuse });
        this.#tell(tell(request));
      }),
    );
  }

  #write(stderr: boolean, data: string | Uint8Array): Promise<void> {
    const bytes = toBytes(data);
    const asked = this.#ask(
      (request) => ({ tell: "toolWrites", args: [this.#call, request, stderr, bytes] }),
      () => new Disconnected(),
    );
    const written = quiet(asked.then(() => {}));
    this.#writes.add(written);
    void quiet(written.finally(() => this.#writes.delete(written)));
    return written;
  }

  /** What cannot be written rejects as everything else does. */
  async #writeAll(stderr: boolean, data: string | Uint8Array): Promise<void> {
    await this.#write(stderr, data);
  }

  #hostCall(): HostCall {
    const { argv, env, cwd, sandboxId } = this.#told;
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
    const read = (most = PIECE_BYTES): Promise<Uint8Array> =>
      this.#ask(
        (request) => ({ tell: "toolReads", args: [this.#call, request, most] }),
        () => new Error("standard input cannot be read"),
      );
    const bytes = async (most = INPUT_BYTES): Promise<Uint8Array> => {
      const pieces: Uint8Array[] = [];
      let length = 0;
      for (let piece = await read(); piece.length > 0; piece = await read()) {
        length += piece.length;
        if (length > most) throw new Error(`standard input is longer than the ${most} bytes that this command takes`);
        pieces.push(piece);
      }
      return joined(pieces, length);
    };
    return {
      read,
      bytes: (most) => quiet(bytes(most)),
      text: (most) => quiet(bytes(most).then((all) => decoder.decode(all))),
      async *[Symbol.asyncIterator]() {
        for (let piece = await read(); piece.length > 0; piece = await read()) yield piece;
      },
    };
  }

  #files(): HostFiles {
    const refused = (bytes: Uint8Array) => new Error(decoder.decode(bytes));
    const read = (path: string | Uint8Array, most = FILE_BYTES): Promise<Uint8Array> =>
      this.#ask(
        (request) => ({ tell: "toolReadsFile", args: [this.#call, request, toBytes(path), most] }),
        refused,
      );
    return {
      read,
      readText: (path, most) => quiet(read(path, most).then((bytes) => decoder.decode(bytes))),
      write: (path, content) => {
        const [name, bytes] = [toBytes(path), toBytes(content)];
        const ask = (request: number): Tell => ({ tell: "toolWritesFile", args: [this.#call, request, name, bytes] });
        return quiet(this.#ask(ask, refused).then(() => {}));
      },
    };
  }
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** `NAME=value` pairs as an object, which has no names but theirs. */
function environment(pairs: readonly Uint8Array[]): Record<string, string> {
  const variables = pairs.map((pair): [string, string] => {
    const text = decoder.decode(pair);
    const at = text.indexOf("=");
    return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  });
  return Object.assign(Object.create(null) as object, Object.fromEntries(variables));
}
