/** Checks of options. An invalid option is an error that names it. */

import { SandboxError } from "./error.js";

export function invalidOptions(message: string): SandboxError {
  return new SandboxError(`invalid options: ${message}`, "INVALID_OPTIONS");
}

export function checkKeys(what: string, object: object, names: readonly string[]): void {
  for (const name of Object.keys(object)) {
    if (!names.includes(name)) throw invalidOptions(`unknown ${what} '${name}'; expected one of: ${names.join(", ")}`);
  }
}

export function checkRecord<T>(
  name: string, value: unknown, check: (value: unknown) => value is T, kind: string,
): Record<string, T> {
  if (typeof value !== "object" || value === null) throw invalidOptions(`${name} must be an object`);
  for (const [key, item] of Object.entries(value)) {
    if (!check(item)) throw invalidOptions(`${name}: '${key}' must be ${kind}`);
  }
  return { ...(value as Record<string, T>) };
}

export const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;
export const isText = (value: unknown): value is string => typeof value === "string";
export const isContent = (value: unknown): value is string | Uint8Array => isText(value) || isBytes(value);
export const isCount = (value: unknown): value is number => typeof value === "number" && value >= 0;

/** Returns a copy without the properties that are `undefined`. */
export function defined<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as never;
}

/** Throws if an argument has the wrong type, naming it. */
export function checkArguments(input: Readonly<Record<string, unknown>>, is: (value: unknown) => boolean, kind: string): void {
  for (const [name, value] of Object.entries(input)) {
    if (!is(value)) throw new SandboxError(`${name} must be ${kind}`, "INVALID_OPTIONS");
  }
}
