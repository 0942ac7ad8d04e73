// A small agent: a model says which command to run next, and sees what it printed, until it says that it is done.

/** At most so many commands. */
const STEPS = 10;

/**
 * Works on `task` with a shell. `model` is asked with all that happened and answers `{ command }` or `{ done }`; `sandbox` is
 * any backend that has `execute`.
 */
export async function solve(task, model, sandbox) {
  const history = [{ role: "user", text: task }];
  for (let step = 0; step < STEPS; step++) {
    const { command, done } = await model(history);
    if (done !== undefined) return { answer: done, history };
    const { output, exitCode } = await sandbox.execute(command);
    history.push({ role: "assistant", text: command }, { role: "tool", text: `${output}[exit code ${exitCode}]` });
  }
  return { answer: undefined, history };
}
