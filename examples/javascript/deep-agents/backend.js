// Where the agent works: in this process, or in the cloud when SANDBOX_PROVIDER says so. The agent does not know which.

import { Sandbox } from "tidebox";

/** Providers that have a backend for Deep Agents in a package of theirs. */
const CLOUD = {
  daytona: { package: "@langchain/daytona", export: "DaytonaSandbox", key: "DAYTONA_API_KEY" },
};

/** A backend for `createDeepAgent`, with these files in it; `close` it when the work is done. */
export async function openBackend(files, provider = process.env.SANDBOX_PROVIDER ?? "tidebox") {
  if (provider === "tidebox") return Sandbox.create({ files });
  const cloud = CLOUD[provider];
  if (cloud === undefined) {
    throw new Error(`SANDBOX_PROVIDER=${provider}: there are tidebox (the default) and ${Object.keys(CLOUD).join(", ")}`);
  }
  if (!process.env[cloud.key]) throw new Error(`SANDBOX_PROVIDER=${provider} needs a key; set ${cloud.key}`);
  const backend = await (await load(cloud)).create();
  const uploads = Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)]);
  for (const { path, error } of await backend.uploadFiles(uploads)) {
    if (error !== null) throw new Error(`${path} cannot be uploaded: ${error}`);
  }
  return backend;
}

async function load({ package: name, export: exported }) {
  try {
    return (await import(name))[exported];
  } catch (cause) {
    if (cause.code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new Error(`the package ${name} is not installed; \`npm install ${name}\` does it`, { cause });
  }
}
