/**
 * Calls with a TLS connection each, as phones and proxies make them that close after a call: INVITE, 200, ACK, BYE, 200.
 * SIPp does not resume TLS sessions; these callers do, and check each time that the server has resumed.
 */
import { once } from 'node:events';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';

export interface CallsOrder {
  readonly port: number;
  /** The authority's certificate, PEM. */
  readonly ca: string;
  /** Whom the calls are for. */
  readonly number: string;
  readonly version: 'TLSv1.2' | 'TLSv1.3';
  /** Whether the connections resume one session. Default: full handshakes. */
  readonly resume: boolean;
  /** Calls at a time: each begins when another has ended, so that the server is never without work. */
  readonly atOnce: number;
  /** Begins no more calls after so many, or after so many seconds. */
  readonly calls: number;
  readonly seconds: number;
  /** Local addresses, used in turn: a server may admit only so many connections a second from one. */
  readonly from: readonly string[];
  /** A call that takes longer has failed, ms. Default: 10 s. */
  readonly longestMs?: number;
}

export interface CallsRun {
  readonly succeeded: number;
  readonly failed: number;
  /** Why the first of them failed. */
  readonly firstFailure: string | null;
  readonly seconds: number;
  /** From INVITE to 200, ms, in ascending order. */
  readonly setUpMs: readonly number[];
}

/**
 * What peers offer that are not the newest: with the hybrid groups of the newest ones both sides of a handshake have more
 * to do, and only some servers know them.
 */
const groups = 'X25519:P-256';
const defaultLongestMs = 10_000;
const offer = [
  'v=0',
  'o=load 20300101 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 6000 RTP/SAVP 0 101',
  'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkw',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:101 telephone-event/8000',
  'a=fmtp:101 0-15',
  'a=ptime:20',
  'a=sendrecv',
  '',
].join('\r\n');

/** @throws Error when no session can be had to resume */
export async function callOverTls(order: CallsOrder): Promise<CallsRun> {
  const { version } = order;
  const context = createSecureContext({
    ca: order.ca,
    ecdhCurve: groups,
    minVersion: version,
    maxVersion: version,
  });
  const session = order.resume ? await sessionOf(order, context) : null;
  const setUpMs: number[] = [];
  let [begun, succeeded, failed] = [0, 0, 0];
  let firstFailure: string | null = null;
  const began = performance.now();
  const line = async (): Promise<void> => {
    while (begun < order.calls && performance.now() - began < order.seconds * 1000) {
      const index = begun++;
      try {
        setUpMs.push(await new OneCall(order, context, session, index).ended);
        succeeded++;
      } catch (error) {
        failed++;
        firstFailure ??= error instanceof Error ? error.message : String(error);
      }
    }
  };
  await Promise.all(Array.from({ length: order.atOnce }, line));
  const seconds = (performance.now() - began) / 1000;
  return {
    succeeded,
    failed,
    firstFailure,
    seconds,
    setUpMs: setUpMs.sort((one, other) => one - other),
  };
}

/** One session serves all: a server without a store of sessions does the same for each ticket. */
async function sessionOf({ port, version }: CallsOrder, secureContext: SecureContext): Promise<Buffer> {
  const socket = connect({ host: '127.0.0.1', port, secureContext });
  try {
    const given = once(socket, 'session').then(([session]) => session as Buffer);
    const over = once(socket, 'close').then(() => {
      throw new Error(`the server gave no ${version} session`);
    });
    return await Promise.race([given, over]);
  } finally {
    socket.on('error', () => {}).destroy();
  }
}

class OneCall {
  /** Time from INVITE to 200, ms. */
  readonly ended: Promise<number>;
  readonly #order: CallsOrder;
  readonly #index: number;
  readonly #socket: TLSSocket;
  readonly #result = Promise.withResolvers<number>();
  readonly #limit: NodeJS.Timeout;
  #invitedAt = 0;
  #setUpMs: number | null = null;
  #heard = '';

