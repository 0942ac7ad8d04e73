// What the engine that runs the tests can do.

/** Whether guests can be suspended. */
export const jspi = typeof WebAssembly.Suspending === "function" && typeof WebAssembly.promising === "function";

/** True if sandboxes run in this thread by default; see `guard.mjs`. */
export const isCaller = globalThis[Symbol.for("tidebox.thread")] === "caller";

/** Reason to skip a test that terminates Workers. */
export const noWorkers = isCaller ? "sandboxes run in the caller's thread, without Workers" : false;
