// A sandbox of `tidebox backend` as Deep Agents for JavaScript wants it: the whole protocol over one JSON object per line.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export class TideboxSandbox {
  #process;
  #waiting = new Map();
  #next = 1;
  #ended = null;

  constructor(process) {
    this.#process = process;
    createInterface({ input: process.stdout }).on("line", (line) => {
      const { id, result, error } = JSON.parse(line);
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      error ? reject(new Error(`${error.kind}: ${error.message}`)) : resolve(result);
    });
    process.on("close", () => this.#end(new Error("tidebox has ended")));
    process.on("error", (error) => this.#end(error));
    // Writing to a process that is gone is answered by its end.
    process.stdin.on("error", () => {});
  }

  static async open({ command = "tidebox", dialect = "js", options = [] } = {}) {
    const stdio = ["pipe", "pipe", "inherit"];
    const sandbox = new TideboxSandbox(spawn(command, ["backend", "--dialect", dialect, ...options], { stdio }));
    Object.defineProperty(sandbox, "id", { value: (await sandbox.call("info")).id, enumerable: true });
    return sandbox;
  }

  #end(error) {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }

  call(method, params = {}) {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#process.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
    });
  }

  /** A tool method never throws: what goes wrong on our side is an answer too. */
  async #tool(method, params, show) {
    try {
      const answer = await this.call(method, params);
      return answer.error ? { error: answer.error.message } : show(answer);
    } catch (error) {
      return { error: String(error.message ?? error) };
    }
  }

  async execute(command, { timeout } = {}) {
    try {
      const timeout_ms = timeout === undefined ? undefined : Math.round(timeout * 1000);
      const { output, exit_code, truncated } = await this.call("execute", { command, timeout_ms });
      return { output, exitCode: exit_code, truncated };
    } catch (error) {
      return { output: String(error.message ?? error), exitCode: null, truncated: false };
    }
  }

  ls(path) {
    return this.#tool("ls", { path }, ({ entries }) => ({ files: entries.map(info) }));
  }

  read(path, offset = 0, limit = 500) {
    return this.#tool("read", { path, offset, limit }, (page) => ({
      content: page.encoding === "base64" ? Buffer.from(page.content, "base64") : page.content,
      mimeType: page.mime,
      ...(page.start_line && { totalLines: page.total_lines, startLine: page.start_line, endLine: page.end_line }),
      ...(page.next_offset && { nextOffset: page.next_offset }),
    }));
  }

  async readRaw(path) {
    const [file] = await this.downloadFiles([path]);
    if (file.error) return { error: `File '${path}': ${file.error}` };
    const { mimeType } = await this.read(path, 0, 1);
    const text = mimeType === undefined || /^text\/|json|javascript|svg/.test(mimeType);
    const content = text ? new TextDecoder().decode(file.content) : file.content;
    const now = new Date().toISOString();
    return { data: { content, mimeType: mimeType ?? "text/plain", created_at: now, modified_at: now } };
  }

  write(path, content) {
    return this.#tool("write", { path, content }, () => ({ path, filesUpdate: null }));
  }

  edit(path, old, replacement, replaceAll = false) {
    const params = { path, old, new: replacement, replace_all: replaceAll };
    return this.#tool("edit", params, ({ occurrences }) => ({ path, occurrences, filesUpdate: null }));
  }

  delete(path) {
    return this.#tool("delete", { path }, () => ({ path }));
  }

  grep(pattern, path, glob, maxCount) {
    const params = { pattern, path: path ?? "/", glob: glob ?? undefined, max_count: maxCount ?? undefined };
    return this.#tool("grep", params, ({ matches, truncated }) => ({
      matches: matches.map(({ path, line, text }) => ({ path, line, text })),
      ...(truncated && { truncated: true }),
    }));
  }

  glob(pattern, path = "/") {
    return this.#tool("glob", { pattern, path }, ({ files, truncated }) => ({
      files: files.map(info),
      ...(truncated && { truncated: true }),
    }));
  }

  async uploadFiles(files) {
    const encoded = files.map(([path, content]) => ({ path, content_base64: Buffer.from(content).toString("base64") }));
    const answer = await this.call("upload_files", { files: encoded });
    return answer.files.map(({ path, error }) => ({ path, error }));
  }

  async downloadFiles(paths) {
    const answer = await this.call("download_files", { paths });
    return answer.files.map(({ path, content_base64, error }) => ({
      path,
      content: content_base64 === null ? null : new Uint8Array(Buffer.from(content_base64, "base64")),
      error,
    }));
  }

  async close() {
    const closed = new Promise((resolve) => this.#process.once("close", resolve));
    this.#process.stdin.end();
    await closed;
  }
}

function info({ path, is_dir, size, modified }) {
  return {
    path,
    is_dir,
    ...(size !== null && { size }),
    ...(modified !== null && { modified_at: new Date(modified * 1000).toISOString() }),
  };
}
