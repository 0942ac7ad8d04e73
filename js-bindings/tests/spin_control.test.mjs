// The choice between sleeping and active waiting for messages.

import assert from "node:assert/strict";
import { test } from "node:test";

/** Part of the package that its entry point does not export. */
const { SHORT_MS, SpinControl } = await import(new URL("spin_control.js", import.meta.resolve("tidebox")));

/** Returns a control that has seen enough calls of these durations to have chosen. */
function chosen(sleepingMs, spinningMs) {
  const control = new SpinControl();
  shareOf(sleepingMs, spinningMs, control);
  return control;
}

/** Returns the share of calls with active waiting, of 1,000 that take so long. */
function shareOf(sleepingMs, spinningMs, control = chosen(sleepingMs, spinningMs)) {
  let spinning = 0;
  for (let call = 0; call < 1000; call += 1) {
    if (control.spins) spinning += 1;
    control.record(control.spins ? spinningMs(call) : sleepingMs(call));
  }
  return spinning / 1000;
}

test("the first calls never wait actively", () => {
  const control = new SpinControl();
  for (let call = 0; call < 900; call += 1) {
    control.record(0.1);
    assert.equal(control.spins, false);
  }
});

test("calls that active waiting makes quicker use it", () => {
  assert.ok(shareOf(() => 0.2, () => 0.1) > 0.8);
});

test("calls that active waiting makes slower do not use it", () => {
  const share = shareOf(() => 0.15, () => 0.2);
  assert.ok(share > 0 && share < 0.2, `${share}`);
});

test("pauses of the host do not decide about active waiting", () => {
  assert.ok(shareOf(() => 0.2, (call) => (call % 10 === 0 ? 20 : 0.1)) > 0.8);
});

test("a few slow calls do not end active waiting", () => {
  assert.ok(shareOf(() => 0.2, (call) => (call % 60 < 12 ? 0.45 : 0.1)) > 0.8);
});

test("a slow start does not decide about active waiting", () => {
  const control = chosen(() => 0.25, () => 0.28);
  assert.ok(shareOf(() => 0.2, () => 0.1, control) > 0.8);
});

test("long calls never wait actively", () => {
  assert.equal(shareOf(() => SHORT_MS, () => SHORT_MS), 0);
});

test("the choice follows a change of the load", () => {
  const control = chosen(() => 0.2, () => 0.1);
  assert.ok(shareOf(() => 0.2, () => 0.1, control) > 0.8);
  shareOf(() => 0.15, () => 0.25, control);
  assert.ok(shareOf(() => 0.15, () => 0.25, control) < 0.2);
});

const inNode = globalThis.process?.versions?.node !== undefined && globalThis.Deno === undefined && globalThis.document === undefined;

test("the event loop does not wait actively for a thread that does not run", { skip: inNode ? false : "only Node waits actively" }, async (t) => {
  const { node } = await import(new URL("platform.node.js", import.meta.resolve("tidebox")));
  if (node.stayAwake === undefined) return t.skip("with one core no thread waits actively");
  /** Returns the milliseconds for which the event loop is awake while a message is expected for up to 400. */
  const awakeFor = async (isExpected) => {
    const { active } = performance.eventLoopUtilization();
    node.stayAwake(400, isExpected);
    await new Promise((resolve) => setTimeout(resolve, 500));
    return performance.eventLoopUtilization().active - active;
  };
  const [expected, unexpected] = [await awakeFor(() => true), await awakeFor(() => false)];
  assert.ok(unexpected < expected / 2, `${unexpected} of ${expected} ms`);
});
