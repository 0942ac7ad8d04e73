/** The mode in which instances are used again, which tests set. */

import type { ReuseMode } from "./instance_pool.js";

/** Key of a global with the mode. Reading a variable would need a permission in Deno. */
export const REUSE = Symbol.for("tidebox.reuse");

const TEST_MODES: readonly unknown[] = ["off", "check", "one"] satisfies ReuseMode[];

/** Tests compare every reset instance with a new one, keep one of each program, or do without. */
export function reuse(mode: unknown): ReuseMode {
  return TEST_MODES.includes(mode) ? (mode as ReuseMode) : "on";
}
