// Servers in a sandbox, and connections of the application to them. Also runs in pages, which open no ports.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Sandbox } from "tidebox";

import { jspi } from "./engine.mjs";

const skip = jspi ? false : "this engine cannot suspend WebAssembly";
const isPage = globalThis.window !== undefined && !("Deno" in globalThis);
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const bytes = (text) => new TextEncoder().encode(text);

/** Methods about ports. */
const METHODS = ["ports", "waitForPort", "connect", "expose", "portEndpoint"];

/** Works with a new sandbox. */
async function within(work, options = {}) {
  const sandbox = await Sandbox.create(options);
  try {
    await work(sandbox);
  } finally {
    await sandbox.close();
  }
}

/** Starts a server and waits until it listens. */
async function serve(sandbox, port, command) {
  const server = await sandbox.spawn(command);
  await sandbox.waitForPort(port);
  return server;
}

/** Connects as soon as the server accepts the connection. */
async function connectSoon(sandbox, port) {
  for (;;) {
    try {
      return await sandbox.connect(port);
    } catch (error) {
      if (error.code !== "UNAVAILABLE") throw error;
      await pause(5);
    }
  }
}

/** Reads a stream to its end. */
async function bytesOf(readable) {
  return new Uint8Array(await new Response(readable).arrayBuffer());
}

async function writeChunks(writer, bytes) {
  for (let at = 0; at < bytes.length; at += 100_000) await writer.write(bytes.subarray(at, at + 100_000));
}

/** Writes all bytes and ends the data. */
async function writeAll(writable, bytes) {
  const writer = writable.getWriter();
  await writeChunks(writer, bytes);
  await writer.close();
}

test("an engine without JSPI rejects ports with the reason", { skip: jspi ? "this engine can" : false }, () => within(async (sandbox) => {
  for (const method of METHODS) {
    await assert.rejects(sandbox[method](...(method === "ports" ? [] : [80])), { code: "UNSUPPORTED", message: /JSPI/ });
  }
  assert.equal((await sandbox.execute("echo alive")).output, "alive\n");
}));

test("arguments of the wrong type are errors that name them", () => within(async (sandbox) => {
  const rejects = (call, message) => assert.rejects(call, { code: "INVALID_OPTIONS", message });
  for (const port of [0, -1, 65_536, 1.5, "80", undefined]) {
    for (const method of ["expose", "connect", "waitForPort", "portEndpoint"]) {
      await rejects(sandbox[method](port), /port must be a number from 1 to 65535, not/);
    }
  }
  await rejects(sandbox.expose(80, { hostPort: 65_536 }), /hostPort must be a number from 0 to 65535/);
  await rejects(sandbox.expose(80, { port: 1 }), /unknown option 'port'; expected one of: hostPort/);
  await rejects(sandbox.expose(80, null), /options must be an object/);
  await rejects(sandbox.waitForPort(80, { timeoutMs: -1 }), /timeoutMs/);
  await rejects(sandbox.waitForPort(80, { signal: 7 }), /signal must be an AbortSignal/);
  await rejects(sandbox.connect(80, { signal: 7 }), /signal must be an AbortSignal/);
}));

test("a closed sandbox rejects all calls about ports", async () => {
  const sandbox = await Sandbox.create();
  await sandbox.close();
  for (const method of METHODS) {
    await assert.rejects(sandbox[method](...(method === "ports" ? [] : [80])), { code: "CLOSED" });
  }
});

test("a page cannot open a port", { skip: !isPage ? "this is not a page" : skip }, () => within(async (sandbox) => {
  for (const method of ["expose", "portEndpoint"]) {
    await assert.rejects(sandbox[method](8000), { code: "UNSUPPORTED", message: /page cannot listen .*connect\(\)/ });
  }
}));

