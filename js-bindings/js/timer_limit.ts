/** Maximum delay of a timer, in milliseconds. Engines let a longer one expire immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
