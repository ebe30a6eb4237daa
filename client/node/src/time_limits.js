// Time limits in milliseconds, of any size: Infinity, and what no timer can wait for, is a year.
const MAX_TIME_LIMIT_MS = 365 * 24 * 3600 * 1000;

// A longer one fires at once.
const MAX_TIMER_MS = 2 ** 31 - 1;

export function requireTimeLimit(name, value) {
  if (typeof value !== 'number') throw new TypeError(`${name}: a number is required`);
  if (!(value >= 0)) throw new RangeError(`${name} = ${value}: 0 or more is required`);
  return Math.min(value, MAX_TIME_LIMIT_MS);
}

// Calls `action` at `end`, by performance.now(), unless the function that it returns is called
// before.
export function runAt(end, action) {
  let timer;
  const arm = () => {
    const left = end - performance.now();
    timer = setTimeout(left > MAX_TIMER_MS ? arm : action, Math.min(left, MAX_TIMER_MS));
  };
  arm();
  return () => clearTimeout(timer);
}
