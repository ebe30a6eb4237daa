import { inspect } from 'node:util';

function shown(value) {
  return inspect(value, { depth: 0, breakLength: Infinity }).slice(0, 100);
}

// Throws a TypeError unless `value` is an object. `example` is what would be right.
export function requireObject(caller, value, example) {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) throw new TypeError(`${caller}: ${shown(value)} is not an object like ${example}`);
}

// The options of `caller`, which has these and no others.
export function requireOptions(caller, options, names, example) {
  requireObject(caller, options, example);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return options;
  throw new TypeError(`${caller} has no option ${unknown}: ${names.join(', ')} are allowed`);
}
