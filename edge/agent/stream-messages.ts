/** Messages of a call's audio socket, in the format of Twilio Media Streams with additions. */
import { g711 } from '#shared/g711.ts';

/** Contents of a `media` payload; the server chooses by WebSocket subprotocol. */
export interface StreamFormat {
  readonly subprotocol: string;
  readonly encoding: 'audio/x-mulaw' | 'audio/l16';
  readonly sampleRate: 8000 | 16000;
}

/**
 * In order of offer. The default format comes first although it needs no subprotocol, because many servers
 * blindly select the first one offered.
 */
export const streamFormats: readonly [StreamFormat, ...StreamFormat[]] = [
  { subprotocol: 'audio.mulaw.8000', encoding: 'audio/x-mulaw', sampleRate: 8000 },
  { subprotocol: 'audio.l16.16000', encoding: 'audio/l16', sampleRate: 16000 },
  { subprotocol: 'audio.l16.8000', encoding: 'audio/l16', sampleRate: 8000 },
];

export type ServerMessage =
  | { readonly event: 'media'; readonly payload: string }
  | { readonly event: 'mark'; readonly name: string }
  | { readonly event: 'clear' }
  | { readonly event: 'dtmf'; readonly digits: string }
  | { readonly event: 'hangup'; readonly reason: string | null }
  | { readonly event: 'transfer'; readonly target: string; readonly method: 'bridge' | 'refer' };

/**
 * Reads a message from the server. Returns null for unknown events and keys. Also returns null, and calls `problem`
 * with the reason, for a message that is not a JSON object or lacks required content.
 */
export function parseServerMessage(
  text: string,
  streamSid: string,
  problem: (why: string) => void,
): ServerMessage | null {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    problem('a message is not JSON');
    return null;
  }
  if (!isRecord(message) || typeof message.event !== 'string') {
    problem('a message has no "event"');
    return null;
  }
  const { event } = message;
  if (typeof message.streamSid === 'string' && message.streamSid !== streamSid) {
    problem(`a "${event}" message names another streamSid`);
    return null;
  }
  const parsed = readEvent(event, isRecord(message[event]) ? message[event] : {}, message);
  if (parsed === undefined) problem(`a "${event}" message lacks required fields`);
  return parsed ?? null;
}

/** null: an unknown event; undefined: a known one without its required content. */
function readEvent(
  event: string,
  content: Record<string, unknown>,
  message: Record<string, unknown>,
): ServerMessage | null | undefined {
  switch (event) {
    case 'media':
      return typeof content.payload === 'string' ? { event, payload: content.payload } : undefined;
    case 'mark':
      return typeof content.name === 'string' ? { event, name: content.name } : undefined;
    case 'clear':
      return { event };
    case 'dtmf': {
      const digits = content.digits;
      return typeof digits === 'string' && /^[0-9*#A-Dw]{1,64}$/.test(digits) ? { event, digits } : undefined;
    }
    case 'hangup':
      return { event, reason: typeof message.reason === 'string' ? message.reason.slice(0, 200) : null };
    case 'transfer':
      return readTransfer(content);
    default:
      return null;
  }
}

/** Like POST /v1/calls/active/transfer (contract 9.3): bridge, unless refer is requested. */
function readTransfer({ target, method }: Record<string, unknown>): ServerMessage | undefined {
  if (typeof target !== 'string' || target.length > 1000) return undefined;
  if (method === undefined || method === null || method === 'bridge')
    return { event: 'transfer', target, method: 'bridge' };
  return method === 'refer' ? { event: 'transfer', target, method } : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Samples of a `media` payload. */
export function decodePayload(payload: string, format: StreamFormat): Int16Array {
  const octets = Buffer.from(payload, 'base64');
  if (format.encoding === 'audio/x-mulaw') return decodeMulaw(octets);
  const samples = new Int16Array(octets.length >> 1);
  for (let i = 0; i < samples.length; i++) samples[i] = octets.readInt16LE(2 * i);
  return samples;
}

/** Encodes frames of one size into payloads, using one buffer. */
export class PayloadEncoder {
  readonly #format: StreamFormat;
  readonly #octets: Buffer;

  constructor(format: StreamFormat) {
    this.#format = format;
    const bytesPerSample = format.encoding === 'audio/x-mulaw' ? 1 : 2;
    this.#octets = Buffer.alloc((format.sampleRate / 50) * bytesPerSample);
  }

  encode(frame: Int16Array): string {
    const octets = this.#octets;
    if (this.#format.encoding === 'audio/x-mulaw') encodeMulaw(frame, octets);
    else for (let i = 0; i < frame.length; i++) octets.writeInt16LE(frame[i] ?? 0, 2 * i);
    return octets.toString('base64');
  }
}

const { toLinear, fromLinear } = g711.PCMU;

/** Writes `samples` as mu-law octets, the default of stream sockets, to the start of `octets`. */
export function encodeMulaw(samples: Int16Array, octets: Uint8Array): void {
  for (let i = 0; i < samples.length; i++) octets[i] = fromLinear[(samples[i] ?? 0) & 0xffff] ?? 0xff;
}

export function decodeMulaw(octets: Uint8Array): Int16Array {
  const samples = new Int16Array(octets.length);
  for (let i = 0; i < octets.length; i++) samples[i] = toLinear[octets[i] ?? 0xff] ?? 0;
  return samples;
}
