/**
 * An application that does anything at any time, and keeps records: which dialogs it knows, which have ended, and
 * which of its requests have their outcome. An inconsistency is a fault.
 */

import { parseAppMessage } from '../../edge/engine/drachtio-port/app-message.ts';
import type { AppClient } from '../../edge/engine/drachtio-port/client.ts';
import { SipCommand } from '../../edge/engine/drachtio-port/command.ts';
import type { Frame } from '../../edge/engine/drachtio-port/frame.ts';
import { tagOf } from '../../edge/engine/message/address.ts';
import { parseCSeq } from '../../edge/engine/message/cseq.ts';
import type { SipMessage, SipRequest } from '../../edge/engine/message/message.ts';
import { parseMessage } from '../../edge/engine/message/parse.ts';
import { type Random, refusingHost, silentHost, type World } from './world.ts';

interface Known {
  /** Its BYE was challenged and not repeated: the dialog may have ended as a result. */
  challenged: boolean;
  /** The peer's 2xx still needs an ACK. */
  owesAck: boolean;
  prack: string | null;
  subscription: boolean;
}

interface Asked {
  readonly method: string;
  readonly dialogId: string;
}

/** A request of ours. */
interface Awaited extends Asked {
  /** Its dialog: a later one may have the same id, when the peer calls again with its Call-ID and tag. */
  readonly known: Known | undefined;
}

type Answer = (tokens: readonly string[], status: string) => void;

const inDialog = ['INFO', 'UPDATE', 'REFER', 'NOTIFY', 'INVITE', 'BYE', 'BYE', 'OPTIONS'] as const;
const NO_DIALOG = /unable to find dialog/;

export class WalkingApplication {
  readonly client: AppClient;
  readonly faults: string[] = [];
  readonly #world: World;
  readonly #live = new Map<string, Known>();
  /** Requests from peers without our final response, by transaction. */
  readonly #open = new Map<string, Asked>();
  /** Our requests without an outcome, by transaction. */
  readonly #awaited = new Map<string, Awaited>();
  #answer: Answer | null = null;
  #count = 0;

