/** Servers in a local sandbox: connections to them, and ports of this computer that lead to them. */
/// <reference lib="esnext.disposable" preserve="true" />
import type { CallOptions } from "./options.js";
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
