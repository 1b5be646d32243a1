/** Lines of the log for people: one per event, for a terminal. */

/** Of pino. */
const levels: Readonly<Record<number, readonly [name: string, colour: number]>> = {
  10: ['trace', 90],
  20: ['debug', 90],
  30: ['info', 36],
  40: ['WARN', 33],
  50: ['ERROR', 31],
  60: ['FATAL', 31],
};

/** Written in front of the line, or known from where it stands. */
const shown: ReadonlySet<string> = new Set([
  'level',
  'time',
  'program',
  'instance',
  'msg',
  'err',
  'pid',
  'hostname',
]);

/** Text that needs no quotes. */
const plainText = /^[\w.:/@+*%-]+$/;
/** What a terminal would act on or hide: control characters, and those that turn the direction of writing. */
const unseen = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/**
 * @param line JSON, as pino writes it
 * @param colours escape sequences for them
 * @returns the line for people; what is no JSON object unchanged
 */
export function lineForPeople(line: string, colours: boolean): string {
  const event = parsed(line);
  if (!event) return line;
  const { level, time, program, msg, err } = event;
  const [name, colour] = levels[typeof level === 'number' ? level : 0] ?? ['', 0];
  const paint = (text: string, code: number) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text);
  const facts = Object.entries(event)
    .filter(([key]) => !shown.has(key))
    .map(([key, value]) => paint(`${visible(key)}=${factOf(value)}`, 90));
  const head = [
    paint(clockTime(time), 90),
    visible(String(program ?? '')).padEnd(7),
    paint(name.padEnd(5), colour),
  ];
  const first = [...head, visible(typeof msg === 'string' ? msg : ''), ...facts].join(' ').trimEnd();
  return `${first}\n${errorLines(err)}`;
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Of the place where the program runs, as the person's own clock. */
function clockTime(time: unknown): string {
  const at = new Date(typeof time === 'number' ? time : Number.NaN);
  if (Number.isNaN(at.getTime())) return '--:--:--.---';
  const part = (value: number, digits = 2) => String(value).padStart(digits, '0');
  return `${part(at.getHours())}:${part(at.getMinutes())}:${part(at.getSeconds())}.${part(at.getMilliseconds(), 3)}`;
}

function factOf(value: unknown): string {
  if (typeof value === 'string') return plainText.test(value) ? value : visible(JSON.stringify(value));
  return visible(JSON.stringify(value));
}

/** The stack of an error, each of its lines indented. */
function errorLines(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const stack = 'stack' in error ? error.stack : null;
  const message = 'message' in error ? error.message : null;
  const text = typeof stack === 'string' ? stack : message;
  if (typeof text !== 'string') return '';
  return text
    .split('\n')
    .map((one) => `    ${visible(one)}\n`)
    .join('');
}

function visible(text: string): string {
  return text.replace(unseen, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
