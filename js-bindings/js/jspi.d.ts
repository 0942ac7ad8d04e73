/** Declarations of the JavaScript Promise Integration (JSPI) of WebAssembly, which TypeScript lacks. */
declare namespace WebAssembly {
  /** Marks a function whose promise suspends the guest that calls it. Absent in engines without JSPI. */
  const Suspending: new (work: (...values: number[]) => Promise<number>) => object;

  /** Makes an exported function return a promise, so that it can be suspended. Absent in engines without JSPI. */
  function promising(work: (...values: number[]) => unknown): (...values: number[]) => Promise<unknown>;
}
