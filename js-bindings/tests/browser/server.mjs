// A static file server for a local directory.

import { createReadStream } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, sep } from "node:path";

const TYPES = {
  ".css": "text/css", ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".json": "application/json",
  ".mjs": "text/javascript", ".wasm": "application/wasm",
};

/** Serves `folder`, and what `more` maps paths to, with these headers; answers where it is and how it is closed. */
export async function serve(folder, { more = {}, headers = {} } = {}) {
  const root = await realpath(folder);
  const server = createServer(async (request, response) => {
    try {
      const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
      if (more[path] !== undefined) return void response.writeHead(200, { "content-type": TYPES[".json"] }).end(more[path]);
      const file = await realpath(join(root, path));
      if (!`${file}${sep}`.startsWith(`${root}${sep}`)) return void response.writeHead(403).end();
      const found = (await stat(file)).isDirectory() ? join(file, "index.html") : file;
      const { size } = await stat(found);
      const type = TYPES[extname(found)] ?? "application/octet-stream";
      response.writeHead(200, { ...headers, "content-type": type, "content-length": size });
      createReadStream(found).pipe(response);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(resolve);
    }),
  };
}
