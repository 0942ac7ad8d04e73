/** Ports of this computer's 127.0.0.1 that lead to servers in sandboxes, in Node and Deno. */

import type { AddressInfo, Server, Socket } from "node:net";
import { createServer } from "node:net";

import { SandboxError } from "./error.js";
import { isForOtherHost, isHeadComplete } from "./http_head.js";
import type { PortStream } from "./port_streams.js";
import type { Connect, HostPort } from "./ports.js";

/** Connections through one port that exist concurrently; further ones wait. */
const MAX_CONNECTIONS = 256;
/** Connections that wait; further ones are closed. */
const MAX_WAITING = 1024;
/** Milliseconds in which most clients send their first bytes. The others are connected then, and examined when they send. */
const FIRST_BYTES_MS = 200;

const HOST = "127.0.0.1";
const REFUSAL = "this port of a sandbox serves 127.0.0.1 and localhost only\n";

/** Opens a port, 0 for a free one, and passes its connections to the sandbox. */
export async function listen(hostPort: number, connect: Connect): Promise<HostPort> {
  const server = createServer({ allowHalfOpen: true });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host: HOST, port: hostPort }, resolve);
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SandboxError(`cannot listen on ${HOST}${hostPort === 0 ? "" : `:${hostPort}`}: ${reason}`, "UNAVAILABLE", { cause: error });
  }
  server.unref();
  return new ForwardedPort(server, connect);
}

class ForwardedPort implements HostPort {
  readonly port: number;
  readonly #server: Server;
  readonly #connect: Connect;
  readonly #clients = new Set<Client>();
  readonly #waiting: Socket[] = [];
  #closed: Promise<void> | undefined;

  constructor(server: Server, connect: Connect) {
    this.#server = server;
    this.#connect = connect;
    this.port = (server.address() as AddressInfo).port;
    server.on("connection", (socket: Socket) => this.#accept(socket));
    // One that could not be accepted, because the process has too many open files.
    server.on("error", () => {});
  }

  #accept(socket: Socket): void {
    socket.on("error", () => {});
    if (this.#closed !== undefined || this.#waiting.length >= MAX_WAITING) return void socket.destroy();
    if (this.#clients.size >= MAX_CONNECTIONS) return void this.#waiting.push(socket);
    const client = new Client(socket);
    this.#clients.add(client);
    void forward(client, this.port, this.#connect).catch(() => {}).finally(() => {
      client.close();
      this.#clients.delete(client);
      this.#acceptWaiting();
    });
  }

  /** Accepts the oldest connection that waits. Some may have ended before. */
  #acceptWaiting(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (!next.destroyed) return this.#accept(next);
    }
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.#waiting.splice(0)) socket.destroy();
      for (const client of this.#clients) client.close();
    });
    return this.#closed;
  }
}

/** Passes the data of a connection on in both directions, until both have ended or one has failed. */
async function forward(client: Client, port: number, connect: Connect): Promise<void> {
  const { signal } = client;
  const head = new RequestHead(client, port);
  await within(FIRST_BYTES_MS, head.read());
  if (head.isForOtherHost) return client.refuse();
  const stream = await connect(signal);
  const stop = () => stream.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.all([sendResponses(stream, client), sendRequests(head, client, stream)]);
  } finally {
    signal.removeEventListener("abort", stop);
    stream.close();
  }
}

async function sendResponses(stream: PortStream, client: Client): Promise<void> {
  for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) await client.write(chunk);
  await client.end();
}

async function sendRequests(head: RequestHead, client: Client, stream: PortStream): Promise<void> {
  await head.read();
  if (head.isForOtherHost) throw new Error("the request is for another host");
  try {
    for (const chunk of head.takeChunks()) await stream.write(chunk);
    for (let chunk = await client.read(); chunk !== undefined; chunk = await client.read()) await stream.write(chunk);
    await stream.end();
  } catch (error) {
    // A server that no longer reads may still respond. If the connection has failed, its responses end, too.
    if (!(error instanceof SandboxError)) throw error;
  }
}

/** The first bytes of a client. */
class RequestHead {
  readonly #client: Client;
  readonly #port: number;
  readonly #chunks: Uint8Array[] = [];
  #text = "";
  #isForOtherHost = false;
  #reading: Promise<void> | undefined;

  constructor(client: Client, port: number) {
    this.#client = client;
    this.#port = port;
  }

  /** Reads until the end of the head of an HTTP request, or until the bytes cannot be one. */
  read(): Promise<void> {
    this.#reading ??= this.#read();
    return this.#reading;
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder("latin1");
    while (!isHeadComplete(this.#text)) {
      const chunk = await this.#client.read();
      if (chunk === undefined) break;
      this.#chunks.push(chunk);
      this.#text += decoder.decode(chunk);
    }
    this.#isForOtherHost = isForOtherHost(this.#text, this.#port);
  }

  /** Returns what was read. Called once, when it was. */
  takeChunks(): Uint8Array[] {
    this.#text = "";
    return this.#chunks.splice(0);
  }

  /** True if a request was read that is for another host. */
  get isForOtherHost(): boolean {
    return this.#isForOtherHost;
  }
}

/** A client of an exposed port. It is read one chunk at a time. */
class Client {
  readonly #socket: Socket;
  readonly #controller = new AbortController();
  readonly #chunks: Uint8Array[] = [];
  #hasEnded = false;
  /** Resumes what waits for an event of the socket. */
  #wake: (() => void)[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    const wake = () => {
      for (const resume of this.#wake.splice(0)) resume();
    };
    socket.on("data", (chunk: Uint8Array) => {
      socket.pause();
      this.#chunks.push(chunk);
      wake();
    });
    socket.on("end", () => {
      this.#hasEnded = true;
      wake();
    });
    socket.on("drain", wake);
    socket.on("finish", wake);
    socket.on("close", () => {
      // After both ends it is complete, and the server may still have to read.
      if (!this.#hasEnded || !socket.writableFinished) this.#controller.abort();
      wake();
    });
  }

  /** Aborted when the connection is closed. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Returns the next data; `undefined` after its end. Rejects if the connection has failed. */
  async read(): Promise<Uint8Array | undefined> {
    while (this.#chunks.length === 0 && !this.#hasEnded) {
      this.#check();
      this.#socket.resume();
      await this.#event();
    }
    return this.#chunks.shift();
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#check();
    if (this.#socket.write(chunk)) return;
    while (this.#socket.writableNeedDrain) {
      await this.#event();
      this.#check();
    }
  }

  /** Ends the data to the client, and waits until the system has all of it. */
  async end(): Promise<void> {
    this.#socket.end();
    while (!this.#socket.writableFinished) {
      this.#check();
      await this.#event();
    }
  }

  /** Closes the connection, and what it was connected to. */
  close(): void {
    this.#controller.abort();
    this.#socket.destroy();
  }

  /** Responds to a request for another host. */
  async refuse(): Promise<void> {
    const head = `HTTP/1.1 403 Forbidden\r\nContent-Length: ${REFUSAL.length}\r\nConnection: close\r\n\r\n`;
    this.#socket.write(head + REFUSAL);
    await this.end();
  }

  #check(): void {
    if (this.#socket.destroyed) throw new Error("the client has closed the connection");
  }

  #event(): Promise<void> {
    return new Promise((resolve) => void this.#wake.push(resolve));
  }
}

/** Waits for work, at most for this time. */
async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
