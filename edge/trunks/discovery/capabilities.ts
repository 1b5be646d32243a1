/** Methods and codecs in the answer to an OPTIONS (RFC 3261 section 11.2). Pure. */
import { headerList, type SipResponse } from './sip-response.ts';

/** RFC 3551 section 6, the audio payload types that need no rtpmap. */
const staticPayloads: Readonly<Record<string, string>> = {
  0: 'PCMU',
  3: 'GSM',
  4: 'G723',
  8: 'PCMA',
  9: 'G722',
  15: 'G728',
  18: 'G729',
};

/** RTP names to the names of the HTTP contract (shared/codecs.ts); other codecs keep their name. */
const contractNames: Readonly<Record<string, string>> = {
  PCMU: 'PCMU',
  PCMA: 'PCMA',
  G729: 'G.729',
  G729A: 'G.729',
  OPUS: 'Opus',
  G722: 'G.722',
};

/** RTP payloads that are not codecs. */
const notAudio = new Set(['TELEPHONE-EVENT', 'CN', 'RED']);

/** Methods of `Allow`, in order, without duplicates. */
export function methodsOf(response: SipResponse): string[] {
  const methods = (headerList(response, 'allow') ?? []).map((method) => method.toUpperCase());
  return [...new Set(methods)].filter((method) => /^[A-Z0-9.!%*_+`'~-]{1,32}$/.test(method)).slice(0, 50);
}

/** Codecs of the audio streams in the SDP body, in order, without duplicates. */
export function codecsOf(response: SipResponse): string[] {
  if (!/^v=0\r?$/m.test(response.body)) return [];
  const codecs: string[] = [];
  for (const section of response.body.split(/^(?=m=)/m)) {
    const media = /^m=audio \S+ \S+ ([^\r\n]*)/.exec(section);
    if (!media) continue;
    const names = new Map(
      [...section.matchAll(/^a=rtpmap:(\d+) ([^/\s]+)/gm)].map(([, payload, name]) => [payload, name]),
    );
    for (const payload of media[1]?.trim().split(/\s+/) ?? []) {
      const name = (names.get(payload) ?? staticPayloads[payload])?.toUpperCase();
      if (name && !notAudio.has(name)) codecs.push(contractNames[name] ?? name);
    }
  }
  return [...new Set(codecs)].slice(0, 50);
}

/** The system's name: `User-Agent`, else `Server`; at most 255 printable characters. */
export function userAgentOf(response: SipResponse): string | null {
  const text = headerList(response, 'user-agent') ?? headerList(response, 'server');
  const plain =
    text
      ?.join(', ')
      .replace(/[^\x20-\x7e]/g, '')
      .slice(0, 255) ?? '';
  return plain === '' ? null : plain;
}
