/** The text of peers' SIP messages, built without code of the engine. */
import type { SipText } from '../../scripts/call/sip-text.ts';
import type { SimSocket } from './sockets.ts';

/** Of all offers and answers of peers: a secret. */
export const peerKey = 'MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkw';

export const offer = [
  'v=0',
  'o=- 1 1 IN IP4 10.1.0.1',
  's=-',
  'c=IN IP4 10.1.0.1',
  't=0 0',
  'm=audio 30000 RTP/SAVP 0 101',
  `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${peerKey}`,
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:101 telephone-event/8000',
  'a=sendrecv',
  '',
].join('\r\n');

/** @param headers each with its line end @param to with its tag; absent: that of the request with a fixed tag */
export function respond(
  socket: SimSocket,
  request: SipText,
  status: string,
  headers = '',
  body = '',
  to?: string,
): void {
  if (socket.destroyed || socket.writableEnded) return;
  const copied = request.raw
    .slice(0, request.raw.indexOf('\r\n\r\n'))
    .split('\r\n')
    .filter((line) => /^(via|from|call-id|cseq):/i.test(line))
    .join('\r\n');
  const dialog = to ?? tagged(request.header('to') ?? '', 'peer');
  const type = body === '' ? '' : 'Content-Type: application/sdp\r\n';
  socket.write(
    Buffer.from(
      `SIP/2.0 ${status}\r\n${copied}\r\nTo: ${dialog}\r\n${headers}${type}Content-Length: ${Buffer.byteLength(body, 'latin1')}\r\n\r\n${body}`,
      'latin1',
    ),
  );
}

/** With that tag unless it has one. */
export function tagged(name: string, tag: string): string {
  return /;tag=/i.test(name) ? name : `${name};tag=${tag}`;
}

/** The URI of a From, To or Contact. */
export function uriOf(field: string): string {
  return /<([^>]+)>/.exec(field)?.[1] ?? field;
}
