/** One call at its far end, which answers, modifies, transfers, forgets or ends it like real carriers and PBXs. */
import type { SipText } from '../../scripts/call/sip-text.ts';
import { sipPort } from './edge-machine.ts';
import type { SimNetwork } from './network.ts';
import { offer, respond, tagged, uriOf } from './peer-messages.ts';
import type { Random } from './random.ts';
import type { SimSocket } from './sockets.ts';
import type { SimTime } from './time.ts';

/** The environment of the peers. */
export interface PeerSite {
  readonly time: SimTime;
  readonly network: SimNetwork;
  readonly random: Random;
  /** Logs the run. */
  readonly note: (line: string) => void;
}

interface Names {
  readonly local: string;
  remote: string;
  target: string;
}

/** Whose call it is. */
interface Owner {
  readonly address: string;
  /** No further actions in running calls. */
  readonly quiet: boolean;
  /** A response to the INVITE; the first final one counts. */
  saw(callId: string, status: number): void;
  /** The call is over. */
  forget(callId: string): void;
  /** Sends garbage. */
  babble(): void;
}

/** One call at the far end. */
export class Leg {
  readonly #site: PeerSite;
  readonly #peer: Owner;
  readonly #callId: string;
  readonly #names: Names;
  #socket: SimSocket;
  #cseq = 1;
  #invite: SipText | null = null;
  #branch = '';
  #answered = false;
  #over = false;
  readonly #contact: string;

