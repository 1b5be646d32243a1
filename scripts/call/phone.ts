/**
 * A small SIP phone over TLS that places one call at a time. Its media is the SRTP peer of the tests. It shares no code
 * with the edge, so it checks the edge independently.
 */
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { SipReader, type SipText } from './sip-text.ts';

export interface PhoneOptions {
  readonly host: string;
  readonly port: number;
  /** PEM of the authority that the server's certificate must come from */
  readonly ca: string;
  /** own address, for example 127.0.0.2 */
  readonly localAddress?: string;
  readonly tls?: ConnectionOptions;
  /** user part of From */
  readonly from?: string;
}

/** Time limit for an answer, ms (RFC 3261 timer B). */
const answerLimitMs = 32_000;
const sdpType = 'application/sdp';
/** Methods whose requests refresh the target, or create a subscription. */
const withContact: ReadonlySet<string> = new Set(['INVITE', 'UPDATE', 'REFER', 'NOTIFY']);

export class Phone {
  readonly #socket: TLSSocket;
  readonly #options: PhoneOptions;
  readonly #reader = new SipReader();
  readonly #waiting = new Set<{ matches: (message: SipText) => boolean; take: (message: SipText) => void }>();
  /** Everything received, in order. */
  readonly received: SipText[] = [];
  readonly callId = `${randomBytes(8).toString('hex')}@trunkline-call`;
  readonly #fromTag = randomBytes(4).toString('hex');
  #to = '';
  #target = '';
  /** Route lines of requests inside the call. */
  #routes: readonly string[] = [];
  #cseq = 0;
  #inviteVia = '';
  #inviteUri = '';
  #closed = false;

