/** First lines of the frames that the engine sends, in the token order that applications expect. */
import { randomUUID } from 'node:crypto';

/** Peer of a SIP message. `address` is empty and `port` 0 when the message was not on the wire. */
export interface Peer {
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
}

export const NOWHERE: Peer = { protocol: 'tls', address: '', port: 0 };

/** The listener that received a new request. */
export interface Listener {
  readonly address: string;
  readonly port: number;
}

/** `network`: from the wire, or made in place of a response. `application`: the engine's own request. */
export type Source = 'network' | 'application';

/** transactionId of requests that the engine itself adds to an application's dialog. */
export const UNSOLICITED = 'unsolicited';

/** A message for the application. `bytes`: 0 for a message that was never on the wire. */
export function sipLine(
  source: Source,
  bytes: number,
  peer: Peer,
  time: string,
  transactionId: string,
  dialogId: string,
  receivedOn: Listener | null,
): string {
  const on = receivedOn === null ? '' : `${receivedOn.address}|${receivedOn.port}|`;
  return `${randomUUID()}|sip|${source}|${bytes}|${peer.protocol}|${peer.address}|${peer.port}|${time}|${transactionId}|${dialogId}|${on}`;
}

/** The answer to a frame whose message was sent; the message itself follows the line. */
export function sentLine(
  requestId: string,
  bytes: number,
  peer: Peer,
  time: string,
  transactionId: string,
  dialogId: string,
): string {
  return `${randomUUID()}|response|${requestId}|OK|application|${bytes}|${peer.protocol}|${peer.address}|${peer.port}|${time}|${transactionId}|${dialogId}||Msg sent:|`;
}

/** An answer without message. `status`: `OK`, `NOK` (rejected) or `NO` (not understood). */
export function answerLine(requestId: string, status: 'OK' | 'NOK' | 'NO', ...tokens: string[]): string {
  const rest = tokens.length === 0 ? '' : `|${tokens.map(oneToken).join('|')}`;
  return `${randomUUID()}|response|${requestId}|${status}${rest}`;
}

/** The protocol has no escapes, so separators are removed from foreign text. */
function oneToken(text: string): string {
  return /[|\r\n]/.test(text) ? text.replace(/[|\r\n]+/g, ' ') : text;
}

let lastMs = -1;
let lastTime = '';

/** UTC time of day with microseconds, as `06:17:58.003000`. @param ms Unix time in milliseconds */
export function wireTime(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastTime = `${new Date(ms).toISOString().slice(11, 23)}000`;
  }
  return lastTime;
}
