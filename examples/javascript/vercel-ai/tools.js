// AI SDK tools for a sandbox.

import { tool } from "ai";
import { z } from "zod";

/** The tools `bash`, `readFile` and `writeFile` of one sandbox. They return errors as text and never throw. */
export function sandboxTools(sandbox) {
  return {
    bash: tool({
      description: "Runs a command line in bash, in a sandbox without network. The working directory is /workspace.",
      inputSchema: z.object({ command: z.string().describe("the command line") }),
      execute: async ({ command }, { abortSignal }) => {
        const answer = await sandbox.execute(command, { signal: abortSignal });
        const { stdout = "", stderr = "", exitCode, truncated, output } = answer;
        // Without an exit code the command did not run, and the output has the reason.
        return exitCode === null ? { error: output } : { stdout, stderr, exitCode, truncated };
      },
    }),
    readFile: tool({
      description: "Reads lines of a text file.",
      inputSchema: z.object({
        path: z.string().describe("an absolute path"),
        offset: z.number().int().min(0).default(0).describe("lines to skip at the beginning"),
        limit: z.number().int().min(1).default(200).describe("lines to read"),
      }),
      execute: async ({ path, offset, limit }) => {
        const { content, error, totalLines } = await sandbox.read(path, offset, limit);
        if (error !== undefined) return { error };
        return typeof content === "string" ? { content, totalLines } : { error: `${path} is no text file` };
      },
    }),
    writeFile: tool({
      description: "Creates a file or replaces it.",
      inputSchema: z.object({ path: z.string().describe("an absolute path"), content: z.string() }),
      execute: async ({ path, content }) => {
        const { error } = await sandbox.write(path, content);
        return error === undefined ? { path } : { error };
      },
    }),
  };
}
