/** Reads settings from environment variables, the same way in both programs. Pure: the variables are passed in. */

export interface Setting {
  readonly name: string;
  /** As in docs/settings.md; empty when there is none. */
  readonly default: string;
  readonly description: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** An invalid setting; the message has its name, its value, and the allowed values. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/**
 * Reads the settings of a table from `env`; empty variables count as unset. Each function throws SettingError when the
 * value is invalid.
 */
export function settingReader<Name extends string>(
  settings: readonly (Setting & { readonly name: Name })[],
  env: Environment,
) {
  const optional = (name: Name): string | null => env[name]?.trim() || null;
  const text = (name: Name): string =>
    optional(name) ?? settings.find((setting) => setting.name === name)?.default ?? '';
  return {
    /** null when unset; the default is ignored. */
    optional,
    text,
    isSet: (name: Name): boolean => optional(name) !== null,
    /** Comma-separated words. */
    list: (name: Name): string[] =>
      text(name)
        .split(',')
        .map((word) => word.trim())
        .filter((word) => word !== ''),
    integer(name: Name, least: number, most: number): number {
      const value = Number(text(name));
      if (Number.isInteger(value) && value >= least && value <= most) return value;
      throw new SettingError(`${name} must be a whole number from ${least} to ${most}, not "${text(name)}"`);
    },
    flag(name: Name): boolean {
      const value = text(name).toLowerCase();
      if (value === 'true' || value === '1') return true;
      if (value === 'false' || value === '0') return false;
      throw new SettingError(`${name} must be true or false, not "${text(name)}"`);
    },
    choice<T extends string>(name: Name, values: readonly T[]): T {
      const found = values.find((value) => value === text(name));
      if (found) return found;
      throw new SettingError(`${name} must be one of ${values.join(', ')}, not "${text(name)}"`);
    },
    /** null when unset. */
    url(name: Name): string | null {
      const value = optional(name);
      if (value === null || /^https?:\/\/./i.test(value)) return value;
      throw new SettingError(`${name} must be a URL that begins with http:// or https://, not "${value}"`);
    },
  };
}
