/** What the log of a program has, and its form. */
import { SettingError, type SettingReader } from './reader.ts';

const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const forms = ['json', 'text'] as const;

export interface LogSettings {
  /** Of pino. */
  readonly level: (typeof levels)[number];
  /** JSON lines, or a line for people; null: these on a terminal, else JSON. */
  readonly form: (typeof forms)[number] | null;
}

/** @throws SettingError */
export function readLog(read: Pick<SettingReader<'LOG_LEVEL'>, 'list' | 'text'>): LogSettings {
  const [first, second, ...others] = read.list('LOG_LEVEL');
  const level = levels.find((one) => one === first);
  const form = forms.find((one) => one === second) ?? null;
  const given = `not "${read.text('LOG_LEVEL')}"`;
  if (!level) throw new SettingError(`LOG_LEVEL must be one of ${levels.join(', ')}, ${given}`);
  if ((second !== undefined && form === null) || others.length > 0)
    throw new SettingError(`LOG_LEVEL must be a level, or a level with ,json or ,text behind it, ${given}`);
  return { level, form };
}