  constructor(site: PeerSite, peer: Owner, callId: string, socket: SimSocket, names: Names) {
    this.#site = site;
    this.#peer = peer;
    this.#callId = callId;
    this.#socket = socket;
    this.#names = names;
    const kind = site.random.weighted({ good: 8, nowhere: 1, udp: 0.5, strange: 0.5, none: 0.3 });
    this.#contact = {
      good: `Contact: <sip:peer@${peer.address}:${sipPort};transport=tls>\r\n`,
      nowhere: 'Contact: <sip:peer@10.99.99.99:5061;transport=tls>\r\n',
      udp: `Contact: <sip:peer@${peer.address}:5060;transport=udp>\r\n`,
      strange: 'Contact: <pigeon:coo@roof>\r\n',
      none: '',
    }[kind];
  }

  call(): void {
    const { random } = this.#site;
    const lateOffer = random.chance(0.15);
    const headers = random.chance(0.3) ? 'Supported: timer\r\nSession-Expires: 120\r\n' : '';
    this.#branch = `z9hG4bK${this.#callId}`;
    this.#send('INVITE', headers, lateOffer ? '' : offer, this.#branch);
    if (random.chance(0.15)) this.#later(random.between(0, 3000), () => this.#cancel());
    if (random.chance(0.05)) this.#later(random.between(0, 3000), () => this.#cut());
  }

  called(invite: SipText): void {
    const { random } = this.#site;
    this.#invite = invite;
    const what = random.weighted({
      answers: 6,
      refuses: 2,
      silent: 0.7,
      rings: 0.7,
      forks: 0.5,
      closes: 0.5,
      redirects: 0.3,
    });
    if (what === 'silent') return;
    if (random.chance(0.8)) respond(this.#socket, invite, '100 Trying');
    if (what === 'closes') return void this.#later(random.between(0, 2000), () => this.#cut());
    if (random.chance(0.7) || what === 'rings') {
      this.#later(random.between(0, 3000), () => this.#answer('180 Ringing'));
    }
    const after = random.between(0, 12_000);
    if (what === 'refuses') {
      const status = random.pick([
        '486 Busy Here',
        '503 Service Unavailable',
        '404 Not Found',
        '603 Decline',
        '488 Not Acceptable Here',
      ]);
      this.#later(after, () => this.#final(status));
    }
    if (what === 'redirects') this.#later(after, () => this.#final('302 Moved Temporarily'));
    if (what === 'answers' || what === 'forks') {
      this.#later(after, () => this.#final('200 OK', offer));
      if (what === 'forks') {
        this.#later(after + random.between(0, 300), () => this.#answer('200 OK', offer, 'another-branch'));
      }
    }
  }

  leave(): void {
    if (this.#over) return;
    if (this.#answered && this.#site.random.chance(0.7)) this.#bye();
    else this.#end();
  }

  receive(socket: SimSocket, message: SipText): void {
    this.#socket = socket;
    if (message.status > 0) this.#response(message);
    else this.#request(message);
  }

  #response(message: SipText): void {
    const [number, method] = (message.header('cseq') ?? '').split(/ +/);
    if (method !== 'INVITE' || message.status < 180) return;
    const to = message.header('to');
    if (to && message.status < 300) this.#names.remote = to;
    const contact = message.header('contact');
    if (contact && message.status < 300) this.#names.target = uriOf(contact);
    if (message.status < 200) return;
    const isFirst = number === '1';
    if (isFirst) this.#peer.saw(this.#callId, message.status);
    if (message.status >= 300) {
      this.#sendAs('ACK', Number(number), '', '', this.#branch, to);
      if (isFirst) this.#end();
      return;
    }
    const needsAnswer = message.body !== '';
    const acknowledge = () => this.#sendAs('ACK', Number(number), '', needsAnswer ? offer : '');
    if (this.#answered) {
      acknowledge();
      return;
    }
    this.#answered = true;
    const { random } = this.#site;
    switch (random.weighted({ at_once: 8, late: 1, never: 1, closes: 0.5 })) {
      case 'at_once':
        acknowledge();
        break;
      case 'late':
        this.#later(random.between(500, 45_000), acknowledge);
        break;
      case 'closes':
        this.#cut();
        return;
      case 'never':
        if (random.chance(0.5)) return;
    }
    this.#live();
  }

  /** Events of an established call. */
  #live(): void {
    const { random } = this.#site;
    const what = random.weighted({
      talks: 5,
      modifies: 2,
      refers: 1,
      vanishes: 0.5,
      crosses: 1,
      ends_at_once: 1,
      garbage: 0.5,
      updates: 0.5,
    });
    const after = random.between(0, 30_000);
    if (what === 'modifies') this.#later(after, () => this.#reinvite());
    if (what === 'updates') this.#later(after, () => this.#send('UPDATE', this.#contact, offer));
    if (what === 'refers') {
      this.#later(after, () =>
        this.#send('REFER', `Refer-To: <sip:+14155550199@10.1.0.2:${sipPort}>\r\n${this.#contact}`, ''),
      );
    }
    if (what === 'vanishes') return void this.#later(after, () => this.#end());
    if (what === 'garbage') this.#later(after, () => this.#peer.babble());
    if (what === 'crosses')
      this.#later(after, () => {
        this.#reinvite();
        this.#bye();
        if (random.chance(0.3)) this.#bye();
      });
    this.#later(what === 'ends_at_once' ? 0 : random.between(10, 90_000), () => this.#bye());
  }

  #request(message: SipText): void {
    const { random } = this.#site;
    switch (message.method) {
      case 'ACK':
        if (!this.#answered && this.#invite) {
          this.#answered = true;
          this.#live();
        }
        return;
      case 'CANCEL':
        respond(this.#socket, message, '200 OK');
        if (!this.#answered) {
          // The answer may have crossed the request.
          if (random.chance(0.2)) this.#final('200 OK', offer);
          else this.#final('487 Request Terminated');
        }
        return;
      case 'BYE':
        if (random.chance(0.1)) return;
        respond(this.#socket, message, random.chance(0.1) ? '481 No Such Call' : '200 OK');
        this.#end();
        return;
      case 'INVITE': {
        const how = random.weighted({ accepts: 6, glare: 1, refuses: 1, silent: 1 });
        if (this.#over) respond(this.#socket, message, '481 No Such Call');
        else if (how === 'glare') respond(this.#socket, message, '491 Request Pending');
        else if (how === 'refuses') respond(this.#socket, message, '488 Not Acceptable Here');
        else if (how === 'accepts') respond(this.#socket, message, '200 OK', this.#contact, offer);
        return;
      }
      default:
        if (this.#over) {
          respond(this.#socket, message, '481 No Such Call');
          return;
        }
        if (random.chance(0.1)) return;
        respond(
          this.#socket,
          message,
          message.method === 'REFER' ? '202 Accepted' : '200 OK',
          this.#contact,
          message.body === '' ? '' : offer,
        );
        if (message.method === 'REFER') this.#notify();
    }
  }

  #notify(): void {
    const { random } = this.#site;
    if (random.chance(0.3)) return;
    const line = random.pick(['SIP/2.0 200 OK', 'SIP/2.0 486 Busy Here', 'SIP/2.0 100 Trying']);
    const headers =
      'Event: refer\r\nSubscription-State: terminated;reason=noresource\r\nContent-Type: message/sipfrag\r\n';
    this.#later(random.between(0, 5000), () => this.#send('NOTIFY', headers, line, undefined, ''));
  }

  #reinvite(): void {
    const hold = this.#site.random.chance(0.3);
    this.#send('INVITE', '', hold ? offer.replace('sendrecv', 'sendonly') : offer);
  }

  #cut(): void {
    this.#site.note(`${this.#callId} cuts its connection`);
    this.#socket.destroy();
  }

  #bye(): void {
    this.#send('BYE', '', '');
    this.#end();
  }

  #cancel(): void {
    if (this.#answered || this.#over) return;
    this.#sendAs('CANCEL', 1, '', '', this.#branch);
  }

  #final(status: string, body = ''): void {
    if (this.#answered) return;
    this.#peer.saw(this.#callId, Number(status.slice(0, 3)));
    this.#answer(status, body);
    if (!status.startsWith('2')) this.#end();
  }

  #answer(status: string, body = '', tag?: string): void {
    const invite = this.#invite;
    if (!invite || this.#over) return;
    this.#site.note(`${this.#callId} <- ${status}`);
    const local = tag ? tagged(invite.header('to') ?? '', tag) : this.#names.local;
    respond(this.#socket, invite, status, this.#contact, body, local);
  }

  #end(): void {
    this.#over = true;
    this.#peer.forget(this.#callId);
  }

  #send(method: string, headers: string, body: string, branch?: string, type?: string): void {
    if (this.#over && method !== 'BYE') return;
    this.#sendAs(method, this.#cseq++, headers, body, branch, undefined, type);
  }

  #sendAs(
    method: string,
    cseq: number,
    headers: string,
    body: string,
    branch?: string,
    to?: string,
    type = 'Content-Type: application/sdp\r\n',
  ): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    this.#site.note(`${this.#callId} <- ${method} (${cseq})`);
    const via = branch ?? `z9hG4bK${this.#callId}-${cseq}-${method}`;
    this.#socket.write(
      Buffer.from(
        `${method} ${this.#names.target} SIP/2.0\r\nVia: SIP/2.0/TLS ${this.#peer.address}:${sipPort};branch=${via};rport\r\n` +
          `Max-Forwards: 70\r\nFrom: ${this.#names.local}\r\nTo: ${to ?? this.#names.remote}\r\nCall-ID: ${this.#callId}\r\n` +
          `CSeq: ${cseq} ${method}\r\n${method === 'INVITE' ? this.#contact : ''}` +
          `${headers}${body === '' ? '' : type}Content-Length: ${Buffer.byteLength(body, 'latin1')}\r\n\r\n${body}`,
        'latin1',
      ),
    );
  }

  #later(ms: number, what: () => void): void {
    this.#site.time.after(ms, () => {
      if (!this.#peer.quiet) what();
    });
  }
}
