/**
 * Frames for a drachtio-server: without the header fields that only the embedded engine knows, and not too long.
 *
 * The longest frame that it takes, and what becomes of longer ones. It appends reads of 8,192 octets to
 * a ring of 12,228 that overwrites itself, so a longer frame with others behind it destroys the stream: the server then
 * closes the connection, and all calls end. Peers decide how long much of a frame is: a response repeats From, To and
 * Call-ID. Pure.
 */
import { ownPrefix } from '#shared/engine-protocol/headers.ts';

/** Octets of a frame with its length. 12,228 - 8,192 = 4,036 may wait for their rest when the next read arrives. */
export const longestFrame = 4_000;

const privateField = new RegExp(`\\r\\n${ownPrefix}`, 'i');

/** Responses to a request need not repeat these: the engine takes them from the request (RFC 3261 section 8.2.6.2). */
const repeated: ReadonlySet<string> = new Set(['from', 'to', 'call-id']);

export type FittedFrame =
  | { readonly kind: 'fits'; readonly frame: string }
  /** @property instead to be sent in place of the frame; null: nothing */
  | {
      readonly kind: 'too_long';
      readonly id: string;
      readonly octets: number;
      readonly instead: string | null;
    };

/**
 * @param frame as drachtio-srf writes it: `<octets>#<id>|<type>|…`, with a SIP message after the first line
 * @param newId the id of a frame of our own
 */
export function fitFrame(frame: string, newId: () => string): FittedFrame {
  return fitOctets(withoutPrivate(frame), newId);
}

function fitOctets(frame: string, newId: () => string): FittedFrame {
  const octets = Buffer.byteLength(frame);
  if (octets <= longestFrame) return { kind: 'fits', frame };
  const payload = frame.slice(frame.indexOf('#') + 1);
  const [leader = '', message = ''] = splitAt(payload, '\r\n');
  const [id = '', type = '', transactionId = ''] = leader.split('|');
  const response = /^SIP\/2\.0 ([1-6]\d\d)/.exec(message);
  if (type !== 'sip' || !response) return { kind: 'too_long', id, octets, instead: null };
  const shortened = encodeFrame(`${leader}\r\n${withoutRepeated(message)}`);
  if (Buffer.byteLength(shortened) <= longestFrame) return { kind: 'fits', frame: shortened };
  const status = Number(response[1]);
  if (status >= 300)
    return { kind: 'fits', frame: encodeFrame(`${leader}\r\n${bare(message.slice(0, 100))}`) };
  // A 2xx has promised what it says, so without that there is none. A 1xx may be missing.
  const final = `${newId()}|sip|${transactionId}|\r\n${bare('SIP/2.0 513 Message Too Large')}`;
  return { kind: 'too_long', id, octets, instead: status >= 200 ? encodeFrame(final) : null };
}

export function encodeFrame(payload: string): string {
  return `${Buffer.byteLength(payload)}#${payload}`;
}

/** A response with nothing but its first line. */
function bare(startLine: string): string {
  return `${splitAt(startLine, '\r\n')[0]}\r\n\r\n`;
}

function withoutRepeated(message: string): string {
  return withoutFields(message, (name) => repeated.has(name));
}

/** A drachtio-server would send the fields between edge and embedded engine to the peer. */
function withoutPrivate(frame: string): string {
  if (!privateField.test(frame)) return frame;
  return encodeFrame(
    withoutFields(frame.slice(frame.indexOf('#') + 1), (name) => name.startsWith(ownPrefix)),
  );
}

/** @param named gets the name of a header field in lower case, and tells whether it goes */
function withoutFields(message: string, named: (name: string) => boolean): string {
  const [head = '', body = ''] = splitAt(message, '\r\n\r\n');
  const lines = head
    .split('\r\n')
    .filter((line) => !named((line.split(':', 1)[0] ?? '').trim().toLowerCase()));
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
