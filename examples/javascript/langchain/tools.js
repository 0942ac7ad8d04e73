// LangChain tools for a sandbox.

import { tool } from "langchain";
import { z } from "zod";

/** The tools `bash`, `read_file` and `write_file` of one sandbox. They return errors as text and never throw. */
export function sandboxTools(sandbox) {
  const bash = tool(
    async ({ command }, { signal }) => {
      const { output, exitCode, truncated } = await sandbox.execute(command, { signal });
      return `${output}${truncated ? "[output was truncated]\n" : ""}[exit code ${exitCode}]`;
    },
    {
      name: "bash",
      description: "Runs a command line in bash, in a sandbox without network. The working directory is /workspace.",
      schema: z.object({ command: z.string().describe("the command line") }),
    },
  );
  const readFile = tool(
    async ({ path, offset, limit }) => {
      const { content, error, nextOffset } = await sandbox.read(path, offset, limit);
      if (error !== undefined) return `Error: ${error}`;
      if (typeof content !== "string") return `${path} is a binary file of ${content.length} bytes`;
      return nextOffset === undefined ? content : `${content}[goes on at offset ${nextOffset}]`;
    },
    {
      name: "read_file",
      description: "Reads lines of a text file.",
      schema: z.object({
        path: z.string().describe("an absolute path"),
        offset: z.number().int().min(0).default(0).describe("lines to skip at the beginning"),
        limit: z.number().int().min(1).default(200).describe("lines to read"),
      }),
    },
  );
  const writeFile = tool(
    async ({ path, content }) => {
      const { error } = await sandbox.write(path, content);
      return error === undefined ? `wrote ${path}` : `Error: ${error}`;
    },
    {
      name: "write_file",
      description: "Creates a file or replaces it.",
      schema: z.object({ path: z.string().describe("an absolute path"), content: z.string() }),
    },
  );
  return [bash, readFile, writeFile];
}
