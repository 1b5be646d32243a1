/** What a program writes down of a fault that ends it: pure; whoever ends the program writes the text. */
import { redactSip } from '#shared/sip-redaction.ts';

export interface Fault {
  readonly program: 'edge' | 'control' | 'engine';
  readonly kind: 'uncaughtException' | 'unhandledRejection';
  readonly error: unknown;
  /** ms since 1970 */
  readonly at: number;
  /** Seconds that the program has run. */
  readonly uptimeS: number;
  readonly version: string;
  readonly node: string;
  /** What was going on, such as `{ calls: 12 }`: numbers and names, nothing of callers. */
  readonly underWay: Readonly<Record<string, unknown>>;
}

/** Characters of a stack that are kept, its causes included. */
const mostStack = 20_000;
const deepestCause = 5;
/** Keys, tokens and passwords as they stand in messages: `password=…`, `Bearer …`, `"token":"…"`. */
const secrets =
  /\b(authorization|bearer|basic|password|secret|token|api[_-]?key)(["']?\s*[:= ]\s*["']?)[^\s"',;}]{4,}/gi;

/** JSON of a report, without credentials and SRTP keys. */
export function faultReport(fault: Fault): string {
  const { at, error, ...rest } = fault;
  const stack = redactSip(stackOf(error)).replace(secrets, '$1$2REDACTED').slice(0, mostStack);
  return `${JSON.stringify({ at: new Date(at).toISOString(), ...rest, stack }, null, 2)}\n`;
}

/** `edge-2030-01-01T00-00-00-000Z-4711.json`: names sort by program and time. */
export function faultFile({ program, at }: Pick<Fault, 'program' | 'at'>, pid: number): string {
  return `${program}-${new Date(at).toISOString().replaceAll(/[:.]/g, '-')}-${pid}.json`;
}

function stackOf(error: unknown): string {
  const texts: string[] = [];
  for (let at = error, depth = 0; at !== undefined && depth < deepestCause; depth++) {
    texts.push(at instanceof Error ? (at.stack ?? at.message) : `not an Error: ${String(at)}`);
    at = at instanceof Error ? at.cause : undefined;
  }
  return texts.join('\ncaused by: ');
}