describe("a connection", { skip }, () => {
  let sandbox;
  before(async () => {
    sandbox = await Sandbox.create();
  });
  after(() => sandbox.close());

  test("transfers data in both directions", async () => {
    const server = await serve(sandbox, 9001, "seq 200000 > numbers; nc -lN 9001 < numbers > got");
    const connection = await sandbox.connect(9001);
    const sent = bytes(Array.from({ length: 100_000 }, (_, n) => `line ${n}\n`).join(""));
    const writer = connection.writable.getWriter();
    const [got] = await Promise.all([bytesOf(connection.readable), writeChunks(writer, sent)]);
    // nc ends when its client does.
    await writer.close();
    assert.equal((await server.wait()).exitCode, 0);
    assert.equal((await sandbox.execute("cat numbers | sha256sum | cut -c-64")).output.trim(), await sha256(got));
    assert.equal((await sandbox.execute("sha256sum < got | cut -c-64")).output.trim(), await sha256(sent));
  });

  test("that is closed is seen as the end by the server", async () => {
    const server = await serve(sandbox, 9003, "nc -l 9003; echo ended");
    const connection = await sandbox.connect(9003);
    const writer = connection.writable.getWriter();
    await writer.write(bytes("some\n"));
    await server.waitForOutput("some");
    await connection[Symbol.asyncDispose]();
    await connection.close();
    await server.waitForOutput("ended");
    await assert.rejects(writer.write(new Uint8Array(1)), { code: "CLOSED" });
    await assert.rejects(connection.readable.getReader().read(), { code: "CLOSED" });
  });

  test("that the server closes reports its end, and that writes fail", async () => {
    const server = await serve(sandbox, 9004, "sleep 1000 | nc -l 9004");
    const connection = await sandbox.connect(9004);
    const writer = connection.writable.getWriter();
    await writer.write(bytes("some\n"));
    await server.waitForOutput("some");
    const reading = connection.readable.getReader().read();
    await server.kill();
    assert.deepEqual(await reading, { value: undefined, done: true });
    const filling = async () => {
      for (let n = 0; n < 100; n += 1) await writer.write(new Uint8Array(65_536));
    };
    await assert.rejects(filling(), { code: "UNAVAILABLE", message: /no longer reads/ });
    await connection.close();
  });

  test("that is not accepted when the server ends is reset", async () => {
    const server = await serve(sandbox, 9007, "sleep 1000 | nc -lk 9007");
    const [first, second] = [await sandbox.connect(9007), await sandbox.connect(9007)];
    await first.writable.getWriter().write(bytes("some\n"));
    await server.waitForOutput("some");
    const reading = second.readable.getReader().read();
    await server.kill();
    await assert.rejects(reading, { code: "UNAVAILABLE", message: /closed the connection/ });
    await Promise.all([first.close(), second.close()]);
  });

  test("takes bytes only", async () => {
    const server = await serve(sandbox, 9005, "nc -l 9005");
    const connection = await sandbox.connect(9005);
    await assert.rejects(connection.writable.getWriter().write("text"), { code: "INVALID_OPTIONS", message: /Uint8Array/ });
    await server.kill();
  });

  test("slows the server down while nothing is read", async () => {
    await serve(sandbox, 9006, "head -c 4000000 /dev/zero | nc -lN 9006; echo sent > sent");
    const { readable, writable } = await sandbox.connect(9006);
    await pause(300);
    assert.equal((await sandbox.execute("ls sent 2>/dev/null")).output, "", "the server waits");
    assert.equal((await bytesOf(readable)).length, 4_000_000);
    await writable.close();
  });

  test("beyond the limit of sockets is an error", () => within(async (limited) => {
    await serve(limited, 9000, "sleep 1000 | nc -lk 9000");
    const open = [];
    const connectAll = async () => {
      for (let n = 0; n < 8; n += 1) open.push(await limited.connect(9000));
    };
    await assert.rejects(connectAll(), { code: "QUOTA_EXCEEDED", message: /limits.sockets/ });
    await Promise.all(open.map((connection) => connection.close()));
    const again = await limited.connect(9000);
    assert.ok(again.readable);
  }, { limits: { sockets: 6 } }));

  test("leaves nothing after thousands of them", () => within(async (sandbox) => {
    await serve(sandbox, 9000, "nc -lk 9000 > /dev/null");
    const { openFiles, pipeBytes } = await sandbox.usage();
    for (let round = 0; round < 100; round += 1) {
      const connections = await Promise.all(Array.from({ length: 10 }, () => connectSoon(sandbox, 9000)));
      await Promise.all(connections.map(async ({ writable, close }, n) => {
        if (n % 2 === 0) await writeAll(writable, bytes("x".repeat(n)));
        await close();
      }));
    }
    for (let n = 0; n < 100 && (await sandbox.usage()).openFiles > openFiles; n += 1) await pause(20);
    const left = await sandbox.usage();
    assert.deepEqual([left.openFiles, left.pipeBytes], [openFiles, pipeBytes]);
  }));
});

async function sha256(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
