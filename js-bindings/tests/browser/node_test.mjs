// What the tests use of `node:test`, for engines that have none. They are run one after the other.

const top = group("");
let current = top;

function group(name, skip = false) {
  return { name, skip, befores: [], afters: [], items: [] };
}

function named(name, given, more) {
  const [options, body] = typeof given === "function" ? [{}, given] : [given ?? {}, more];
  return { name, skip: options.skip ?? false, body };
}

export function describe(name, given, more) {
  const { skip, body } = named(name, given, more);
  const inner = group(name, skip);
  const outer = current;
  outer.items.push(inner);
  current = inner;
  try {
    body();
  } finally {
    current = outer;
  }
}

export function test(name, given, more) {
  current.items.push(named(name, given, more));
}

export { test as it };

export function before(work) {
  current.befores.push(work);
}

export function after(work) {
  current.afters.push(work);
}

/** Runs everything that was described, and tells of each test: its name, why it was left out, and what went wrong. */
export async function run(tell) {
  await runGroup(top, [], false, tell);
}

async function runGroup({ items, befores, afters }, path, skip, tell) {
  let broken;
  try {
    if (!skip) for (const work of befores) await work();
  } catch (error) {
    broken = error;
  }
  for (const item of items) {
    const left = skip || item.skip;
    const name = [...path, item.name];
    if ("items" in item) await runGroup(item, name, left, tell);
    else if (left || item.body === undefined) tell({ name: name.join(" > "), skip: left || "it has no body" });
    else tell({ name: name.join(" > "), ...(broken === undefined ? await outcome(item.body) : failure(broken)) });
  }
  if (!skip) for (const work of afters) await work();
}

async function outcome(body) {
  const afters = [];
  let found = {};
  try {
    await body({ after: (work) => afters.push(work) });
  } catch (error) {
    found = failure(error);
  }
  for (const work of afters.reverse()) {
    try {
      await work();
    } catch (error) {
      found = failure(error);
    }
  }
  return found;
}

function failure(error) {
  return { error: error instanceof Error ? `${error.message}\n${error.stack}` : String(error) };
}
