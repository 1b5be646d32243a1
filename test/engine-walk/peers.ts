/** Peers that send anything at any time: valid, late, duplicated, with wrong tags, or nothing at all. */
import { tagOf } from '../../edge/engine/message/address.ts';
import type { SipMessage, SipRequest } from '../../edge/engine/message/message.ts';
import { type FakeFlow, type Random, refusingHost, silentHost, type World } from './world.ts';

/** A call from a peer to us. */
interface Calling {
  readonly callId: string;
  readonly fromTag: string;
  flow: FakeFlow;
  readonly branch: string;
  toTag: string;
  cseq: number;
  rseq: string;
  last: readonly string[];
}

/** A request from the engine. */
interface Asked {
  readonly flow: FakeFlow;
  readonly request: SipRequest;
}

/** Reachable and unreachable Contacts. */
const contacts = [
  '<sip:peer@203.0.113.1:40001;transport=tls>',
  '<sips:peer@203.0.113.9>',
  '<sip:peer@10.0.0.7:5061;transport=tls>',
  '<sip:peer@203.0.113.1:40001;transport=udp>',
  '<sip:peer@203.0.113.1;transport=carrier-pigeon>',
  '<sip:peer@203.0.113.1:40001;transport=udp>',
  `<sip:peer@${refusingHost};transport=tls>`,
  `<sip:peer@${silentHost};transport=tls>`,
  '<tel:+14155550100>',
  '<http://203.0.113.1/>',
  '*',
] as const;

const later = ['BYE', 'INVITE', 'UPDATE', 'REFER', 'NOTIFY', 'PRACK', 'OPTIONS', 'INFO', 'DANCE'] as const;

export class WalkingPeers {
  readonly #world: World;
  readonly #flows: FakeFlow[] = [];
  readonly #calls: Calling[] = [];
  #asked: Asked[] = [];
  #count = 0;

  constructor(world: World) {
    this.#world = world;
    world.onSent = (flow, message) => this.#heard(flow, message);
  }

  /** One random action. @returns a word for the log of the walk */
  act(random: Random): string {
    const call = this.#calls[random(Math.max(1, this.#calls.length))];
    switch (random(10)) {
      case 0:
      case 1:
        return this.#invite(random, call);
      case 2:
        return call ? this.#again(call) : 'no call';
      case 3:
        return call ? this.#ack(call, random) : 'no call';
      case 4:
        return call ? this.#cancel(call) : 'no call';
      case 5:
      case 6:
        return call ? this.#request(call, later[random(later.length)] ?? 'BYE', random) : 'no call';
      case 7:
        return this.#close(random);
      default:
        return this.#respond(random);
    }
  }

  // ---------------------------------------------------------------- requests

