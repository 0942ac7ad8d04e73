/** Jobs on the files of a pack, each in a temporary worker: a job takes a few hundred megabytes. */

import type { PackWork } from "./messages.js";
import { cachedModules } from "./module_cache.js";
import type { Platform } from "./platform.js";

/** Runs a job. Returns the pages of the initial memory of the pack's module. */
export async function packWork(platform: Platform, work: PackWork): Promise<number> {
  const { promise, resolve, reject } = deferred<number>();
  const worker = platform.start({
    report(report) {
      if (report.type === "packed") resolve(report.pages);
      else if (report.type === "failed") reject(new Error(report.failure.message));
    },
    crashed: (error) => reject(error instanceof Error ? error : new Error(String(error))),
  });
  try {
    worker.send(work);
    return await promise;
  } finally {
    worker.terminate();
  }
}

/** Rewrites the module of a pack; see `Rewrite`. */
export async function rewriteModule(platform: Platform, module: string, code: string, pages: number | undefined): Promise<void> {
  const { kernel } = await cachedModules(platform);
  await packWork(platform, { kernelForPack: kernel, module, code, ...(pages === undefined ? { isProgram: true } : { pages }) });
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
