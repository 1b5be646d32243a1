/**
 * A PBX that the edge registers at, which also misbehaves: it rejects, sends Retry-After, rewrites Contact, forgets
 * bindings, is silent, and disappears. Its messages are built here, without code of the engine.
 */
import { createHash } from 'node:crypto';
import type { SipText } from '../../scripts/call/sip-text.ts';
import { sipPort } from './edge-machine.ts';
import type { PeerSite } from './leg.ts';
import { respond, uriOf } from './peer-messages.ts';
import { Peer } from './peers.ts';
import type { SimSocket } from './sockets.ts';

export const registrarAddress = '10.1.0.4';
export const registeredUser = 'trunk';
const realm = 'pbx';

const moods = [
  'takes',
  'takes',
  'refuses',
  'busy',
  'fails',
  'silent',
  'brief',
  'rewrites',
  'adds',
  'hides',
  'zero',
  'accepts',
] as const;
type Mood = (typeof moods)[number];

interface Binding {
  /** In world time, ms. */
  readonly expiresAt: number;
  /** The connection for calls. */
  readonly socket: SimSocket;
  readonly contact: string;
}

export class Registrar {
  readonly peer: Peer;
  /** Violations in the edge's requests. */
  readonly problems: string[] = [];
  readonly #site: PeerSite;
  #mood: Mood = 'takes';
  /** Null: not yet set in the PBX. */
  #password: string | null = null;
  #binding: Binding | null = null;
  readonly #nonces = new Set<string>();
  /** CSeq of the last REGISTER, by Call-ID and connection. */
  readonly #cseqs = new Map<SimSocket, Map<string, number>>();
  #tellsPort = true;
  #isCalm = false;

