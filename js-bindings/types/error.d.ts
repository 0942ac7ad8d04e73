/** The one error that this package throws, and only outside of the tools of an agent. */
/** Codes of Deep Agents, and `SETUP_FAILED` for a sandbox that could not be made. */
export type SandboxErrorCode = "NOT_INITIALIZED" | "ALREADY_INITIALIZED" | "INVALID_OPTIONS" | "SETUP_FAILED" | "CLOSED";
declare const BRAND: unique symbol;
/** A sandbox could not be made. Deep Agents recognises it across copies of packages by its brand. */
export declare class SandboxError extends Error {
    readonly [BRAND] = true;
    readonly code: SandboxErrorCode;
    constructor(message: string, code: SandboxErrorCode, options?: ErrorOptions);
    /** Whether a value is such an error, also of another copy of this package or of Deep Agents. */
    static isInstance(value: unknown): value is SandboxError;
}
export {};
