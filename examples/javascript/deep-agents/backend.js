// Selects the backend of the agent: in this process, or at the cloud provider named by SANDBOX_PROVIDER.

import { createSandbox, RemoteProvider, Sandbox } from "tidebox";

/** Supported providers. Their keys are in environment variables such as E2B_API_KEY. */
const CLOUD = ["daytona", "e2b", "langsmith", "runloop"];

/** Returns a backend for `createDeepAgent` with these files, and a function that ends it. */
export async function openBackend(files, provider = process.env.SANDBOX_PROVIDER ?? "tidebox") {
  if (provider === "tidebox") {
    const backend = await Sandbox.create({ files });
    return { backend, end: () => backend.close() };
  }
  if (!CLOUD.includes(provider)) {
    throw new Error(`unknown SANDBOX_PROVIDER ${provider}; expected one of: tidebox (the default), ${CLOUD.join(", ")}`);
  }
  const backend = await createSandbox(provider, { timeToLiveMs: 10 * 60_000 });
  const end = async () => {
    await backend.close();
    // A cloud sandbox outlives this program.
    await (await RemoteProvider.open(provider)).delete(backend.id);
  };
  try {
    const uploads = Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)]);
    for (const { path, error } of await backend.uploadFiles(uploads)) {
      if (error !== null) throw new Error(`cannot upload ${path}: ${error}`);
    }
  } catch (error) {
    await end();
    throw error;
  }
  return { backend, end };
}
