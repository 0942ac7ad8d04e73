/** Work on the files of a pack, in a Worker that ends with it: it takes some hundred megabytes. */

import type { PackWork } from "./messages.js";
import type { Platform } from "./platform.js";

/** Has it done; answers the pages of the memory that the pack's module begins with. */
export async function packWork(platform: Platform, work: PackWork): Promise<number> {
  const { promise, resolve, reject } = settled<number>();
  const worker = platform.start({
    report(report) {
      if (report.what === "packed") resolve(report.pages);
      else if (report.what === "failed") reject(new Error(report.failure.message));
    },
    broke: (error) => reject(error instanceof Error ? error : new Error(String(error))),
  });
  try {
    worker.send(work);
    return await promise;
  } finally {
    worker.terminate();
  }
}

function settled<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((good, bad) => {
    resolve = good;
    reject = bad;
  });
  return { promise, resolve, reject };
}
