/** What the type definitions of TypeScript do not know yet: the JavaScript Promise Integration of WebAssembly. */
declare namespace WebAssembly {
  /** Marks a function whose promise suspends the guest that calls it. Absent in engines without JSPI. */
  const Suspending: new (work: (...values: number[]) => Promise<number>) => object;

  /** Makes an exported function answer a promise, so that it can be suspended. Absent in engines without JSPI. */
  function promising(work: (...values: number[]) => unknown): (...values: number[]) => Promise<unknown>;
}
