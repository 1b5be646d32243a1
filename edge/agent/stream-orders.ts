/** What the server of a stream agent asks for: reads and checks each of its messages (docs/stream.md). Pure. */
import { counted } from '#shared/counted.ts';
import { readByeHeaders } from '#shared/custom-headers.ts';
import { isDeeperThan } from '#shared/json-depth.ts';
import type { ByeExtras } from '../call/ports/signaling.ts';
import type { ConsultOrder } from '../call/ports/transfer.ts';
import { isBase64 } from './sound-octets.ts';

export type StreamOrder =
  | { readonly event: 'media'; readonly payload: string }
  | { readonly event: 'mark'; readonly name: string }
  | { readonly event: 'clear' }
  | { readonly event: 'dtmf'; readonly digits: string }
  | { readonly event: 'hangup'; readonly reason: string | null; readonly bye: ByeExtras }
  | {
      readonly event: 'transfer';
      readonly target: string;
      readonly method: 'bridge' | 'refer';
      readonly consult: ConsultOrder | null;
    }
  | { readonly event: 'recording'; readonly action: 'pause' | 'resume' }
  /** `data` as compact JSON. */
  | { readonly event: 'custom'; readonly name: string; readonly data: string };

export type StreamErrorCode =
  /** The message cannot be read. */
  | 'invalid_message'
  /** A field is missing or has a wrong value. */
  | 'invalid_field'
  /** `streamSid` names another stream. */
  | 'wrong_stream'
  /** A limit is reached: the message has no effect. */
  | 'limit'
  /** The peer cannot receive key presses. */
  | 'keys_unavailable'
  | 'recording_unavailable';

export interface StreamError {
  /** null: the message has none. */
  readonly event: string | null;
  readonly code: StreamErrorCode;
  /** What is wrong and where, one sentence. */
  readonly message: string;
}

/** null: an event that is not known, which is ignored (contract 9.5). */
export type ReadOrder = { readonly order: StreamOrder } | { readonly error: StreamError } | null;

/** Levels of arrays and objects: thousands break what writes them as JSON. */
const deepest = 100;
const longestTarget = 512;
const longestAnnouncement = 1_000;
const longestMarkName = 1_000;
/** Used of the reason of a hangup; the rest is cut. */
const longestReason = 200;
/** Characters of a custom event's data as JSON. */
const longestCustomData = 4_096;
/** Of an event's name in an error message. */
const longestShownEvent = 64;

type Fields = Readonly<Record<string, unknown>>;

/** A wrong field; only thrown inside this file. */
class WrongField extends Error {}

export function readOrder(text: string, streamSid: string): ReadOrder {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return invalid(null, 'The message is not JSON.');
  }
  if (!isFields(message)) return invalid(null, 'The message is not a JSON object.');
  const { event } = message;
  if (typeof event !== 'string') return invalid(null, 'The message has no "event", which must be text.');
  const shown = event.slice(0, longestShownEvent);
  const { streamSid: named } = message;
  if (named !== undefined && named !== null && named !== streamSid) {
    const problem = `"streamSid" must be ${streamSid}, or be left out.`;
    return { error: { event: shown, code: 'wrong_stream', message: problem } };
  }
  const read = Object.hasOwn(readers, event) ? readers[event] : undefined;
  if (!read) return null;
  // Of sound, which comes 50 times a second, only the payload is read.
  if (event !== 'media' && isDeeperThan(text, deepest))
    return invalid(null, `The message is more than ${counted(deepest, 'level')} deep.`);
  try {
    return { order: read(message) };
  } catch (error) {
    if (!(error instanceof WrongField)) throw error;
    return { error: { event: shown, code: 'invalid_field', message: error.message } };
  }
}

