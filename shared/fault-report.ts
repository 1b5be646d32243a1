/** What a program writes down of a fault that ends it: pure; whoever ends the program writes the text. */
import { redactSip } from '#shared/sip-redaction.ts';

export interface Fault {
  readonly program: 'edge' | 'control' | 'engine';
  readonly kind: 'uncaughtException' | 'unhandledRejection' | 'startFailure';
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
/** Characters of what was under way. */
const mostUnderWay = 50_000;
/** Keys, tokens and passwords as they stand in messages: `password=…`, `Bearer …`, `"token":"…"`, `//user:…@host`. */
const secrets =
  /\b(authorization|bearer|basic|digest|password|secret|token|api[_-]?key)(["']?\s*[:= ]\s*["']?(?:(?:bearer|basic|digest)\s+)?)[^\s"',;}]{4,}/gi;
const inUrls = /(:\/\/)[^\s/@]+@/g;
/** Names of settings whose value is searched for wherever it stands. */
const secretName = /KEY|SECRET|TOKEN|PASSWORD|_URL$/;
/** Shorter values would blot out words. */
const shortestSecret = 8;

/**
 * JSON of a report, without credentials and SRTP keys.
 * @param settings of the program, as its environment has them: the values of secret ones are blotted out
 */
export function faultReport(
  fault: Fault,
  settings: Readonly<Record<string, string | undefined>> = {},
): string {
  const { at, error, underWay, ...rest } = fault;
  const values = Object.entries(settings).flatMap(([name, value]) =>
    secretName.test(name) && value !== undefined && value.length >= shortestSecret ? [value] : [],
  );
  // Bounded before it is searched: a message may be as long as what a peer sent.
  const stack = redacted(stackOf(error).slice(0, 4 * mostStack), values).slice(0, mostStack);
  const going = JSON.stringify(underWay, (_key, value: unknown) =>
    typeof value === 'string' ? redacted(value, values) : value,
  );
  const told = going.length > mostUnderWay ? { cut: going.slice(0, mostUnderWay) } : JSON.parse(going);
  const whole = { at: new Date(at).toISOString(), ...rest, underWay: told, stack };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

function redacted(text: string, values: readonly string[]): string {
  let plain = redactSip(text).replace(secrets, '$1$2REDACTED').replace(inUrls, '$1REDACTED@');
  for (const value of values) plain = plain.replaceAll(value, 'REDACTED');
  return plain;
}

/** `edge-2030-01-01T00-00-00-000Z-4711.json`: names sort by program and time. */
export function faultFile({ program, at }: Pick<Fault, 'program' | 'at'>, pid: number): string {
  return `${program}-${new Date(at).toISOString().replaceAll(/[:.]/g, '-')}-${pid}.json`;
}

function stackOf(error: unknown): string {
  const texts: string[] = [];
  for (let at = error, depth = 0; at !== undefined && depth < deepestCause; depth++) {
    texts.push(at instanceof Error ? String(at.stack ?? at.message) : `not an Error: ${asText(at)}`);
    at = at instanceof Error ? at.cause : undefined;
  }
  return texts.join('\ncaused by: ');
}

/** Anything can be thrown, also what has no text. */
function asText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
}
