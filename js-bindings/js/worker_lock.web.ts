/**
 * Detection of terminated workers in pages. Browsers may end a worker, for example to reclaim memory, without an event. So a
 * worker holds a Web Lock for its lifetime, and its owner waits for the same lock. Locks exist only in secure contexts.
 */

/** Requests a worker to hold a lock. The worker replies with the same message when it holds it. */
export interface WorkerLock {
  readonly lock: string;
}

export function isWorkerLock(message: object): message is WorkerLock {
  return "lock" in message;
}

const locks = (): LockManager | undefined => (globalThis.navigator as Navigator | undefined)?.locks;

/** The worker's side: acquires the lock and holds it forever. */
export function holdLock({ lock }: WorkerLock, held: (newLock: WorkerLock) => void): void {
  void locks()?.request(lock, () => {
    held({ lock });
    return new Promise(() => {});
  });
}

/** Returns the lock for a new worker, or `undefined` if locks are not supported. */
export function newLock(): WorkerLock | undefined {
  return locks() === undefined ? undefined : { lock: `tidebox-${crypto.randomUUID()}` };
}

/**
 * The owner's side, after the worker has acquired the lock: calls `ended` when the worker has ended, unless `signal` was aborted.
 */
export function watchLock({ lock }: WorkerLock, signal: AbortSignal, ended: () => void): void {
  locks()?.request(lock, { signal }, ended).catch(() => {});
}
