/** How options are checked: a wrong one is an error that names it. */

import { SandboxError } from "./error.js";

export function wrong(message: string): SandboxError {
  return new SandboxError(`wrong options: ${message}`, "INVALID_OPTIONS");
}

export function known(what: string, object: object, names: readonly string[]): void {
  for (const name of Object.keys(object)) {
    if (!names.includes(name)) throw wrong(`there is no ${what} '${name}'; there are ${names.join(", ")}`);
  }
}

export function record<T>(
  name: string, value: unknown, check: (value: unknown) => value is T, kind: string,
): Record<string, T> {
  if (typeof value !== "object" || value === null) throw wrong(`${name} must be an object`);
  for (const [key, item] of Object.entries(value)) {
    if (!check(item)) throw wrong(`${name}: '${key}' must be ${kind}`);
  }
  return { ...(value as Record<string, T>) };
}

export const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;
export const isText = (value: unknown): value is string => typeof value === "string";
export const isContent = (value: unknown): value is string | Uint8Array => isText(value) || isBytes(value);
export const isCount = (value: unknown): value is number => typeof value === "number" && value >= 0;

/** Without what is undefined. */
export function defined<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as never;
}

/** Refuses arguments of the wrong kind, by their names. */
export function checkArguments(given: Readonly<Record<string, unknown>>, is: (value: unknown) => boolean, kind: string): void {
  for (const [name, value] of Object.entries(given)) {
    if (!is(value)) throw new SandboxError(`${name} must be ${kind}`, "INVALID_OPTIONS");
  }
}
