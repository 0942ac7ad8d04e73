/** What the package exports on every platform. */
export { SandboxError } from "./error.js";
export type { SandboxErrorCode } from "./error.js";
export { Sandbox } from "./sandbox.js";
export type { ExecuteOptions, Limits, SandboxOptions } from "./options.js";
export type * from "./protocol.js";
