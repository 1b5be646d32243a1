/** The SIP messages of a trace as rows of a ladder. */
import type { Answer } from '../../api/client.ts';

export type TracedMessage = Answer<'GET /v1/sip/calls/{call_id}/trace'>['data']['messages'][number];

export type MessageKind = 'request' | 'provisional' | 'success' | 'failure';

export interface LadderRow {
  readonly seq: number;
  /** Since the call began. */
  readonly atMs: number;
  /** Since the row before; null for the first. */
  readonly afterMs: number | null;
  readonly kind: MessageKind;
  /** `INVITE`, `200 OK` */
  readonly title: string;
  /** Of a response: the method that it answers. */
  readonly answers: string | null;
  readonly hasSdp: boolean;
  readonly sent: boolean;
  /** Index in `Ladder.peers`. */
  readonly peer: number;
  readonly raw: string;
}

export interface Ladder {
  /** In the order of their first message. */
  readonly peers: readonly { readonly address: string; readonly product: string | null }[];
  readonly rows: readonly LadderRow[];
}

export function ladderOf(messages: readonly TracedMessage[], startedAt: string): Ladder {
  const begin = Date.parse(startedAt);
  const addresses = [...new Set(messages.map(({ remote }) => remote))];
  const times = messages.map(({ at }) => Date.parse(at) - begin);
  return {
    peers: addresses.map((address) => ({
      address,
      product: productOf(messages.filter((one) => one.remote === address && one.direction === 'received')),
    })),
    rows: messages.map((message, index) => ({
      seq: message.seq,
      atMs: times[index] ?? 0,
      afterMs: index === 0 ? null : (times[index] ?? 0) - (times[index - 1] ?? 0),
      ...kindOf(message.start_line),
      answers: /^SIP\/2\.0 /.test(message.start_line) ? methodOf(message.raw) : null,
      hasSdp: /^content-type:\s*application\/sdp|^c:\s*application\/sdp/im.test(message.raw),
      sent: message.direction === 'sent',
      peer: addresses.indexOf(message.remote),
      raw: message.raw,
    })),
  };
}

function kindOf(startLine: string): { kind: MessageKind; title: string } {
  const response = /^SIP\/2\.0 (\d)(\d\d) ?(.*)$/.exec(startLine);
  if (!response) return { kind: 'request', title: startLine.split(' ', 1)[0] ?? startLine };
  const [, first, rest, phrase = ''] = response;
  const kind = first === '1' ? 'provisional' : first === '2' ? 'success' : 'failure';
  return { kind, title: `${first}${rest} ${phrase}`.trim() };
}

function methodOf(raw: string): string | null {
  return /^cseq:\s*\d+\s+(\w+)/im.exec(raw)?.[1] ?? null;
}

/** What the peer calls itself. */
function productOf(received: readonly TracedMessage[]): string | null {
  for (const { raw } of received) {
    const named = /^(?:user-agent|server):\s*(.{1,60})/im.exec(raw)?.[1];
    if (named) return named.trim();
  }
  return null;
}
