/**
 * A minimal drachtio server: frames, echoes and dialog ids as in a real one, and a peer whose messages the test writes
 * itself. It has no transactions and no time-outs.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { embeddedVersion } from '#shared/engine-protocol/headers.ts';
import { ServerSockets } from './server-sockets.ts';

/** A SIP message that the application sent, as in its frame. */
export interface Sent {
  readonly startLine: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly transactionId: string;
  readonly dialogId: string;
  /** Next hop of a new request; empty when it has none. */
  readonly proxy: string;
}

export interface PeerMessage {
  readonly method: string;
  readonly callId?: string;
  readonly uri?: string;
  readonly from?: string;
  readonly to?: string;
  readonly toTag?: string;
  readonly cseq?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** `application`: the server created it itself. */
  readonly source?: 'network' | 'application';
  readonly address?: string;
  /** The transport of its connection; default: tls. */
  readonly protocol?: 'tls' | 'wss';
  readonly transactionId?: string;
  /** Default: by Call-ID and From tag when there is a To tag, else none. */
  readonly dialogId?: string;
}

const fromTag = 'peer-tag';
const ourTag = 'server-tag';

export class DrachtioServer {
  readonly port: number;
  readonly routes: string[] = [];
  readonly sent: Sent[] = [];
  /** Frames to write in the same chunk as the echo of a response. */
  withEcho: (sent: Sent) => string[] = () => [];
  /** Text of a NOK instead of the echo; null: OK. */
  refuse: (sent: Sent) => string | null = () => null;
  readonly #sockets: ServerSockets;
  readonly #version: string;
  #socket: Socket | null = null;
  #input = Buffer.alloc(0);
  #seen = 0;
  #wake: (() => void)[] = [];
  #invites = new Map<string, string>();
  readonly #rounds = new Map<string, () => void>();

  private constructor(server: Server, port: number, version: string) {
    this.#sockets = new ServerSockets(server);
    this.#version = version;
    this.port = port;
    server.on('connection', (socket) => this.#accept(socket));
  }

  /** @param version `v0.9.10`: a drachtio-server; by default it is the embedded engine to the edge */
  static async listen(port = 0, version = `v0.9.10${embeddedVersion}`): Promise<DrachtioServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    return new DrachtioServer(server, address.port, version);
  }

  /** Closes the application's connection. */
  drop(): void {
    this.#socket?.destroy();
  }

  /** The same, by a reset: what the system sends when a program crashes with unread octets. */
  reset(): void {
    this.#socket?.resetAndDestroy();
  }

  async close(): Promise<void> {
    await this.#sockets.close();
  }

  /** Sends a request of the peer. @returns its transaction id */
  peer(message: PeerMessage): string {
    const { frame, transactionId } = this.peerFrame(message);
    this.#socket?.write(frame);
    return transactionId;
  }

