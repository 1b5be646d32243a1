/** Reads settings from environment variables, the same way in both programs. Pure: the variables are passed in. */
import type { Amount, AmountsOf } from './amounts.ts';
import { rejectedSettings } from './former.ts';
import { type SettingName, settings } from './table.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** An invalid setting; the message has its name, its value, and the allowed values. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export type SettingReader<Name extends string> = ReturnType<typeof readerOf<Name>>;

/**
 * Reads the settings of one program from `env`; empty variables count as unset. Each function throws SettingError when
 * the value is invalid.
 * @throws SettingError when `env` has settings of earlier versions, with what to do, line by line
 */
export function settingReader<P extends 'control' | 'edge'>(_program: P, env: Environment) {
  const rejected = rejectedSettings(env);
  if (rejected.length > 0) throw new SettingError(rejected.join('\n'));
  return readerOf<SettingName<P>>(env);
}

function readerOf<Name extends string>(env: Environment) {
  const optional = (name: Name): string | null => env[name]?.trim() || null;
  const text = (name: Name): string =>
    optional(name) ?? settings.find((setting) => setting.name === name)?.default ?? '';
  const list = (name: Name): string[] =>
    text(name)
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '');
  const wrong = (name: Name, kind: string) =>
    new SettingError(`${name} must be ${kind}, not "${text(name)}"`);
  return {
    /** null when unset; the default is ignored. */
    optional,
    text,
    isSet: (name: Name): boolean => optional(name) !== null,
    /** Comma-separated words. */
    list,
    integer(name: Name, least: number, most: number): number {
      const value = wholeNumber(text(name), { least, most });
      if (value === null) throw wrong(name, `a whole number from ${least} to ${most}`);
      return value;
    },
    flag(name: Name): boolean {
      const value = text(name).toLowerCase();
      if (value === 'true' || value === '1') return true;
      if (value === 'false' || value === '0') return false;
      throw wrong(name, 'true or false');
    },
    choice<T extends string>(name: Name, values: readonly T[]): T {
      const found = values.find((value) => value === text(name));
      if (found) return found;
      throw wrong(name, `one of ${values.join(', ')}`);
    },
    /** null when unset. */
    url(name: Name): string | null {
      const value = optional(name);
      if (value === null || /^https?:\/\/./i.test(value)) return value;
      throw wrong(name, 'a URL that begins with http:// or https://');
    },
    /** `host`, `host:port` or `[IPv6]:port`; IPv6 without a port may leave out the brackets. */
    address(name: Name, defaultPort: number): Address {
      const value = text(name);
      const [, bracketed, named, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d+))?$/.exec(value) ?? [];
      const host = bracketed ?? named ?? (/^[0-9a-f:.]+$/i.test(value) ? value : null);
      const port = digits === undefined ? defaultPort : wholeNumber(digits, { least: 0, most: 65_535 });
      if (host === null || port === null)
        throw wrong(name, 'a host, or host:port with a port of at most 65535');
      return { host, port };
    },
    /** `kind=number` pairs, separated by commas; the default of every kind that is not listed. */
    amounts<A extends Readonly<Record<string, Amount>>>(name: Name, kinds: A): AmountsOf<A> {
      const given = new Map<string, number>();
      for (const entry of list(name)) {
        const [kind = '', number, ...more] = entry.split('=').map((part) => part.trim());
        const range = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
        if (!range || number === undefined || more.length > 0) {
          throw new SettingError(
            `${name} must be a list such as ${Object.keys(kinds)[0]}=100, with the kinds ${Object.keys(kinds).join(', ')}; ` +
              `"${entry}" is not one`,
          );
        }
        const value = wholeNumber(number, range);
        if (value === null) {
          throw new SettingError(
            `${name}: ${kind} must be a whole number from ${range.least} to ${range.most}, not "${number}"`,
          );
        }
        if (given.has(kind)) throw new SettingError(`${name} lists ${kind} twice`);
        given.set(kind, value);
      }
      return Object.fromEntries(
        Object.entries(kinds).map(([kind, { default: value }]) => [kind, given.get(kind) ?? value]),
      ) as AmountsOf<A>;
    },
  };
}

function wholeNumber(text: string, { least, most }: { least: number; most: number }): number | null {
  const value = text === '' ? Number.NaN : Number(text);
  return Number.isInteger(value) && value >= least && value <= most ? value : null;
}
