/** The part of a pino logger that media uses. */
export interface MediaLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLog: MediaLog = { info() {}, warn() {}, error() {} };
