// A small agent: a model selects the next command and reads its output until it is done.

/** Maximum number of commands. */
const STEPS = 10;

/**
 * Works on `task` with a shell. `model` receives the transcript and returns `{ command }` or `{ done }`; `sandbox` is any backend
 * with `execute`.
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
