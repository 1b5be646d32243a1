/** A dialer that records its calls; the test plays the far end. */
import type {
  DialEvents,
  Dialer,
  DialTarget,
  OutboundInvite,
  OutboundLeg,
} from '../../../edge/call/ports/dialing.ts';
import type { ReferEvents, ReferOrder } from '../../../edge/call/ports/refer.ts';
import type { DialogIdentity } from '../../../edge/call/ports/signaling.ts';

export class FakeOutboundLeg implements OutboundLeg {
  readonly target: DialTarget;
  readonly invite: OutboundInvite;
  /** The events of the far end. */
  readonly peer: DialEvents;
  takesRefer = true;
  takesInfo = false;
  dialog: DialogIdentity | null;
  /** The events of each REFER that was sent, in order: the test reports the result through them. */
  readonly refers: ReferEvents[] = [];
  /** What was sent after the INVITE, in order. */
  readonly sent: string[] = [];
  /** Runs before each message is recorded. */
  beforeSend: () => void = () => {};

  constructor(target: DialTarget, invite: OutboundInvite, peer: DialEvents) {
    this.target = target;
    this.invite = invite;
    this.peer = peer;
    this.dialog = {
      callId: invite.sipCallId,
      localTag: 'ours',
      remoteTag: 'theirs',
      remoteTarget: `sip:callee@${target.host}:${target.port};transport=tls`,
    };
  }

  cancel(reason: string): void {
    this.#send(`CANCEL (${reason})`);
  }
  ask(answered: (gone: string | null) => void): void {
    this.#send('OPTIONS');
    answered(null);
  }
  bye(reason: string): void {
    this.#send(`BYE (${reason})`);
  }
  refer(order: ReferOrder, events: ReferEvents): void {
    this.refers.push(events);
    this.#send(`REFER ${order.target}`);
  }
  renegotiate(): void {
    this.#send('re-INVITE');
  }

  #send(message: string): void {
    this.beforeSend();
    this.sent.push(message);
  }
}

export class FakeDialer implements Dialer {
  readonly legs: FakeOutboundLeg[] = [];

  dial(target: DialTarget, invite: OutboundInvite, events: DialEvents): OutboundLeg {
    const leg = new FakeOutboundLeg(target, invite, events);
    this.legs.push(leg);
    return leg;
  }

  /** The leg dialed last. @throws when there is none */
  get last(): FakeOutboundLeg {
    const leg = this.legs.at(-1);
    if (!leg) throw new Error('nothing was dialled');
    return leg;
  }
}
