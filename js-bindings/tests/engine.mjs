// What the engine that runs the tests can do.

/** Whether guests can be suspended. */
export const jspi = typeof WebAssembly.Suspending === "function" && typeof WebAssembly.promising === "function";
