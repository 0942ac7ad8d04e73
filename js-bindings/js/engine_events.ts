/** Events of the kernel and of the engine for the side of a worker that receives messages. */

import type { HostRequest, OutgoingRequest, ToolCall } from "./messages.js";

/** Receives the events of the engine. */
export interface EngineListener {
  /** Output of a command whose caller streams it. */
  output(sandbox: number, call: number, stderr: boolean, bytes: Uint8Array): void;
  /** A request to the application. */
  request(sandbox: number, request: HostRequest): void;
  /** True if the caller has cancelled a call, without reading messages. */
  cancelled(call: number): boolean;
  /**
   * Handles messages of the application; without any, waits for one up to `milliseconds`. Absent if the worker cannot receive
   * messages while a guest is on the stack.
   */
  readonly listen?: ((milliseconds: number) => void) | undefined;
  /** True if messages of the application may have arrived since the last turn of the event loop. */
  hasMessages(): boolean;
  /** Called when a sandbox starts to run, and with 0 when none runs. */
  running(sandbox: number): void;
  /** A sandbox has waited for its turn for long. */
  busy(): void;
  /** Called after the kernel has trapped. Its state is no longer consistent. */
  crashed(error: unknown, sandbox?: number): void;
}

/** Receives all events; `undefined` before the engine is configured. */
export let listener: EngineListener | undefined;

export function setListener(receiver: EngineListener): void {
  listener = receiver;
}

export function deliver(sandbox: number, call: number, stderr: boolean, bytes: Uint8Array): void {
  listener?.output(sandbox, call, stderr, bytes.slice());
}

export function cancelled(call: number): boolean {
  return listener?.cancelled(call) ?? false;
}

export function toolCall(sandbox: number, call: number, details: ToolCall): void {
  listener?.request(sandbox, { type: "toolCall", call, details });
}

export function toolReply(sandbox: number, call: number, request: number, good: boolean, bytes: Uint8Array): void {
  listener?.request(sandbox, { type: "toolReply", call, request, good, bytes: bytes.slice() });
}

export function toolCancelled(sandbox: number, call: number): void {
  listener?.request(sandbox, { type: "toolCancelled", call });
}

export function netResolve(sandbox: number, request: number, name: string, withinMs: number): void {
  listener?.request(sandbox, { type: "netResolve", request, name, withinMs });
}

export function netSend(sandbox: number, request: number, details: OutgoingRequest): void {
  listener?.request(sandbox, { type: "netSend", request, details });
}

export function portChunk(sandbox: number, stream: number, chunk: Uint8Array): void {
  listener?.request(sandbox, { type: "portChunk", stream, chunk: chunk.slice() });
}

export function portEnded(sandbox: number, stream: number, isReset: boolean): void {
  listener?.request(sandbox, { type: "portEnded", stream, isReset });
}

export function portWritten(sandbox: number, stream: number, isOpen: boolean): void {
  listener?.request(sandbox, { type: "portWritten", stream, isOpen });
}

export function netBody(sandbox: number, request: number, chunk: Uint8Array, end: boolean): void {
  listener?.request(sandbox, { type: "netBody", request, chunk: chunk.slice(), end });
}

export function netBodyFailed(sandbox: number, request: number): void {
  listener?.request(sandbox, { type: "netBodyFailed", request });
}

export function netPull(sandbox: number, request: number): void {
  listener?.request(sandbox, { type: "netPull", request });
}

export function netCancelled(sandbox: number, request: number): void {
  listener?.request(sandbox, { type: "netCancelled", request });
}