  constructor(order: CallsOrder, secureContext: SecureContext, session: Buffer | null, index: number) {
    this.#order = order;
    this.#index = index;
    this.ended = this.#result.promise;
    const localAddress = order.from[index % order.from.length] ?? '127.0.0.1';
    const peer = { host: '127.0.0.1', port: order.port, localAddress };
    const socket = connect({ ...peer, secureContext, ...(session && { session }) }, () => this.#connected());
    this.#socket = socket;
    const longestMs = order.longestMs ?? defaultLongestMs;
    this.#limit = setTimeout(() => this.#fail(`call ${index} took more than ${longestMs} ms`), longestMs);
    socket.setNoDelay(true);
    socket.on('data', (octets: Buffer) => this.#read(octets.toString('latin1')));
    socket.on('error', (error) => this.#fail(error.message));
    socket.on('close', () => this.#fail(`call ${index}: the server closed the connection`));
  }

  #connected(): void {
    if (this.#order.resume && !this.#socket.isSessionReused()) {
      this.#fail(`call ${this.#index}: the server did not resume the session`);
      return;
    }
    this.#invitedAt = performance.now();
    const { port, number } = this.#order;
    const target = `sip:${number}@127.0.0.1:${port};transport=tls`;
    this.#send('INVITE', 1, target, '', offer);
  }

  /** A response without a body or with all of it. */
  #read(text: string): void {
    this.#heard += text;
    for (;;) {
      const headEnds = this.#heard.indexOf('\r\n\r\n');
      if (headEnds === -1) return;
      const head = this.#heard.slice(0, headEnds);
      const size = headEnds + 4 + Number(/^(?:Content-Length|l)\s*:\s*(\d+)/im.exec(head)?.[1] ?? 0);
      if (this.#heard.length < size) return;
      this.#heard = this.#heard.slice(size);
      this.#take(head);
    }
  }

  #take(head: string): void {
    const status = Number(/^SIP\/2\.0 (\d{3}) /.exec(head)?.[1]);
    if (status < 200) return;
    if (status !== 200) {
      this.#fail(`call ${this.#index} got ${head.slice(0, head.indexOf('\r\n'))}`);
      return;
    }
    if (this.#setUpMs !== null) {
      this.#end();
      this.#result.resolve(this.#setUpMs);
      return;
    }
    this.#setUpMs = performance.now() - this.#invitedAt;
    const target = /^(?:Contact|m)\s*:[^<\r\n]*<([^>]+)>/im.exec(head)?.[1];
    const tag = /^(?:To|t)\s*:.*?;\s*tag=([^;\s]+)/im.exec(head)?.[1];
    if (target === undefined || tag === undefined) {
      this.#fail(`a 200 without Contact or tag: ${head}`);
      return;
    }
    this.#send('ACK', 1, target, `;tag=${tag}`);
    this.#send('BYE', 2, target, `;tag=${tag}`);
  }

  #send(method: string, cseq: number, target: string, toTag: string, body = ''): void {
    const { number, port } = this.#order;
    const { localAddress, localPort } = this.#socket;
    const name = `${process.pid}-${this.#index}`;
    const own = `${localAddress}:${localPort}`;
    this.#socket.write(
      `${method} ${target} SIP/2.0\r\n` +
        `Via: SIP/2.0/TLS ${own};branch=z9hG4bK-${name}-${cseq}${method}\r\n` +
        `From: "Load" <sip:+14155550199@${own}>;tag=load${name}\r\n` +
        `To: <sip:${number}@127.0.0.1:${port};transport=tls>${toTag}\r\n` +
        `Call-ID: ${name}@127.0.0.1\r\n` +
        `CSeq: ${cseq} ${method}\r\n` +
        `Contact: <sip:load@${own};transport=tls>\r\n` +
        'Max-Forwards: 70\r\n' +
        (body === '' ? '' : 'Content-Type: application/sdp\r\n') +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    );
  }

  #end(): void {
    clearTimeout(this.#limit);
    this.#socket.removeAllListeners('close');
    this.#socket.end();
  }

  #fail(reason: string): void {
    clearTimeout(this.#limit);
    this.#socket.destroy();
    this.#result.reject(new Error(reason));
  }
}