  private constructor(socket: TLSSocket, options: PhoneOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      for (const message of this.#reader.read(chunk)) this.#receive(message);
    });
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      this.#closed = true;
    });
  }

  /** @throws Error of the TLS layer: refused, certificate not trusted, version not supported */
  static connect(options: PhoneOptions): Promise<Phone> {
    return new Promise((resolve, reject) => {
      const socket = connect({
        host: options.host,
        port: options.port,
        ca: options.ca,
        ...(options.localAddress && { localAddress: options.localAddress }),
        ...(isIP(options.host) === 0 && { servername: options.host }),
        ...options.tls,
      });
      socket.once('error', reject);
      socket.once('secureConnect', () => {
        socket.off('error', reject);
        resolve(new Phone(socket, options));
      });
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Sends INVITE and waits for the final response; acknowledges a 200.
   * @param sdp the offer; null for none
   */
  async invite(user: string, sdp: string | null, headers: readonly string[] = []): Promise<SipText> {
    const { host, port } = this.#options;
    this.#inviteUri = `sip:${user}@${host}:${port};transport=tls`;
    this.#to = `<sip:${user}@${host}>`;
    this.#target = this.#inviteUri;
    this.#inviteVia = this.#via();
    const invite = [`CSeq: ${++this.#cseq} INVITE`, `Contact: ${this.#contact()}`, ...headers];
    const final = this.#wait(
      'the answer to INVITE',
      (message) => message.status >= 200 && this.#isMine(message, 'INVITE'),
      answerLimitMs,
    );
    this.#send('INVITE', this.#inviteUri, this.#inviteVia, invite, sdp);
    const response = await final;
    this.#to = response.header('to') ?? this.#to;
    if (response.status >= 300)
      this.#send('ACK', this.#inviteUri, this.#inviteVia, [`CSeq: ${this.#cseq} ACK`], null);
    return response;
  }

  /** Acknowledges a 200. @param sdp the answer, when the offer came in the 200 */
  ack(response: SipText, sdp: string | null = null): void {
    this.#target = /<([^>]+)>/.exec(response.header('contact') ?? '')?.[1] ?? this.#target;
    this.#routes = routesOf(response);
    this.#send('ACK', this.#target, this.#via(), [`CSeq: ${this.#cseq} ACK`, ...this.#routes], sdp);
  }

  /** Sends CANCEL for the pending INVITE. Resolves with the response to the CANCEL. */
  cancel(): Promise<SipText> {
    const done = this.#wait(
      'the answer to CANCEL',
      (message) => message.status >= 200 && this.#isMine(message, 'CANCEL'),
      answerLimitMs,
    );
    this.#send('CANCEL', this.#inviteUri, this.#inviteVia, [`CSeq: ${this.#cseq} CANCEL`], null);
    return done;
  }

  /**
   * A request within the dialog.
   * @param body SDP, unless `contentType` says otherwise
   * @returns its final response
   */
  request(
    method: string,
    body: string | null = null,
    headers: readonly string[] = [],
    contentType = sdpType,
  ): Promise<SipText> {
    const cseq = ++this.#cseq;
    const done = this.#wait(
      `the answer to ${method}`,
      (message) => message.status >= 200 && message.header('cseq') === `${cseq} ${method}`,
      answerLimitMs,
    );
    const contact = withContact.has(method) ? [`Contact: ${this.#contact()}`] : [];
    const all = [`CSeq: ${cseq} ${method}`, ...this.#routes, ...contact, ...headers];
    this.#send(method, this.#target, this.#via(), all, body, contentType);
    return done;
  }

  /** Waits for a request from the other side, for example `BYE`, and answers it 200. */
  async expect(method: string, limitMs = answerLimitMs): Promise<SipText> {
    const request = this.received.find((message) => message.method === method);
    return request ?? this.#wait(method, (message) => message.method === method, limitMs);
  }

  /** Sends raw bytes. */
  write(bytes: string): void {
    this.#socket.write(bytes, 'latin1');
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#socket.once('close', () => resolve());
      this.#socket.destroy();
    });
  }

  #isMine(message: SipText, method: string): boolean {
    return message.header('cseq') === `${this.#cseq} ${method}`;
  }

  #via(): string {
    return `SIP/2.0/TLS ${this.#local()};branch=z9hG4bK${randomBytes(8).toString('hex')};rport`;
  }

  #contact(): string {
    return `<sip:${this.#options.from ?? 'phone'}@${this.#local()};transport=tls>`;
  }

  #local(): string {
    const { localAddress = '127.0.0.1', localPort = 0 } = this.#socket;
    return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
  }

  #send(
    method: string,
    uri: string,
    via: string,
    headers: readonly string[],
    content: string | null,
    contentType = sdpType,
  ): void {
    const body = content ?? '';
    this.write(
      [
        `${method} ${uri} SIP/2.0`,
        `Via: ${via}`,
        'Max-Forwards: 70',
        `From: <sip:${this.#options.from ?? 'phone'}@${this.#local()}>;tag=${this.#fromTag}`,
        `To: ${this.#to}`,
        `Call-ID: ${this.callId}`,
        ...headers,
        ...(content === null ? [] : [`Content-Type: ${contentType}`]),
        `Content-Length: ${Buffer.byteLength(body, 'latin1')}`,
        '',
        body,
      ].join('\r\n'),
    );
  }

  #receive(message: SipText): void {
    this.received.push(message);
    if (message.status === 0 && message.method !== 'ACK') this.#answer(message);
    for (const waiter of this.#waiting) {
      if (!waiter.matches(message)) continue;
      this.#waiting.delete(waiter);
      waiter.take(message);
    }
  }

  /** Answers every request from the other side 200 without a body: BYE, OPTIONS, NOTIFY. */
  #answer(request: SipText): void {
    const copied = request.raw
      .slice(0, request.raw.indexOf('\r\n\r\n'))
      .split('\r\n')
      .filter((line) => /^(via|from|to|call-id|cseq):/i.test(line));
    this.write([`SIP/2.0 200 OK`, ...copied, 'Content-Length: 0', '', ''].join('\r\n'));
  }

  #wait(what: string, matches: (message: SipText) => boolean, limitMs: number): Promise<SipText> {
    return new Promise((resolve, reject) => {
      const onClose = () => finish(() => reject(new Error('the server closed the connection')));
      const timer = setTimeout(
        () => finish(() => reject(new Error(`${what} did not come within ${limitMs / 1000} s`))),
        limitMs,
      );
      const waiter = { matches, take: (message: SipText) => finish(() => resolve(message)) };
      const finish = (act: () => void) => {
        clearTimeout(timer);
        this.#waiting.delete(waiter);
        this.#socket.off('close', onClose);
        act();
      };
      this.#waiting.add(waiter);
      this.#socket.once('close', onClose);
      if (this.#closed) onClose();
    });
  }
}

/** RFC 3261 section 12.1.2: the proxies that want to see the requests of the call, the nearest first. */
function routesOf(response: SipText): string[] {
  const recorded = response.raw.matchAll(/^record-route[ \t]*:[ \t]*(.+)$/gim);
  const uris = [...recorded].flatMap(([, value = '']) => value.split(',')).map((uri) => uri.trim());
  return uris.reverse().map((uri) => `Route: ${uri}`);
}
