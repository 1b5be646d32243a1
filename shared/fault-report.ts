/** Formats the report of a fault that ends a program. Pure; the caller writes it. */
import { redactSip } from '#shared/sip-redaction.ts';

export interface Fault {
  readonly program: 'edge' | 'control' | 'engine';
  readonly kind: 'uncaughtException' | 'unhandledRejection' | 'startFailure';
  readonly error: unknown;
  /** ms since 1970 */
  readonly at: number;
  /** Seconds since the program's start. */
  readonly uptimeS: number;
  readonly version: string;
  readonly node: string;
  /** Activity at that moment, such as `{ calls: 12 }`: numbers and names, no caller data. */
  readonly underWay: Readonly<Record<string, unknown>>;
}

/** Maximum length of a stack, including its causes, characters. */
const mostStack = 20_000;
const deepestCause = 5;
/** Maximum length of the activity, characters. */
const mostUnderWay = 50_000;
/** Keys, tokens and passwords as written in messages: `password=…`, `Bearer …`, `"token":"…"`, `//user:…@host`. */
const secrets =
  /\b(authorization|bearer|basic|digest|password|secret|token|api[_-]?key)(["']?\s*[:= ]\s*["']?(?:(?:bearer|basic|digest)\s+)?)[^\s"',;}]{4,}/gi;
const inUrls = /(:\/\/)[^\s/@]+@/g;
/** Names of settings whose values are redacted everywhere. */
const secretName = /KEY|SECRET|TOKEN|PASSWORD|_URL$/;
/** Shorter values would match ordinary words. */
const shortestSecret = 8;

/**
 * JSON of a report, without credentials and SRTP keys.
 * @param settings the program's environment: values of secret settings are redacted
 */
export function faultReport(
  fault: Fault,
  settings: Readonly<Record<string, string | undefined>> = {},
): string {
  const { at, error, underWay, ...rest } = fault;
  const values = Object.entries(settings).flatMap(([name, value]) =>
    secretName.test(name) && value !== undefined && value.length >= shortestSecret ? [value] : [],
  );
  // Shortened before the search: a message may contain any amount of a peer's text.
  const stack = redacted(stackOf(error).slice(0, 4 * mostStack), values).slice(0, mostStack);
  const going = JSON.stringify(underWay, (_key, value: unknown) =>
    typeof value === 'string' ? redacted(value, values) : value,
  );
  const shown = going.length > mostUnderWay ? { cut: going.slice(0, mostUnderWay) } : JSON.parse(going);
  const whole = { at: new Date(at).toISOString(), ...rest, underWay: shown, stack };
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

/** Anything can be thrown, even values without text. */
function asText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
}
