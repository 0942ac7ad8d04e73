// What the tests use of `node:assert/strict`, for engines that have none.

class AssertionError extends Error {}

function show(value) {
  return typeof value === "string" || typeof value === "object" ? JSON.stringify(value) : String(value);
}

function check(holds, message, otherwise) {
  if (!holds) throw message instanceof Error ? message : new AssertionError(message ?? otherwise());
}

function same(one, two) {
  if (Object.is(one, two)) return true;
  if (typeof one !== "object" || typeof two !== "object" || one === null || two === null) return false;
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(two)) return false;
  if (one instanceof Map || one instanceof Set) return same([...one], [...two]);
  const [keys, others] = [Object.keys(one), Object.keys(two)];
  return keys.length === others.length && keys.every((key) => Object.hasOwn(two, key) && same(one[key], two[key]));
}

function fits(error, expected) {
  if (expected === undefined) return true;
  if (expected instanceof RegExp) return expected.test(String(error));
  if (typeof expected === "function") {
    return expected.prototype instanceof Error || expected === Error ? error instanceof expected : expected(error) === true;
  }
  return Object.entries(expected).every(([key, value]) => {
    return value instanceof RegExp && typeof error[key] === "string" ? value.test(error[key]) : same(error[key], value);
  });
}

export function ok(value, message) {
  check(value, message, () => `${show(value)} is not true`);
}

function assert(value, message) {
  ok(value, message);
}

export default Object.assign(assert, {
  ok,
  fail: (message) => check(false, message, () => "failed"),
  equal: (found, expected, message) =>
    check(Object.is(found, expected), message, () => `expected ${show(expected)}, found ${show(found)}`),
  notEqual: (found, other, message) => check(!Object.is(found, other), message, () => `did not expect ${show(other)}`),
  deepEqual: (found, expected, message) =>
    check(same(found, expected), message, () => `expected ${show(expected)}, found ${show(found)}`),
  notDeepEqual: (found, other, message) => check(!same(found, other), message, () => `did not expect ${show(other)}`),
  match: (text, words, message) => check(words.test(text), message, () => `${show(text)} does not match ${words}`),
  doesNotMatch: (text, words, message) => check(!words.test(text), message, () => `${show(text)} matches ${words}`),
  throws: (work, expected, message) => {
    try {
      work();
    } catch (error) {
      return check(fits(error, expected), message, () => `another error than expected: ${error}`);
    }
    return check(false, message, () => "nothing was thrown");
  },
  rejects: async (work, expected, message) => {
    try {
      await (typeof work === "function" ? work() : work);
    } catch (error) {
      return check(fits(error, expected), message, () => `another error than expected: ${error}`);
    }
    return check(false, message, () => "nothing was rejected");
  },
});
