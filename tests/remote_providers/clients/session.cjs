// Helpers shared by the sessions of all official JavaScript clients.

const assert = require("node:assert/strict");

// A line that grows a file until all of its processes are killed, and prints a line when the file exists.
const GROWS = "echo x > /tmp/grows; echo begun; while :; do echo x >> /tmp/grows; sleep 0.05; done";

// A command that continues only after the session has seen its output and created the file.
const WAITS = "echo first; until [ -e /tmp/seen ]; do sleep 0.05; done; echo second";

// Timeout for expected events, long enough for a loaded host.
const PATIENCE = 60_000;

const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

// Reports that the steps above verified a feature. The test compares this with its table.
const proved = (feature) => console.log(`proved: ${feature}`);

// `run` runs a line and resolves to its output. `GROWS` has run before, and none of its processes may still run.
async function nothingGrows(run) {
  const size = async () => Number(await run("cat /tmp/grows 2>/dev/null | wc -c"));
  const patience = Date.now() + PATIENCE;
  let [before, still] = [await size(), 0];
  assert.ok(before > 0, "it never began");
  while (still < 3) {
    assert.ok(Date.now() < patience, "it still writes");
    await pause(300);
    const now = await size();
    still = now === before ? still + 1 : 0;
    before = now;
  }
  await run("rm /tmp/grows");
}

async function until(found) {
  for (const patience = Date.now() + PATIENCE; !(await found()); await pause(100)) {
    assert.ok(Date.now() < patience, "it does not come");
  }
}

// Runs a session and exits, even if the client keeps handles open.
function session(main) {
  main().then(
    () => {
      console.log("the session is done");
      process.exit(0);
    },
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
}

module.exports = { GROWS, WAITS, nothingGrows, proved, session, until };
