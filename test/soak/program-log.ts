/** The programs' log, counted by message, and the last lines. Bounded. */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

const Line = Type.Object({
  level: Type.Integer(),
  msg: Type.String(),
  program: Type.Optional(Type.String()),
  /** Why a connection was cut or refused: a fixed text. */
  reason: Type.Optional(Type.String()),
});

/** Levels of pino. */
const info = 30;
const warn = 40;
const error = 50;
const fatal = 60;
/** Distinct messages; a message holds no data of a call, so there are few. */
const mostMessages = 300;
const mostLastLines = 50;

export interface CountedLine {
  readonly level: 'info' | 'warn' | 'error' | 'fatal';
  readonly program: string;
  readonly message: string;
  readonly times: number;
  /** The first such line. */
  readonly example: string;
}

export class ProgramLog {
  readonly #counted = new Map<string, CountedLine>();
  readonly lastLines: string[] = [];

  add(line: string): void {
    this.lastLines.push(line.slice(0, 2000));
    if (this.lastLines.length > mostLastLines) this.lastLines.shift();
    const parsed = parse(line);
    if (parsed === null || parsed.level < info) return;
    const level = levelOf(parsed.level);
    const program = parsed.program ?? '';
    const message =
      parsed.reason === undefined ? parsed.msg : `${parsed.msg}: ${parsed.reason.slice(0, 120)}`;
    const key = `${level} ${program} ${message}`;
    const known = this.#counted.get(key);
    if (!known && this.#counted.size >= mostMessages) return;
    const example = known?.example ?? line.slice(0, 2000);
    this.#counted.set(key, { level, program, message, times: (known?.times ?? 0) + 1, example });
  }

  /** Most severe first, then most frequent. */
  get counted(): CountedLine[] {
    const severity = { fatal: 0, error: 1, warn: 2, info: 3 };
    return [...this.#counted.values()].toSorted(
      (one, other) => severity[one.level] - severity[other.level] || other.times - one.times,
    );
  }
}

function parse(line: string): Static<typeof Line> | null {
  if (!line.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(line);
    return Value.Check(Line, value) ? value : null;
  } catch {
    return null;
  }
}

function levelOf(level: number): CountedLine['level'] {
  if (level >= fatal) return 'fatal';
  if (level >= error) return 'error';
  return level >= warn ? 'warn' : 'info';
}
