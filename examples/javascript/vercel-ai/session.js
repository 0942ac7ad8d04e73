// A sandbox as the AI SDK's `Experimental_SandboxSession`: tools receive it as `experimental_sandbox` in their options.
// That interface is experimental and may change in a patch release of the SDK.

const WORKSPACE = "/workspace";

/** Relative paths are resolved against the working directory. */
const absolute = (path) => (path.startsWith("/") ? path : `${WORKSPACE}/${path}`);

/** @returns {import("ai").Experimental_SandboxSession} */
export function sandboxSession(sandbox) {
  const session = {
    description: `A sandbox without network: bash and about two hundred commands. Commands start in ${WORKSPACE}.`,

    async run({ command, workingDirectory, env, abortSignal }) {
      const options = { cwd: absolute(workingDirectory ?? WORKSPACE), env, signal: abortSignal };
      const { exitCode, stdout = "", stderr = "", output } = await sandbox.execute(command, options);
      abortSignal?.throwIfAborted();
      if (exitCode === null) throw new Error(output);
      return { exitCode, stdout, stderr };
    },

    async spawn({ command, workingDirectory, env, abortSignal, stdin }) {
      if (stdin) throw new Error("cannot keep standard input open; write the input to a file");
      const killed = new AbortController();
      const signal = AbortSignal.any([killed.signal, ...(abortSignal === undefined ? [] : [abortSignal])]);
      const streams = { stdout: open(), stderr: open() };
      const ended = sandbox.execute(command, {
        cwd: absolute(workingDirectory ?? WORKSPACE), env, signal,
        onOutput: ({ stream, bytes }) => streams[stream].controller.enqueue(bytes),
      }).finally(() => Object.values(streams).forEach(({ controller }) => controller.close()));
      return {
        stdout: streams.stdout.readable,
        stderr: streams.stderr.readable,
        async wait() {
          const { exitCode, output } = await ended;
          abortSignal?.throwIfAborted();
          if (exitCode === null) throw new Error(output);
          return { exitCode };
        },
        async kill() {
          killed.abort();
          await ended;
        },
      };
    },

    async readBinaryFile({ path, abortSignal }) {
      const [{ content, error }] = await sandbox.downloadFiles([absolute(path)], { signal: abortSignal });
      abortSignal?.throwIfAborted();
      if (error === "file_not_found") return null;
      if (error !== null) throw new Error(`cannot read ${path}: ${error}`);
      return content;
    },

    async readFile(options) {
      const content = await session.readBinaryFile(options);
      return content === null ? null : new Blob([content]).stream();
    },

    async readTextFile({ encoding = "utf-8", startLine = 1, endLine = Infinity, ...options }) {
      const content = await session.readBinaryFile(options);
      if (content === null) return null;
      const text = new TextDecoder(encoding).decode(content);
      return startLine === 1 && endLine === Infinity ? text : text.split("\n").slice(startLine - 1, endLine).join("\n");
    },

    async writeBinaryFile({ path, content, abortSignal }) {
      const [{ error }] = await sandbox.uploadFiles([[absolute(path), content]], { signal: abortSignal });
      abortSignal?.throwIfAborted();
      if (error !== null) throw new Error(`cannot write ${path}: ${error}`);
    },

    async writeFile({ content, ...options }) {
      await session.writeBinaryFile({ ...options, content: await new Response(content).bytes() });
    },

    async writeTextFile({ content, encoding = "utf-8", ...options }) {
      if (!/^utf-?8$/i.test(encoding)) throw new Error(`unsupported encoding ${encoding}: expected utf-8`);
      await session.writeBinaryFile({ ...options, content: new TextEncoder().encode(content) });
    },

    async stat({ path, abortSignal }) {
      const { exitCode, stdout } = await session.run({ command: 'stat -L -c "%s %F" -- "$IT"', env: { IT: absolute(path) }, abortSignal });
      if (exitCode !== 0) return null;
      const [, size, kind] = /^(\d+) (.*)\n$/.exec(stdout);
      return { type: kind === "directory" ? kind : kind.startsWith("regular") ? "file" : "other", size: Number(size) };
    },

    async listDirectory({ path, abortSignal }) {
      const found = await session.stat({ path, abortSignal });
      if (found === null) return null;
      if (found.type !== "directory") throw new Error(`${path} is not a directory`);
      const command = 'find "$IT" -mindepth 1 -maxdepth 1 -printf "%y%f\\0"';
      const { stdout } = await session.run({ command, env: { IT: absolute(path) }, abortSignal });
      const types = { f: "file", d: "directory", l: "symlink" };
      return stdout.split("\0").slice(0, -1).map((entry) => ({ name: entry.slice(1), type: types[entry[0]] ?? "other" }));
    },

    async deleteFile({ path, abortSignal }) {
      const command = '[ -e "$IT" ] || [ -L "$IT" ] || exit 3; rm -- "$IT"';
      const { exitCode, stderr } = await session.run({ command, env: { IT: absolute(path) }, abortSignal });
      if (exitCode !== 0 && exitCode !== 3) throw new Error(stderr.trimEnd());
      return exitCode === 0;
    },
  };
  return session;
}

/** Returns a stream and its controller. */
function open() {
  let controller;
  const readable = new ReadableStream({ start: (given) => void (controller = given) });
  return { readable, controller };
}