const readers: Readonly<Record<string, (message: Fields) => StreamOrder>> = {
  media: (message) => {
    const { payload } = content(message, 'media');
    if (typeof payload !== 'string') throw new WrongField('"media.payload" must be text.');
    if (!isBase64(payload)) throw new WrongField('"media.payload" must be base64.');
    return { event: 'media', payload };
  },
  mark: (message) => {
    const name = text(content(message, 'mark'), 'mark.name', 'name', longestMarkName);
    return { event: 'mark', name };
  },
  clear: () => ({ event: 'clear' }),
  dtmf: (message) => {
    const { digits } = content(message, 'dtmf');
    if (typeof digits !== 'string' || !/^[0-9*#A-Dw]{1,64}$/.test(digits)) {
      throw new WrongField('"dtmf.digits" must be 1 to 64 of 0-9, *, #, A-D, and w for a pause.');
    }
    return { event: 'dtmf', digits };
  },
  hangup: (message) => {
    // The reason stood beside the event before there were other fields.
    const fields = message.hangup === undefined ? {} : content(message, 'hangup');
    const reason = fields.reason ?? message.reason;
    return {
      event: 'hangup',
      reason: typeof reason === 'string' && reason !== '' ? reason.slice(0, longestReason) : null,
      bye: readBye(fields),
    };
  },
  transfer: (message) => {
    const fields = content(message, 'transfer');
    const target = text(fields, 'transfer.target', 'target', longestTarget);
    if (target.trim() === '') throw new WrongField('"transfer.target" must not be empty.');
    const method = fields.method ?? 'bridge';
    if (method !== 'bridge' && method !== 'refer') {
      throw new WrongField('"transfer.method" must be "bridge" or "refer".');
    }
    return { event: 'transfer', target, method, consult: readConsult(fields) };
  },
  recording: (message) => {
    const { action } = content(message, 'recording');
    if (action !== 'pause' && action !== 'resume') {
      throw new WrongField('"recording.action" must be "pause" or "resume".');
    }
    return { event: 'recording', action };
  },
  custom: (message) => {
    const { name, data = null } = content(message, 'custom');
    if (typeof name !== 'string' || !/^[A-Za-z0-9_.:-]{1,64}$/.test(name)) {
      throw new WrongField('"custom.name" must be 1 to 64 letters, digits, or any of _ . : -');
    }
    const json = JSON.stringify(data);
    if (json.length > longestCustomData) {
      throw new WrongField(
        `"custom.data" must have at most ${counted(longestCustomData, 'character')} as JSON.`,
      );
    }
    return { event: 'custom', name, data: json };
  },
};

function readBye({ cause, headers }: Fields): ByeExtras {
  if (cause !== undefined && cause !== null) {
    if (typeof cause !== 'number' || !Number.isInteger(cause) || cause < 1 || cause > 127) {
      throw new WrongField('"hangup.cause" must be a Q.850 cause: a whole number from 1 to 127.');
    }
  }
  const q850 = typeof cause === 'number' ? { q850: cause } : {};
  if (headers === undefined || headers === null) return q850;
  const read = readByeHeaders(headers);
  if ('headers' in read) return { ...q850, headers: read.headers };
  const where = read.member === null ? 'hangup.headers' : `hangup.headers.${read.member}`;
  throw new WrongField(`"${where}" ${read.problem}.`);
}

/** A warm transfer, as in contract 9.3. */
function readConsult(fields: Fields): ConsultOrder | null {
  const { announcement = null, accept_key: acceptKey = null } = fields;
  if (announcement === null && acceptKey === null) return null;
  if (acceptKey !== null && (typeof acceptKey !== 'string' || !/^[0-9*#]$/.test(acceptKey))) {
    throw new WrongField('"transfer.accept_key" must be one of 0-9, * and #.');
  }
  return {
    announcement:
      announcement === null
        ? null
        : text(fields, 'transfer.announcement', 'announcement', longestAnnouncement),
    acceptKey,
  };
}

function content(message: Fields, event: string): Fields {
  const fields = message[event];
  if (!isFields(fields)) throw new WrongField(`"${event}" must be an object.`);
  return fields;
}

function text(fields: Fields, where: string, name: string, longest: number): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new WrongField(`"${where}" must be text.`);
  if (value.length > longest)
    throw new WrongField(`"${where}" must have at most ${counted(longest, 'character')}.`);
  return value;
}

function invalid(event: string | null, message: string): ReadOrder {
  return { error: { event, code: 'invalid_message', message } };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
