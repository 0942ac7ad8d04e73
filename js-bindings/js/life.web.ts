/**
 * Whether the Worker of a page still lives. Browsers tell nobody when they end one, for its memory, say. So a Worker holds a
 * lock of the browser as long as it lives, and its owner waits for the same one. Only pages of secure contexts have locks.
 */

/** Asks a Worker to hold a lock; the Worker says the same when it does. */
export interface Life {
  readonly lock: string;
}

export function isLife(message: object): message is Life {
  return "lock" in message;
}

const locks = (): LockManager | undefined => (globalThis.navigator as Navigator | undefined)?.locks;

/** The Worker's side. */
export function live({ lock }: Life, held: (life: Life) => void): void {
  void locks()?.request(lock, () => {
    held({ lock });
    return new Promise(() => {});
  });
}

/** What to ask of a new Worker, where there are locks. */
export function life(): Life | undefined {
  return locks() === undefined ? undefined : { lock: `tidebox-${crypto.randomUUID()}` };
}

/** The owner's side, when the Worker holds it: calls `ended` when the Worker is no more, unless `signal` was aborted. */
export function watch({ lock }: Life, signal: AbortSignal, ended: () => void): void {
  locks()?.request(lock, { signal }, ended).catch(() => {});
}
