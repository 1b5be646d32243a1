/** A SIP peer of a test: it reads and writes messages itself, without a stack. */
import { connect, type TLSSocket } from 'node:tls';
import { StreamFramer } from '../../../edge/engine/message/framing.ts';
import type { SipMessage } from '../../../edge/engine/message/message.ts';
import { parseMessage } from '../../../edge/engine/message/parse.ts';

/** Messages that a peer has received, to be read one after another. */
export class Inbox {
  readonly received: SipMessage[] = [];
  #wake: (() => void) | null = null;
  #read = 0;
  #closed = false;

  protected take(bytes: Buffer): void {
    const result = parseMessage(bytes);
    if (result.ok) this.received.push(result.message);
    this.#wake?.();
  }

  /** No more messages will arrive. */
  protected end(): void {
    this.#closed = true;
    this.#wake?.();
  }

  /** The next unread message; 100 Trying is skipped. */
  async next(): Promise<SipMessage> {
    for (;;) {
      const message = this.received[this.#read];
      if (message) {
        this.#read++;
        if (message.kind === 'response' && message.status === 100) continue;
        return message;
      }
      if (this.#closed) throw new Error('the connection is closed');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The next message, which must be a response. @returns its status */
  async status(): Promise<number> {
    const message = await this.next();
    if (message.kind !== 'response') throw new Error(`a ${message.method} came instead of a response`);
    return message.status;
  }
}

/** A minimal SIP peer: a TLS connection on which the test reads and writes messages itself. */
export class TestPeer extends Inbox {
  readonly socket: TLSSocket;
  readonly #framer = new StreamFramer();

  private constructor(socket: TLSSocket) {
    super();
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      for (const event of this.#framer.push(chunk)) if (event.kind === 'message') this.take(event.bytes);
    });
    socket.on('close', () => this.end());
    socket.on('error', () => {});
  }

  /** @param localAddress the peer's address */
  static connect(port: number, ca: string, localAddress = '127.0.0.1'): Promise<TestPeer> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, ca, localAddress };
      const socket = connect(options, () => resolve(new TestPeer(socket)));
      socket.once('error', reject);
    });
  }

  /** Wraps a connection accepted by a TLS server of the test. */
  static accepted(socket: TLSSocket): TestPeer {
    return new TestPeer(socket);
  }

  get port(): number {
    return this.socket.localPort ?? 0;
  }

  /** Sends lines as one message; a Content-Length is added. */
  send(lines: readonly string[], body = ''): void {
    this.socket.write(
      `${[...lines, `Content-Length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`,
    );
  }

  close(): void {
    this.socket.destroy();
  }
}
