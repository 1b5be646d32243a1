/** A signaling leg that records its calls; the test plays the peer. */

import type { ReferEvents, ReferOrder } from '../../../edge/call/ports/refer.ts';
import type {
  ByeExtras,
  CallLeg,
  DialogIdentity,
  LegEvents,
  LegFacts,
  Refusal,
} from '../../../edge/call/ports/signaling.ts';

export const sdpOffer = 'v=0\r\nm=audio 40000 RTP/SAVP 0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:x\r\n';

export class FakeLeg implements CallLeg {
  readonly facts: LegFacts;
  canRing = true;
  takesRefer = true;
  takesInfo = false;
  dialog: DialogIdentity | null = {
    callId: 'call-1@test',
    localTag: 'ours',
    remoteTag: 'theirs',
    remoteTarget: 'sip:caller@192.0.2.1:5061;transport=tls',
  };
  /** The events of each REFER that was sent, in order: the test reports the result through them. */
  readonly refers: ReferEvents[] = [];
  /** The callbacks for the response to each OPTIONS that was sent, in order. */
  readonly asked: ((gone: string | null) => void)[] = [];
  /** Of each BYE that was sent. */
  readonly byes: ByeExtras[] = [];
  /** What was sent, in order: `180`, `200`, `BYE (reason)`, `REFER target`, or a rejection. */
  readonly sent: (string | Refusal)[] = [];
  #peer: LegEvents | null = null;
  /** Runs before each message is recorded. */
  beforeSend: () => void = () => {};

  constructor(facts: Partial<LegFacts> = {}) {
    this.facts = {
      sipCallId: 'call-1@test',
      direction: 'inbound',
      from: '+14155550123',
      to: '+14155550100',
      sourceIp: '192.0.2.1',
      offer: sdpOffer,
      ...facts,
    };
  }

  /** The events of the peer. */
  get peer(): LegEvents {
    if (!this.#peer) throw new Error('nobody listens to this leg');
    return this.#peer;
  }

  listen(events: LegEvents): void {
    this.#peer = events;
  }
  ring(): void {
    this.#send('180');
  }
  answer(): void {
    this.#send('200');
  }
  reject(refusal: Refusal): void {
    this.#send(refusal);
  }
  refer(order: ReferOrder, events: ReferEvents): void {
    this.refers.push(events);
    this.#send(`REFER ${order.target}`);
  }
  ask(answered: (gone: string | null) => void): void {
    this.asked.push(answered);
    this.#send('OPTIONS');
  }
  renegotiate(): void {
    this.#send('re-INVITE');
  }
  bye(reason: string, extras: ByeExtras = {}): void {
    this.byes.push(extras);
    this.#send(`BYE (${reason})`);
  }

  #send(message: string | Refusal): void {
    this.beforeSend();
    this.sent.push(message);
  }
}