  constructor(site: PeerSite) {
    this.#site = site;
    this.peer = new Peer(site, registrarAddress, (socket, message) => this.#registers(socket, message));
  }

  /** Creates the account. */
  learn(password: string): void {
    this.#password = password;
  }

  /** Changes its behavior. */
  turn(): void {
    const { random, note } = this.#site;
    this.#mood = random.pick(moods);
    this.#tellsPort = random.chance(0.7);
    if (random.chance(0.3)) this.#binding = null;
    note(`the registrar: ${this.#mood}`);
  }

  /** Gone for this time, with all its state. */
  disappear(ms: number): void {
    const { time, network, note } = this.#site;
    note('the registrar is gone');
    network.unlisten(registrarAddress, sipPort);
    this.peer.drop('reset');
    this.#binding = null;
    time.after(ms, () => this.#return());
  }

  /** Behaves correctly from now on. */
  calm(): void {
    this.#isCalm = true;
    this.#mood = 'takes';
    this.#return();
  }

  /** The current binding for calls. */
  get binding(): Binding | null {
    const binding = this.#binding;
    return binding && binding.expiresAt > this.#site.time.now && !binding.socket.destroyed ? binding : null;
  }

  /** Whether it still has a binding of ours. */
  get remembers(): boolean {
    return this.#binding !== null && this.#binding.expiresAt > this.#site.time.now;
  }

  /** Calls the edge over the connection that registered, as PBXs do. */
  call(): void {
    const { binding } = this;
    if (binding) this.peer.invite(registeredUser, { socket: binding.socket, target: binding.contact });
  }

  #return(): void {
    const { network } = this.#site;
    network.unlisten(registrarAddress, sipPort);
    this.peer.listen();
  }

  #registers(socket: SimSocket, message: SipText): boolean {
    if (message.method === 'OPTIONS') {
      if (!this.#site.random.chance(0.05)) this.#answer(socket, message, '200 OK');
      return true;
    }
    if (message.method !== 'REGISTER') return false;
    this.#site.note(`REGISTER (${message.header('cseq')}) expires ${message.header('expires')}`);
    this.#inOrder(socket, message);
    const answer = this.#judged(socket, message);
    if (answer) this.#answer(socket, message, ...answer);
    return true;
  }

  /** Status and headers of the response; null: none. */
  #judged(socket: SimSocket, message: SipText): [status: string, headers?: string] | null {
    const asked = Number(message.header('expires'));
    const contact = uriOf(message.header('contact') ?? '');
    if (this.#mood === 'silent') return null;
    if (this.#mood === 'busy') return ['503 Service Unavailable', 'Retry-After: 7\r\n'];
    if (this.#mood === 'fails') return ['500 Server Internal Error'];
    if (this.#mood === 'refuses') return ['403 Forbidden'];
    const problem = this.#unproved(message);
    if (problem !== null) return problem;
    if (asked === 0) {
      this.#binding = null;
      return ['200 OK'];
    }
    if (this.#mood === 'brief' && asked < 600) return ['423 Interval Too Brief', 'Min-Expires: 600\r\n'];
    if (this.#mood === 'accepts') return ['202 Accepted'];
    if (this.#mood === 'zero') return ['200 OK', `Contact: <${contact}>;expires=0\r\n`];
    // Short, so that a forgotten binding is noticed within the world.
    const granted = this.#site.random.pick([30, 60, 120]);
    this.#binding = { contact, socket, expiresAt: this.#site.time.now + granted * 1000 };
    const own = `<${contact}>;expires=${granted}`;
    const seen = `<sip:${registeredUser}@${socket.remoteAddress}:${socket.remotePort};transport=tls>;expires=${granted}`;
    const contacts = new Map<Mood, string>([
      ['rewrites', seen],
      [
        'adds',
        `<sip:${registeredUser}@10.9.9.9:5061>;expires=9, "Somebody, else" <sip:other@10.9.9.8>;expires=7, ${own}`,
      ],
      ['hides', '<sip:other@10.9.9.8>;expires=7'],
    ]);
    return ['200 OK', `Contact: ${contacts.get(this.#mood) ?? own}\r\nExpires: ${granted}\r\n`];
  }

  /** The response to missing or wrong credentials; null: they are correct. */
  #unproved(message: SipText): [string, string] | null {
    const given = message.header('authorization');
    const nonce = `n${this.#nonces.size}`;
    const challenge = (more = ''): [string, string] => {
      this.#nonces.add(nonce);
      return [
        '401 Unauthorized',
        `WWW-Authenticate: Digest realm="${realm}", nonce="${nonce}", qop="auth", algorithm=MD5${more}\r\n`,
      ];
    };
    if (given === undefined) return challenge();
    const field = (name: string) =>
      new RegExp(`[ ,]${name}="?([^",]*)"?`, 'i').exec(given.replace(/^Digest/i, ','))?.[1] ?? '';
    if (!this.#nonces.has(field('nonce')) || (!this.#isCalm && this.#site.random.chance(0.1)))
      return challenge(', stale=true');
    const hash = (...parts: string[]) => createHash('md5').update(parts.join(':')).digest('hex');
    const response = hash(
      hash(field('username'), realm, this.#password ?? 'nobody knows it'),
      field('nonce'),
      field('nc'),
      field('cnonce'),
      field('qop'),
      hash('REGISTER', field('uri')),
    );
    return field('response') === response ? null : ['403 Forbidden', ''];
  }

  /** RFC 3261 section 10.2: the CSeq grows by one with each REGISTER of a Call-ID; a connection keeps their order. */
  #inOrder(socket: SimSocket, message: SipText): void {
    const callId = message.header('call-id') ?? '';
    const cseq = Number.parseInt(message.header('cseq') ?? '', 10);
    const known = this.#cseqs.get(socket) ?? new Map<string, number>();
    this.#cseqs.set(socket, known);
    const before = known.get(callId) ?? 0;
    if (cseq <= before) this.problems.push(`REGISTER ${cseq} of ${callId} follows on ${before}`);
    known.set(callId, cseq);
  }

  #answer(socket: SimSocket, message: SipText, status: string, headers = ''): void {
    this.#site.note(`the registrar: ${status} (${message.header('cseq')})`);
    const request = this.#tellsPort
      ? { ...message, raw: message.raw.replace(/;rport(?!=)/i, `;rport=${socket.remotePort}`) }
      : { ...message, raw: message.raw.replace(/;rport(?!=)/i, '') };
    respond(socket, request, status, headers);
  }
}
