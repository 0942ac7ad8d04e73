// What the sessions of all official clients for JavaScript have in common.

const assert = require("node:assert/strict");

// A line that grows a file for as long as anything of it runs, and tells when it has begun.
const GROWS = "echo begun; while :; do echo x >> /tmp/grows; sleep 0.05; done";

// A command that goes on only when somebody has seen what it wrote and made the file.
const WAITS = "echo first; until [ -e /tmp/seen ]; do sleep 0.05; done; echo second";

// A machine may be loaded: what has to come is waited for as long as this.
const PATIENCE = 60_000;

const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

// Says that what stands above has shown a feature. The test holds this against its table.
const proved = (feature) => console.log(`proved: ${feature}`);

// `run` runs a line and resolves to what it prints. `GROWS` has run before, and nothing of it may run on.
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

// Runs a session and ends the process, whatever the client still holds open.
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
