/** A log that keeps its lines for the test instead of printing them. */
import type { Log } from '../../../edge/call/log.ts';

export class QuietLog implements Log {
  readonly lines: { level: string; message: string; fields: object }[];
  readonly #bound: object;

  constructor(lines: QuietLog['lines'] = [], bound: object = {}) {
    this.lines = lines;
    this.#bound = bound;
  }

  debug(fields: object, message: string): void {
    this.#add('debug', fields, message);
  }
  info(fields: object, message: string): void {
    this.#add('info', fields, message);
  }
  warn(fields: object, message: string): void {
    this.#add('warn', fields, message);
  }
  error(fields: object, message: string): void {
    this.#add('error', fields, message);
  }
  child(fields: object): Log {
    return new QuietLog(this.lines, { ...this.#bound, ...fields });
  }

  #add(level: string, fields: object, message: string): void {
    this.lines.push({ level, message, fields: { ...this.#bound, ...fields } });
  }
}