  /** A request of the peer as a frame, to write with others. */
  peerFrame(message: PeerMessage): { frame: string; transactionId: string } {
    const callId = message.callId ?? 'call-1@peer';
    const transactionId = message.transactionId ?? randomUUID();
    const inDialog = message.toTag !== undefined;
    const dialogId = message.dialogId ?? (inDialog ? `${callId};from-tag=${fromTag}` : '');
    if (message.method === 'INVITE') this.#invites.set(callId, transactionId);
    const body = message.body ?? '';
    const lines = [
      `${message.method} ${message.uri ?? 'sip:+14155550100@127.0.0.1:5061'} SIP/2.0`,
      `Via: SIP/2.0/TLS 192.0.2.1:5061;branch=z9hG4bK${transactionId}`,
      `From: ${message.from ?? '"Ada" <sip:+14155550123@peer.example>'};tag=${fromTag}`,
      `To: ${message.to ?? '<sip:+14155550100@127.0.0.1>'}${inDialog ? `;tag=${message.toTag}` : ''}`,
      `Call-ID: ${callId}`,
      `CSeq: ${message.cseq ?? 1} ${message.method}`,
      ...(message.method === 'INVITE' && message.headers?.Contact === undefined
        ? ['Contact: <sip:ada@192.0.2.1:5061;transport=tls>']
        : []),
      ...(body === '' || message.headers?.['Content-Type'] ? [] : ['Content-Type: application/sdp']),
      ...Object.entries(message.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ];
    const source = message.source ?? 'network';
    const txn = source === 'application' ? 'unsolicited' : transactionId;
    const address = message.address ?? '192.0.2.1';
    const leader = [
      randomUUID(),
      'sip',
      source,
      '0',
      message.protocol ?? 'tls',
      address,
      '5061',
      '00:00:00.000000',
      txn,
      dialogId,
      '127.0.0.1',
      '5061',
      '',
    ].join('|');
    return { frame: encode(`${leader}\r\n${lines.join('\r\n')}`), transactionId };
  }

  /** Sends CANCEL for the INVITE of a call. */
  cancel(callId = 'call-1@peer'): void {
    this.peer({ method: 'CANCEL', callId, transactionId: this.#invites.get(callId) ?? '' });
  }

  /** Answers a request that the application sent. @param extra `address` is empty for responses that the server itself generated */
  answer(
    sent: Sent,
    status: number,
    reason: string,
    extra: { headers?: Record<string, string>; body?: string; address?: string } = {},
  ): void {
    const body = extra.body ?? '';
    const lines = [
      `SIP/2.0 ${status} ${reason}`,
      `Call-ID: ${sent.dialogId.split(';')[0]}`,
      `CSeq: ${sent.headers.cseq ?? `2 ${sent.startLine.split(' ')[0]}`}`,
      'From: <sip:us@x>;tag=server-tag',
      ...(extra.headers?.To === undefined ? ['To: <sip:them@x>;tag=peer-tag'] : []),
      ...Object.entries(extra.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ];
    const leader = [
      randomUUID(),
      'sip',
      'network',
      '0',
      'tls',
      extra.address ?? '192.0.2.1',
      '5061',
      '00:00:00.000000',
      sent.transactionId,
      sent.dialogId,
    ].join('|');
    this.#socket?.write(encode(`${leader}\r\n${lines.join('\r\n')}`));
  }

  /** The next message that the application sends, in order. */
  async next(): Promise<Sent> {
    for (;;) {
      const sent = this.sent[this.#seen];
      if (sent) {
        this.#seen++;
        return sent;
      }
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** Resolves when the application has handled everything written so far: waits for the response to an OPTIONS. */
  async idle(): Promise<void> {
    // What it wrote a turn after the first answer is on its way before the second one.
    for (let round = 0; round < 2; round++) {
      const callId = randomUUID();
      const answered = new Promise<void>((resolve) => this.#rounds.set(callId, resolve));
      this.peer({ method: 'OPTIONS', callId });
      await answered;
    }
  }

  #accept(socket: Socket): void {
    this.#socket = socket;
    socket.setNoDelay(true);
    this.#input = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      this.#input = Buffer.concat([this.#input, chunk]);
      for (;;) {
        const hash = this.#input.indexOf('#');
        if (hash < 0) return;
        const end = hash + 1 + Number(this.#input.toString('latin1', 0, hash));
        if (this.#input.length < end) return;
        const payload = this.#input.toString('utf8', hash + 1, end);
        this.#input = this.#input.subarray(end);
        this.#frame(socket, payload);
      }
    });
  }

  #frame(socket: Socket, payload: string): void {
    const lineEnd = payload.indexOf('\r\n');
    const [id = '', type, ...tokens] = (lineEnd < 0 ? payload : payload.slice(0, lineEnd)).split('|');
    const reply = (text: string) => socket.write(encode(`${randomUUID()}|response|${id}|${text}`));
    switch (type) {
      case 'authenticate':
        reply(
          tokens[0] === 'cymru'
            ? `OK|tls/127.0.0.1:5061|${this.#version}|tls/127.0.0.1:5061`
            : 'NO|incorrect secret',
        );
        return;
      case 'route':
        this.routes.push(tokens[0] ?? '');
        return void reply('OK');
      case 'sip':
        this.#sip(socket, id, tokens, payload.slice(lineEnd + 2));
        return;
      default:
        return void reply('OK|pong');
    }
  }

  #sip(socket: Socket, id: string, tokens: string[], text: string): void {
    const isResponse = text.startsWith('SIP/2.0');
    const { startLine, headers, body } = parse(text);
    const round = this.#rounds.get(headers['call-id'] ?? '');
    if (round) {
      round();
      return;
    }
    const callId = headers['call-id'] ?? (tokens[1] ?? '').split(';')[0] ?? '';
    const transactionId = tokens[0] || randomUUID();
    const formsDialog =
      isResponse && /INVITE$/.test(headers.cseq ?? '') && !/^SIP\/2.0 [3-6]/.test(startLine);
    const dialogId = tokens[1] || (formsDialog ? `${callId};from-tag=${fromTag}` : ownDialogId(callId, text));
    const sent: Sent = { startLine, headers, body, transactionId, dialogId, proxy: tokens[2] ?? '' };
    const refusal = this.refuse(sent);
    const leader = `${randomUUID()}|response|${id}|`;
    let output: string;
    if (refusal !== null) {
      output = encode(`${leader}NOK|${refusal}`);
    } else {
      const meta = `OK|application|0|tls|192.0.2.1|5061|00:00:00.000000|${transactionId}|${dialogId}||Msg sent:|`;
      const added = isResponse
        ? [...(headers.contact ? [] : ['Contact: <sip:127.0.0.1:5061;transport=tls>'])]
        : [`Call-ID: ${callId}`];
      const [first = '', ...rest] = text.split('\r\n');
      const echoed = [first, ...added, ...rest]
        .join('\r\n')
        .replace(/^(to: [^\r\n]*>)(?=\r)/m, `$1;tag=${ourTag}`);
      output = encode(`${leader}${meta}\r\n${echoed}`);
    }
    socket.write(output + this.withEcho(sent).join(''));
    this.sent.push(sent);
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/** The dialog that an INVITE of the application will create. */
function ownDialogId(callId: string, text: string): string {
  const tag = /^from: [^\r\n]*;tag=([^\s;]+)/im.exec(text)?.[1];
  return text.startsWith('INVITE ') && tag !== undefined ? `${callId};from-tag=${tag}` : '';
}

function encode(payload: string): string {
  return `${Buffer.byteLength(payload)}#${payload}`;
}

function parse(text: string): Pick<Sent, 'startLine' | 'headers' | 'body'> {
  const split = text.indexOf('\r\n\r\n');
  const [startLine = '', ...lines] = text.slice(0, split < 0 ? undefined : split).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { startLine, headers, body: split < 0 ? '' : text.slice(split + 4) };
}