  #flow(random: Random): FakeFlow {
    const open = this.#flows.filter(({ closed }) => !closed);
    const found = open[random(open.length + 1)];
    if (found) return found;
    const port = 40_000 + ++this.#count;
    const flow = this.#world.accept(port);
    this.#flows.push(flow);
    return flow;
  }

  #invite(random: Random, other: Calling | undefined): string {
    const number = ++this.#count;
    const same = random(6) === 0 && other;
    const callId = same ? other.callId : `call-${number}`;
    const call: Calling = {
      callId,
      fromTag: same ? other.fromTag : `from-${number}`,
      flow: this.#flow(random),
      branch: `z9hG4bK-${number}`,
      toTag: '',
      cseq: same ? other.cseq + random(2) : 1,
      rseq: '',
      last: [],
    };
    const contact = contacts[random(contacts.length)];
    const method = random(12) === 0 ? 'SUBSCRIBE' : 'INVITE';
    const extra = [
      ...(random(8) === 0 ? [] : [`Contact: ${contact}`]),
      ...(random(2) === 0 ? ['Supported: 100rel'] : []),
      ...(method === 'SUBSCRIBE' ? ['Event: presence', 'Expires: 60'] : []),
    ];
    this.#calls.push(call);
    this.#send(call, method, call.branch, call.cseq, extra);
    return `${method} of ${callId} with ${contact}`;
  }

  #again(call: Calling): string {
    this.#world.receive(call.flow, call.last);
    return 'the same request again';
  }

  #ack(call: Calling, random: Random): string {
    const wrong = random(4) === 0;
    const branch = random(2) === 0 ? call.branch : `z9hG4bK-ack-${++this.#count}`;
    const cseq = random(5) === 0 ? call.cseq + 1 : call.cseq;
    const flow = random(4) === 0 ? this.#flow(random) : call.flow;
    this.#world.receive(flow, this.#lines(call, 'ACK', branch, cseq, [], wrong ? 'wrong' : call.toTag));
    return `ACK of ${call.callId}`;
  }

  #cancel(call: Calling): string {
    this.#world.receive(call.flow, this.#lines(call, 'CANCEL', call.branch, call.cseq, [], ''));
    return `CANCEL of ${call.callId}`;
  }

  #request(call: Calling, method: string, random: Random): string {
    if (call.flow.closed || random(5) === 0) call.flow = this.#flow(random);
    const invited = call.cseq;
    call.cseq += random(6) === 0 ? 0 : 1;
    const extra = [
      ...(method === 'PRACK' ? [`RAck: ${call.rseq || '1'} ${invited} INVITE`] : []),
      ...(method === 'NOTIFY' ? ['Event: refer', 'Subscription-State: terminated'] : []),
      ...(random(3) === 0 ? [`Contact: ${contacts[random(contacts.length)]}`] : []),
    ];
    const tag = random(6) === 0 ? 'wrong' : call.toTag;
    this.#send(call, method, `z9hG4bK-${++this.#count}`, call.cseq, extra, tag);
    return `${method} of ${call.callId}`;
  }

  #send(
    call: Calling,
    method: string,
    branch: string,
    cseq: number,
    extra: readonly string[],
    tag = '',
  ): void {
    call.last = this.#lines(call, method, branch, cseq, extra, tag);
    this.#world.receive(call.flow, call.last);
  }

  #lines(
    call: Calling,
    method: string,
    branch: string,
    cseq: number,
    extra: readonly string[],
    toTag: string,
  ): readonly string[] {
    return [
      `${method} sip:us@192.0.2.1 SIP/2.0`,
      `Via: SIP/2.0/TLS 203.0.113.1;branch=${branch}`,
      `From: <sip:peer@203.0.113.1>;tag=${call.fromTag}`,
      `To: <sip:us@192.0.2.1>${toTag === '' ? '' : `;tag=${toTag}`}`,
      `Call-ID: ${call.callId}`,
      `CSeq: ${cseq} ${method}`,
      ...extra,
    ];
  }

  #close(random: Random): string {
    const flow = this.#world.flows[random(Math.max(1, this.#world.flows.length))];
    flow?.close('the peer has closed');
    return flow ? `connection ${flow.remotePort} closed` : 'no connection';
  }

  // ---------------------------------------------------------------- responses

  #respond(random: Random): string {
    const asked = this.#asked[random(Math.max(1, this.#asked.length))];
    if (!asked) return 'nothing asked';
    const { flow, request } = asked;
    const { method } = request;
    const statuses =
      method === 'INVITE'
        ? [100, 180, 183, 200, 200, 200, 302, 401, 486, 503]
        : [200, 200, 200, 401, 481, 500];
    const status = statuses[random(statuses.length)] ?? 200;
    // Some are answered again, by the same fork or by another one.
    if (random(3) > 0) this.#asked = this.#asked.filter((other) => other !== asked);
    const reliable = status === 183 && random(2) === 0 ? ['Require: 100rel', `RSeq: ${1 + random(3)}`] : [];
    const to = request.headers.get('to') ?? '';
    const tag = tagOf(to) === undefined && random(8) > 0 ? `;tag=fork-${random(3) === 0 ? 'b' : 'a'}` : '';
    const contact = random(8) === 0 ? [] : [`Contact: ${contacts[random(contacts.length)]}`];
    this.#world.receive(flow, [
      `SIP/2.0 ${status} X`,
      ...['via', 'from', 'call-id', 'cseq'].map((name) => `${name}: ${request.headers.get(name)}`),
      `To: ${to}${tag}`,
      ...(random(20) === 0 ? [] : contact),
      ...reliable,
    ]);
    return `${status} to ${method}`;
  }

  #heard(flow: FakeFlow, message: SipMessage): void {
    const callId = message.headers.get('call-id');
    if (message.kind === 'request') {
      if (message.method === 'ACK') return;
      this.#asked.push({ flow, request: message });
      if (this.#asked.length > 20) this.#asked.shift();
      return;
    }
    const tag = tagOf(message.headers.get('to') ?? '');
    for (const call of this.#calls) {
      if (call.callId !== callId) continue;
      if (message.status > 100 && tag !== undefined && tag !== 'wrong') call.toTag = tag;
      call.rseq = message.headers.get('rseq') ?? call.rseq;
    }
  }
}
