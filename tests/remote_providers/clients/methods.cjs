// Records how the public methods of a client end in a session, for the table in the provider's page.

const assert = require("node:assert/strict");

// Outcomes of each method: `null`, or the error.
const outcomes = new Map();
const classes = [];

// Calls `next` of an asynchronous iterator: the first item, or the end, is the outcome.
function iterated(key, iterator) {
  const next = iterator.next.bind(iterator);
  iterator.next = async (...values) => {
    try {
      const item = await next(...values);
      outcomes.get(key).push(null);
      return item;
    } catch (error) {
      outcomes.get(key).push(error);
      throw error;
    }
  };
  return iterator;
}

function recorded(key, method) {
  return function (...values) {
    let result;
    try {
      result = method.apply(this, values);
    } catch (error) {
      outcomes.get(key).push(error);
      throw error;
    }
    if (typeof result?.then === "function") {
      result.then(
        () => outcomes.get(key).push(null),
        (error) => outcomes.get(key).push(error),
      );
    } else if (typeof result?.next === "function" && Symbol.asyncIterator in result) {
      return iterated(key, result);
    } else {
      outcomes.get(key).push(null);
    }
    return result;
  };
}

// Returns the names of the public methods of an object.
const methods = (object, without) => {
  const names = Object.getOwnPropertyNames(object).filter((name) => name !== "constructor" && !name.startsWith("_"));
  const isMethod = (name) => typeof Object.getOwnPropertyDescriptor(object, name).value === "function";
  return names.filter((name) => isMethod(name) && !without.includes(name));
};

// Records the calls of all public methods of a class, or of a prototype with this name, from now on.
function record(kind, { name = kind.name, without = [] } = {}) {
  const objects = typeof kind === "function" ? [kind, kind.prototype] : [kind];
  const all = [];
  for (const object of objects) {
    for (const method of methods(object, without)) {
      const key = `${name}.${method}`;
      if (!outcomes.has(key)) outcomes.set(key, []);
      object[method] = recorded(key, object[method]);
      if (!all.includes(method)) all.push(method);
    }
  }
  classes.push([name, all.sort()]);
}

// Calls a method that the emulator does not have. Its error names the feature.
async function absent(call, feature = "Tidebox") {
  let result;
  try {
    result = await call();
  } catch (error) {
    assert.ok(`${error.message}`.includes(feature), `${error.name}: ${error.message}`);
    return;
  }
  assert.fail(`the call succeeded: ${JSON.stringify(result)}`);
}

// Prints the table. Every method must have been called; one that only fails must say what is absent.
function report(differs = {}, absences = ["Tidebox"]) {
  const untested = [...outcomes].filter(([, ends]) => ends.length === 0).map(([key]) => key);
  assert.deepEqual(untested, [], "not called");
  assert.deepEqual(Object.keys(differs).filter((key) => !outcomes.has(key)), [], "no such methods");
  console.log("page: | class | works | differs | absent |");
  console.log("page: |---|---|---|---|");
  for (const [kind, names] of classes) {
    const cells = { works: [], differs: [], absent: [] };
    for (const name of names) {
      const ends = outcomes.get(`${kind}.${name}`);
      const how = differs[`${kind}.${name}`];
      if (ends.includes(null)) {
        cells[how ? "differs" : "works"].push(how ? `\`${name}\`: ${how}` : `\`${name}\``);
        continue;
      }
      assert.equal(how, undefined, `${kind}.${name} differs, but it never succeeded`);
      const says = (error) => absences.some((word) => `${error.message}`.includes(word));
      assert.ok(ends.every(says), `${kind}.${name}: ${ends}`);
      cells.absent.push(`\`${name}\``);
    }
    const join = (cell, mark) => cell.join(mark) || "-";
    const row = [join(cells.works, ", "), join(cells.differs, "; "), join(cells.absent, ", ")];
    console.log(`page: | \`${kind}\` | ${row.join(" | ")} |`);
  }
}

module.exports = { absent, record, report };
