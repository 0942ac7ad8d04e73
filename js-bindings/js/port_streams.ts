/**
 * Connections of the application to servers of a sandbox: the caller's side of `src/ports.rs`.
 *
 * Each direction has at most a few chunks in transfer. So a slow reader slows the writer down, and neither side buffers more.
 */

import { SandboxError } from "./error.js";
import type { HostResponse, PortEvent } from "./messages.js";

/** Chunks of one direction that are in transfer. */
const MAX_CHUNKS = 4;
/** Maximum size of a chunk: the default capacity of a pipe. */
const CHUNK_BYTES = 64 << 10;

/** The connections of one sandbox in its worker. */
export class PortStreams {
  readonly #send: (message: HostResponse) => void;
  readonly #keep: (isKept: boolean) => void;
  readonly #streams = new Map<number, PortStream>();
  /** Connections that wait for data. */
  readonly #waiting = new Set<PortStream>();
  #releasing: ReturnType<typeof setTimeout> | undefined;

  /** `keep` sets whether a connection waits for data. */
  constructor(send: (message: HostResponse) => void, keep: (isKept: boolean) => void) {
    this.#send = send;
    this.#keep = keep;
  }

  /** True if there are connections. Such a sandbox cannot continue in another worker. */
  get isUsed(): boolean {
    return this.#streams.size > 0;
  }

  /** Adds a connection that is being made, with a number that is unique in this process. */
  add(number: number): PortStream {
    const stream: PortStream = new PortStream({
      send: (message) => this.#send(message),
      number,
      changed: (isWaiting) => this.#count(stream, isWaiting),
      closed: () => this.#streams.delete(number),
    });
    this.#streams.set(number, stream);
    return stream;
  }

  #count(stream: PortStream, isWaiting: boolean): void {
    if (isWaiting) {
      this.#waiting.add(stream);
      this.#keep(true);
    } else if (this.#waiting.delete(stream) && this.#waiting.size === 0 && this.#releasing === undefined) {
      // Later, because most callers read or write again immediately.
      this.#releasing = setTimeout(() => {
        this.#releasing = undefined;
        this.#keep(this.#waiting.size > 0);
      });
    }
  }

  /** Handles an event of the worker. */
  handle(event: PortEvent): void {
    this.#streams.get(event.stream)?.handle(event);
  }

  /** Called when the sandbox has ended in its worker. */
  stop(why: SandboxError): void {
    for (const stream of [...this.#streams.values()]) stream.fail(why);
  }
}

interface StreamOwner {
  readonly number: number;
  send(message: HostResponse): void;
  /** Called when the connection starts or stops to wait for data. */
  changed(isWaiting: boolean): void;
  closed(): void;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** A connection. Reads and writes are independent, and each runs one at a time. */
export class PortStream {
  readonly #owner: StreamOwner;
  #chunks: Uint8Array[] = [];
  /** Chunks that were sent and not confirmed. */
  #unwritten = 0;
  #hasEnded = false;
  /** False after the server has stopped reading, or the data to it has ended. */
  #isWritable = true;
  #error: SandboxError | undefined;
  #reader: Waiter | undefined;
  #writer: Waiter | undefined;

  constructor(owner: StreamOwner) {
    this.#owner = owner;
  }

  /** Called when the connection exists: requests the first chunks. */
  start(): void {
    if (this.#error === undefined) this.#send({ callback: "portPull", args: [this.#owner.number, MAX_CHUNKS] });
  }

  /** Returns the next data of the server; `undefined` after its end. Rejects if the connection is closed or reset. */
  async read(): Promise<Uint8Array | undefined> {
    while (this.#chunks.length === 0 && !this.#hasEnded && this.#error === undefined) {
      await this.#wait((waiter) => (this.#reader = waiter));
    }
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      if (!this.#hasEnded && this.#error === undefined) this.#send({ callback: "portPull", args: [this.#owner.number, 1] });
      return chunk;
    }
    if (this.#error !== undefined) throw this.#error;
    return undefined;
  }

  /** Sends data to the server, and waits while too much was not written. Rejects if the server no longer reads. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      await this.#waitForWrites(MAX_CHUNKS - 1);
      // A copy: sending a part of a buffer would copy all of it.
      const chunk = new Uint8Array(bytes.subarray(at, at + CHUNK_BYTES));
      this.#unwritten += 1;
      this.#report();
      this.#send({ callback: "portWrite", args: [this.#owner.number, chunk] });
    }
  }

  /** Ends the data to the server, after what was written. The server can still send. */
  async end(): Promise<void> {
    await this.#waitForWrites(0);
    this.#isWritable = false;
    this.#send({ callback: "portEnd", args: [this.#owner.number] });
    this.#closeIfDone();
  }

  /** Closes the connection in both directions. Data that was not written is dropped. */
  close(): void {
    this.fail(new SandboxError("the connection was closed", "CLOSED"));
  }

  /** Closes the connection with an error for the calls that wait. */
  fail(error: SandboxError): void {
    this.#chunks = [];
    this.#close(error);
  }

  /** Closes the connection. Data that has arrived can be read. */
  #close(error: SandboxError): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.#send({ callback: "portClose", args: [this.#owner.number] });
    this.#finish();
  }

  handle(event: PortEvent): void {
    switch (event.type) {
      case "portChunk":
        this.#chunks.push(event.chunk);
        break;
      case "portEnded":
        if (event.isReset) return this.#close(new SandboxError("the program in the sandbox has closed the connection", "UNAVAILABLE"));
        this.#hasEnded = true;
        this.#closeIfDone();
        break;
      case "portWritten":
        this.#unwritten -= 1;
        this.#isWritable &&= event.isOpen;
        this.#closeIfDone();
    }
    this.#wake();
  }

  async #waitForWrites(most: number): Promise<void> {
    for (;;) {
      if (this.#error !== undefined) throw this.#error;
      if (!this.#isWritable) throw new SandboxError("the program in the sandbox no longer reads from the connection", "UNAVAILABLE");
      if (this.#unwritten <= most) return;
      await this.#wait((waiter) => (this.#writer = waiter));
    }
  }

  #wait(register: (waiter: Waiter) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      register({ resolve, reject });
      this.#report();
    });
  }

  #wake(): void {
    const waiting = [this.#reader, this.#writer];
    this.#reader = this.#writer = undefined;
    for (const waiter of waiting) waiter?.resolve();
    this.#report();
  }

  #report(): void {
    const isOpen = this.#error === undefined;
    const isWriting = this.#unwritten > 0 && this.#isWritable;
    this.#owner.changed(isOpen && (this.#reader !== undefined || this.#writer !== undefined || isWriting));
  }

  #closeIfDone(): void {
    if (this.#hasEnded && !this.#isWritable) this.#finish();
  }

  #finish(): void {
    this.#isWritable = false;
    this.#hasEnded = true;
    this.#wake();
    this.#owner.closed();
  }

  #send(message: HostResponse): void {
    this.#owner.send(message);
  }
}
