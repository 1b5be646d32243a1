/** The part of a structured logger that we use; pino's Logger fits. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
}

/**
 * Writes each line with some fields more. A child of pino's searches its fields for secrets when it is created, which
 * costs a call more than its few lines.
 */
export class LogWith implements Log {
  readonly #log: Log;
  readonly #fields: object;

  constructor(log: Log, fields: object) {
    this.#log = log;
    this.#fields = fields;
  }

  debug(fields: object, message: string): void {
    this.#log.debug(this.#with(fields), message);
  }

  info(fields: object, message: string): void {
    this.#log.info(this.#with(fields), message);
  }

  warn(fields: object, message: string): void {
    this.#log.warn(this.#with(fields), message);
  }

  error(fields: object, message: string): void {
    this.#log.error(this.#with(fields), message);
  }

  child(fields: object): Log {
    return new LogWith(this, fields);
  }

  /** An error alone is a field of that name, as pino has it: what it says would not be copied. */
  #with(fields: object): object {
    return { ...this.#fields, ...(fields instanceof Error ? { err: fields } : fields) };
  }
}