  constructor(world: World) {
    this.#world = world;
    this.client = world.application((frame) => this.#receive(frame));
  }

  /** One random action. @returns a word for the log of the walk */
  act(random: Random): string {
    const pick = <Item>(items: Iterable<Item>): Item | undefined => {
      const all = [...items];
      return all[random(Math.max(1, all.length))];
    };
    const asked = pick(this.#open);
    const known = pick(this.#live);
    const awaited = pick(this.#awaited);
    switch (random(8)) {
      case 0:
      case 1:
      case 2:
        return asked ? this.#respond(asked[0], asked[1], random) : 'nothing asked';
      case 3:
        return this.#place(random);
      case 4:
        return awaited ? this.#cancel(awaited[0]) : 'nothing to cancel';
      case 5:
        if (known?.[1].owesAck) return this.#ack(known[0], known[1]);
        return known ? this.#request(known[0], inDialog[random(inDialog.length)] ?? 'BYE') : 'no dialog';
      case 6:
        return known ? this.#request(known[0], inDialog[random(inDialog.length)] ?? 'BYE') : 'no dialog';
      default:
        return known ? this.#prack(known[0], known[1]) : 'no dialog';
    }
  }

  /** Ends everything that it knows of. */
  finish(): void {
    for (const [id, asked] of [...this.#open])
      this.#reply(id, asked, asked.method === 'INVITE' ? 480 : 200, []);
    for (const [id, { method }] of [...this.#awaited]) if (method === 'INVITE') this.#cancel(id);
    for (const id of [...this.#live.keys()]) this.#request(id, 'BYE');
  }

  /** What is still pending after all timers have expired; nothing, unless the engine has failed to deliver it. */
  get owed(): string[] {
    return [
      ...[...this.#live].flatMap(([id, { challenged }]) => (challenged ? [] : [`the end of dialog ${id}`])),
      ...[...this.#open].flatMap(([id, { method }]) =>
        method === 'INVITE' ? [`the end of INVITE ${id}`] : [],
      ),
      ...[...this.#awaited].map(([id, { method }]) => `the outcome of ${method} ${id}`),
    ];
  }

  // ---------------------------------------------------------------- what it sends

  #respond(id: string, asked: Asked, random: Random): string {
    const { method } = asked;
    const statuses =
      method === 'INVITE' ? [100, 180, 183, 183, 200, 200, 200, 202, 302, 486] : [200, 200, 481, 500];
    const status = statuses[random(statuses.length)] ?? 200;
    const reliable = status === 183 && random(2) === 0;
    return this.#reply(id, asked, status, reliable ? ['Require: 100rel'] : []);
  }

  #reply(id: string, asked: Asked, status: number, headers: readonly string[]): string {
    const { method } = asked;
    if (status >= 200) this.#open.delete(id);
    this.#say(id, '', [`SIP/2.0 ${status} X`, ...headers], (tokens) => {
      const dialogId = asked.dialogId || (tokens[8] ?? '');
      const forms = (method === 'INVITE' || method === 'SUBSCRIBE') && asked.dialogId === '';
      const refused = tokens[0] !== 'OK';
      if (refused && /unknown transaction/.test(tokens[1] ?? '')) this.#open.delete(id);
      // Our rejection ends a dialog that we rang, and so does an answer that cannot be sent.
      if (forms && (status >= 300 || (status >= 200 && refused))) {
        for (const early of this.#early(id)) this.#live.delete(early);
      } else if (forms && !refused && dialogId !== '' && (status >= 200 || method === 'INVITE')) {
        this.#known(dialogId, id).subscription = method === 'SUBSCRIBE';
      }
    });
    return `answers ${method} ${status}`;
  }

  #place(random: Random): string {
    const hosts = ['203.0.113.9:5061', '203.0.113.1:40001', `${refusingHost}:5061`, `${silentHost}:5061`];
    const host = hosts[random(hosts.length)];
    const number = ++this.#count;
    // Some Call-IDs are reused.
    const own = random(4) === 0 ? [`Call-ID: again`, 'From: <sip:app@localhost>;tag=again'] : [];
    const lines = [`INVITE sip:callee${number}@${host} SIP/2.0`, ...own, 'Supported: 100rel'];
    this.#say('', '', lines, (tokens) => this.#sent(tokens, 'INVITE', ''));
    return `calls ${host}`;
  }

  #cancel(id: string): string {
    this.#say(id, '', ['CANCEL sip:x SIP/2.0'], () => {});
    return 'cancels';
  }

  #ack(dialogId: string, known: Known): string {
    known.owesAck = false;
    this.#say('', dialogId, ['ACK sip:placeholder SIP/2.0'], () => {});
    return 'acknowledges';
  }

  #prack(dialogId: string, known: Known): string {
    if (known.prack === null) return 'nothing to PRACK';
    const lines = ['PRACK sip:placeholder SIP/2.0', `RAck: ${known.prack}`];
    known.prack = null;
    this.#say('', dialogId, lines, (tokens) => this.#sent(tokens, 'PRACK', dialogId));
    return 'PRACKs';
  }

  #request(dialogId: string, method: string): string {
    const headers = method === 'NOTIFY' ? ['Event: refer', 'Subscription-State: active'] : [];
    this.#say('', dialogId, [`${method} sip:placeholder SIP/2.0`, ...headers], (tokens) => {
      const known = this.#live.get(dialogId);
      if (tokens[0] === 'OK') {
        if (!known) this.faults.push(`${method} went out in ${dialogId}, which had ended`);
        this.#sent(tokens, method, dialogId);
      } else if (known && NO_DIALOG.test(tokens[1] ?? '')) {
        this.#live.delete(dialogId);
        if (!known.challenged) this.faults.push(`${dialogId} is gone, and no event has told so`);
      } else if (method === 'BYE') {
        this.faults.push(`a BYE was refused: ${tokens[1]}`);
      }
    });
    return `sends ${method}`;
  }

  #sent(tokens: readonly string[], method: string, dialogId: string): void {
    const id = tokens[7] ?? '';
    if (tokens[0] === 'OK') this.#awaited.set(id, { method, dialogId, known: this.#live.get(dialogId) });
  }

  /** The engine answers before this returns. */
  #say(transactionId: string, dialogId: string, lines: readonly string[], answer: Answer): void {
    const message = parseAppMessage(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
    if (!message) throw new Error(`the application writes nonsense: ${lines[0]}`);
    const command = new SipCommand(this.client, ['id', 'sip', transactionId, dialogId, ''], message);
    this.#answer = answer;
    this.#world.core.execute(command);
    if (this.#answer !== null) this.faults.push(`no answer to ${lines[0]}`);
    this.#answer = null;
  }

  // ---------------------------------------------------------------- what it receives

  #receive({ tokens, sip }: Frame): void {
    if (tokens[1] === 'response') {
      const answer = this.#answer;
      this.#answer = null;
      if (answer) answer(tokens.slice(3), '');
      else this.faults.push('an answer that nobody has asked for');
      return;
    }
    const result = parseMessage(sip);
    if (!result.ok) {
      this.faults.push(`a frame that cannot be read: ${sip.toString()}`);
      return;
    }
    const [, , source = '', , , , , , id = '', dialogId = ''] = tokens;
    if (result.message.kind === 'response') this.#heardResponse(id, dialogId, result.message);
    else this.#heardRequest(source, id, dialogId, result.message);
  }

  #heardRequest(source: string, id: string, dialogId: string, { method, headers }: SipRequest): void {
    if (source === 'application') {
      this.#ended(dialogId, `the engine's ${method}`);
      return;
    }
    switch (method) {
      case 'ACK':
        return;
      case 'CANCEL':
        if (!this.#open.delete(id)) this.faults.push('a CANCEL for an INVITE that is over');
        for (const early of this.#early(id)) this.#ended(early, 'CANCEL');
        return;
      case 'BYE':
        this.#ended(dialogId, 'BYE');
        break;
      case 'NOTIFY':
        if (this.#live.get(dialogId)?.subscription && headers.get('subscription-state') === 'terminated')
          this.#ended(dialogId, 'the last NOTIFY');
        break;
    }
    this.#open.set(id, { method, dialogId });
  }

  #heardResponse(id: string, dialogId: string, response: SipMessage): void {
    const asked = this.#awaited.get(id);
    if (response.kind !== 'response' || !asked) {
      this.faults.push(`a response to ${id}, which awaits none`);
      return;
    }
    const { status, headers } = response;
    if (status >= 200) this.#awaited.delete(id);
    const tagged = tagOf(headers.get('to') ?? '') !== undefined;
    if (asked.method === 'INVITE' && asked.dialogId === '') {
      if (status >= 300) this.#live.delete(dialogId);
      else if (status >= 200 || (status > 100 && tagged)) {
        const known = this.#known(dialogId, id);
        if (status >= 200) known.owesAck = true;
        const rseq = headers.get('rseq');
        const cseq = parseCSeq(headers.get('cseq') ?? '')?.number;
        if (rseq !== undefined) known.prack = `${rseq} ${cseq} INVITE`;
      }
      return;
    }
    const { known } = asked;
    if (known !== this.#live.get(asked.dialogId)) return;
    if (asked.method === 'INVITE' && status >= 200 && status < 300 && known) known.owesAck = true;
    if (asked.method !== 'BYE' || status < 200 || !known) return;
    if (status === 401 || status === 407) known.challenged = true;
    else this.#live.delete(asked.dialogId);
  }

  /** The INVITE that created each dialog, for CANCEL. */
  readonly #madeBy = new Map<string, string>();

  #known(dialogId: string, transactionId: string): Known {
    const known = this.#live.get(dialogId) ?? {
      challenged: false,
      owesAck: false,
      prack: null,
      subscription: false,
    };
    this.#live.set(dialogId, known);
    this.#madeBy.set(dialogId, transactionId);
    return known;
  }

  #early(transactionId: string): string[] {
    return [...this.#live.keys()].filter((id) => this.#madeBy.get(id) === transactionId);
  }

  #ended(dialogId: string, how: string): void {
    if (!this.#live.delete(dialogId))
      this.faults.push(`${how} in ${dialogId}, which is not known or has ended`);
  }
}
