/** Detection of JSPI, the suspension of WebAssembly. */

/** True if the engine can suspend guests (JSPI). */
export function hasJspi(): boolean {
  return typeof WebAssembly.Suspending === "function" && typeof WebAssembly.promising === "function";
}
