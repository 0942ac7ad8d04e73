// Where the agent works: in this process, or in the cloud when SANDBOX_PROVIDER says so. The agent does not know which.

import { createSandbox, RemoteProvider, Sandbox } from "tidebox";

/** Providers that this program is used with. Their keys are in variables of their own, such as E2B_API_KEY. */
const CLOUD = ["daytona", "e2b", "langsmith", "runloop"];

/** A backend for `createDeepAgent` with these files in it, and what ends it when the work is done. */
export async function openBackend(files, provider = process.env.SANDBOX_PROVIDER ?? "tidebox") {
  if (provider === "tidebox") {
    const backend = await Sandbox.create({ files });
    return { backend, end: () => backend.close() };
  }
  if (!CLOUD.includes(provider)) {
    throw new Error(`SANDBOX_PROVIDER=${provider}: there are tidebox (the default), ${CLOUD.join(", ")}`);
  }
  const backend = await createSandbox(provider, { timeToLiveMs: 10 * 60_000 });
  const end = async () => {
    await backend.close();
    // A sandbox in the cloud outlives the program that made it.
    await (await RemoteProvider.open(provider)).delete(backend.id);
  };
  try {
    const uploads = Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)]);
    for (const { path, error } of await backend.uploadFiles(uploads)) {
      if (error !== null) throw new Error(`${path} cannot be uploaded: ${error}`);
    }
  } catch (error) {
    await end();
    throw error;
  }
  return { backend, end };
}
