/// <reference lib="esnext.disposable" preserve="true" />
/** Servers in a local sandbox: connections to them, and ports of this computer that lead to them. */

import { checkKeys, invalidOptions } from "./check.js";
import { abortedError, closedError } from "./connection_error.js";
import { SandboxError } from "./error.js";
import type { CallOptions } from "./options.js";
import { checkSignal } from "./options.js";
import type { PortStream } from "./port_streams.js";
import { hasJspi } from "./suspension.js";

/** Options of `expose`. */
export interface ExposeOptions extends CallOptions {
  /** Port of this computer's 127.0.0.1, below 65,536. Default 0: a free one. */
  hostPort?: number;
}

/** Options of `waitForPort`. */
export interface WaitForPortOptions extends CallOptions {
  /** Maximum milliseconds to wait. Default 30,000. */
  timeoutMs?: number;
}

/**
 * A port of this computer that leads to a port of a sandbox, until it or the sandbox is closed.
 *
 * Every program on this computer can connect to it. Web pages cannot: an HTTP request for another host than `127.0.0.1` or
 * `localhost` gets the status 403. It does not keep the application running; its connections do.
 */
export interface ExposedPort extends AsyncDisposable {
  /** URL of an HTTP server at the port, such as `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Address of this computer: `127.0.0.1`. */
  readonly host: string;
  /** Port of this computer. */
  readonly port: number;
  /** Port in the sandbox. */
  readonly sandboxPort: number;
  /** Closes the port and its connections. Closing twice is not an error. */
  close(): Promise<void>;
}

/**
 * A connection to a server in a sandbox, without a port of this computer. Both streams have backpressure and are independent:
 * closing `writable` ends the data to the server, which can still send. Cancelling `readable` or aborting `writable` closes the
 * connection.
 */
export interface PortConnection extends AsyncDisposable {
  /** Data of the server. */
  readonly readable: ReadableStream<Uint8Array>;
  /** Data to the server. A write resolves before the server has read it. */
  readonly writable: WritableStream<Uint8Array>;
  /** Closes the connection in both directions. Data that the server has not received is dropped. Closing twice is not an error. */
  close(): Promise<void>;
}

/** @internal A port of this computer, opened by the platform. */
export interface HostPort {
  readonly port: number;
  /** Closes it and its connections. */
  close(): Promise<void>;
}

/** @internal Connects to a port of the sandbox, when its server accepts the connection. */
export type Connect = (signal: AbortSignal) => Promise<PortStream>;

/** @internal Opens a port of 127.0.0.1, 0 for a free one, and passes its connections on. Rejects if the port cannot be opened. */
export type Listen = (hostPort: number, connect: Connect) => Promise<HostPort>;

/** @internal What the ports of a sandbox use. */
export interface PortsOwner {
  readonly listen: Listen;
  /** Connects to a port. `waits`: until the server accepts the connection. */
  connectPort(port: number, waits: boolean, signal: AbortSignal | undefined): Promise<PortStream>;
}

const HOST = "127.0.0.1";

/** @internal The exposed ports of a sandbox. */
export class ExposedPorts {
  readonly #owner: PortsOwner;
  readonly #open = new Set<ExposedPort>();
  /** By port of the sandbox. They are open until the sandbox is closed. */
  readonly #endpoints = new Map<number, Promise<ExposedPort>>();
  #isClosed = false;

  constructor(owner: PortsOwner) {
    this.#owner = owner;
  }

  async expose(sandboxPort: number, hostPort: number, signal?: AbortSignal): Promise<ExposedPort> {
    if (!hasJspi()) {
      const message = "servers in a sandbox require an engine that can suspend WebAssembly (JSPI): Node 24.20, Deno 2.4 or a current browser";
      throw new SandboxError(message, "UNSUPPORTED");
    }
    const opened = await this.#owner.listen(hostPort, (aborted) => this.#owner.connectPort(sandboxPort, true, aborted));
    const close = async () => {
      this.#open.delete(exposed);
      await opened.close();
    };
    const { port } = opened;
    const exposed: ExposedPort = { url: `http://${HOST}:${port}`, host: HOST, port, sandboxPort, close, [Symbol.asyncDispose]: close };
    this.#open.add(exposed);
    if (!this.#isClosed && signal?.aborted !== true) return exposed;
    await close();
    throw this.#isClosed || signal === undefined ? closedError() : abortedError(signal);
  }

  /** Returns the address of a port. It remains until the sandbox is closed. */
  async endpoint(port: number): Promise<ExposedPort> {
    let exposed = this.#endpoints.get(port);
    if (exposed === undefined) {
      exposed = this.expose(port, 0);
      this.#endpoints.set(port, exposed);
      // The next call tries again.
      exposed.catch(() => this.#endpoints.delete(port));
    }
    return exposed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open].map((exposed) => exposed.close()));
  }
}

/** @internal Returns a connection with web streams. */
export function portConnection(stream: PortStream): PortConnection {
  const close = async () => stream.close();
  const readable = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await stream.read();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: close,
  }, { highWaterMark: 0 });
  const writable = new WritableStream<Uint8Array>({
    async write(chunk) {
      if (!(chunk instanceof Uint8Array)) throw invalidOptions("data for a server must be a Uint8Array; pipe text through a TextEncoderStream");
      await stream.write(chunk);
    },
    close: () => stream.end(),
    abort: close,
  });
  return { readable, writable, close, [Symbol.asyncDispose]: close };
}

/** @internal Validates a port of a sandbox. */
export function checkPort(port: number): void {
  if (!isPort(port) || port === 0) throw invalidOptions(`port must be a number from 1 to 65535, not ${String(port)}`);
}

/** @internal Validates the options of `expose`, and returns the port of this computer. */
export function checkExposeOptions(options: ExposeOptions): number {
  checkOptionKeys(options, ["hostPort", "signal"]);
  const { hostPort = 0 } = options;
  if (!isPort(hostPort)) throw invalidOptions(`hostPort must be a number from 0 to 65535, not ${String(hostPort)}`);
  return hostPort;
}

/** Milliseconds for which `waitForPort` waits by default. */
const WAIT_MS = 30_000;

/** @internal Validates the options of `waitForPort`, and returns the milliseconds. */
export function checkWaitOptions(options: WaitForPortOptions): number {
  checkOptionKeys(options, ["timeoutMs", "signal"]);
  const { timeoutMs = WAIT_MS } = options;
  if (typeof timeoutMs !== "number" || !(timeoutMs >= 0)) throw invalidOptions("timeoutMs must be a non-negative number");
  return timeoutMs;
}

function checkOptionKeys(options: CallOptions, names: readonly string[]): void {
  if (typeof options !== "object" || options === null) throw invalidOptions("options must be an object");
  checkKeys("option", options, names);
  checkSignal(options.signal);
}

function isPort(port: unknown): port is number {
  return Number.isInteger(port) && (port as number) >= 0 && (port as number) <= 65_535;
}
