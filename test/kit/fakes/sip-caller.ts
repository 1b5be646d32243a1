/** A SIP caller over TLS that sends only the messages of the test. */
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

/** A received message: start line, headers by name in lower case (repeated lines joined by commas), body. */
export interface Heard {
  readonly startLine: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export class SipCaller {
  readonly #socket: TLSSocket;
  readonly #heard: Heard[] = [];
  #input = '';
  #wake: (() => void) | null = null;
  #closed = false;

  /** Uses an existing connection. */
  constructor(socket: TLSSocket) {
    this.#socket = socket;
    // As SIP stacks do: otherwise a request right after an ACK waits for the peer's delayed acknowledgement, 40 ms.
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#read(chunk.toString('latin1')));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#closed = true;
      this.#wake?.();
    });
  }

  /** @param from address to call from */
  static async connect(port: number, ca: string, from = '127.0.0.1'): Promise<SipCaller> {
    const options = { host: '127.0.0.1', port, ca, localAddress: from };
    const socket = connect(options);
    await once(socket, 'secureConnect');
    return new SipCaller(socket);
  }

  /** Sends messages in one TLS record. */
  send(...messages: string[]): void {
    this.#socket.write(messages.join(''));
  }

  /** The next message; null when the connection was closed. */
  async next(): Promise<Heard | null> {
    for (;;) {
      const heard = this.#heard.shift();
      if (heard) return heard;
      if (this.#closed) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /**
   * The next message.
   * @param what completes the sentence "timed out waiting for ..."
   * @throws Error when it starts differently, the connection was closed, or nothing arrived in time
   */
  async awaited(what: string, begin: string, limitMs = 60_000): Promise<Heard> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`timed out waiting for ${what} (${limitMs} ms)`)), limitMs);
    });
    try {
      const heard = await Promise.race([this.next(), late]);
      if (heard?.startLine.startsWith(begin)) return heard;
      throw new Error(`waited for ${what}, got ${heard?.startLine ?? 'the end of the connection'}`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The next message other than a provisional response. */
  async final(): Promise<Heard | null> {
    for (;;) {
      const heard = await this.next();
      if (!heard || !/^SIP\/2\.0 1/.test(heard.startLine)) return heard;
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#input += text;
    for (;;) {
      const end = this.#input.indexOf('\r\n\r\n');
      if (end < 0) return;
      const [startLine = '', ...lines] = this.#input.slice(0, end).split('\r\n');
      const headers: Record<string, string> = {};
      for (const line of lines) {
        const colon = line.indexOf(':');
        const name = line.slice(0, colon).toLowerCase();
        const value = line.slice(colon + 1).trim();
        headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
      }
      const length = Number(headers['content-length'] ?? 0);
      if (this.#input.length < end + 4 + length) return;
      this.#heard.push({ startLine, headers, body: this.#input.slice(end + 4, end + 4 + length) });
      this.#input = this.#input.slice(end + 4 + length);
      this.#wake?.();
    }
  }
}

export interface RequestParts {
  readonly callId: string;
  readonly cseq?: number;
  readonly uri?: string;
  readonly toTag?: string | undefined;
  readonly branch?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** A request of the caller as text. */
export function sipRequest(method: string, parts: RequestParts): string {
  const { callId, cseq = 1, uri = 'sip:+14155550100@127.0.0.1', toTag, headers = [], body = '' } = parts;
  return [
    `${method} ${uri} SIP/2.0`,
    `Via: SIP/2.0/TLS 127.0.0.1:5061;branch=z9hG4bK-${parts.branch ?? `${callId}-${cseq}-${method}`}`,
    'From: "Ada" <sip:+14155550123@127.0.0.1>;tag=ada',
    `To: <sip:+14155550100@127.0.0.1>${toTag === undefined ? '' : `;tag=${toTag}`}`,
    `Call-ID: ${callId}`,
    `CSeq: ${cseq} ${method}`,
    'Max-Forwards: 70',
    'Contact: <sip:ada@127.0.0.1:5061;transport=tls>',
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    ...headers,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

/** The tag in the To header of an answer. */
export function toTagOf(answer: Heard | null): string | undefined {
  return /;tag=([^;]+)/.exec(answer?.headers.to ?? '')?.[1];
}
