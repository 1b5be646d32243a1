import type { VariableWanted } from './interfaces.ts';

/**
 * The value of keys for a variable, or undefined when they do not form one.
 *
 * | Type | Keys |
 * |---|---|
 * | string | as pressed |
 * | integer | digits |
 * | number | digits, `*` is the decimal point |
 * | boolean | 1 is true, 2 or 0 is false |
 * | date | YYYYMMDD, else MMDDYYYY; the value is YYYY-MM-DD |
 */
export function valueOfKeys(
  keys: string,
  type: VariableWanted['type'],
): string | number | boolean | undefined {
  switch (type) {
    case 'string':
      return keys;
    case 'integer':
      return /^\d{1,15}$/.test(keys) ? Number(keys) : undefined;
    case 'number':
      return /^\d{1,15}(?:\*\d{1,6})?$/.test(keys) ? Number(keys.replace('*', '.')) : undefined;
    case 'boolean':
      return keys === '1' ? true : keys === '2' || keys === '0' ? false : undefined;
    case 'date':
      return dateOfKeys(keys);
  }
}

function dateOfKeys(keys: string): string | undefined {
  if (!/^\d{8}$/.test(keys)) return undefined;
  const yearFirst = isoDate(keys.slice(0, 4), keys.slice(4, 6), keys.slice(6, 8));
  return yearFirst ?? isoDate(keys.slice(4, 8), keys.slice(0, 2), keys.slice(2, 4));
}

/** `YYYY-MM-DD` if that day exists between 1900 and 2199. */
export function isoDate(year: string, month: string, day: string): string | undefined {
  const text = `${year.padStart(4, '0')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const time = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text) return undefined;
  const whole = Number(year);
  return whole >= 1900 && whole <= 2199 ? text : undefined;
}
