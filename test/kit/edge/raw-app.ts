/** An application of the engine without drachtio-srf. */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { encodeFrame, type Frame, FrameReader } from '../../../edge/engine/drachtio-port/frame.ts';
import { SECRET } from './engine.ts';

/** An application without a library: the test reads and writes the protocol's frames itself. */
export class RawApp {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  #wake: (() => void) | null = null;
  #read = 0;
  #id = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
    const reader = new FrameReader(1_000_000, {
      frame: (frame) => void this.frames.push(frame),
      oversize: () => {},
    });
    socket.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      this.#wake?.();
    });
    socket.on('error', () => {});
    socket.on('close', () => this.#wake?.());
  }

  static async connect(port: number): Promise<RawApp> {
    const socket = createConnection({ host: '127.0.0.1', port });
    await once(socket, 'connect');
    return new RawApp(socket);
  }

  /** Connects, authenticates, and routes the given verbs to itself. */
  static async routing(port: number, ...verbs: string[]): Promise<RawApp> {
    const app = await RawApp.connect(port);
    await app.ask(`authenticate|${SECRET}|`);
    for (const verb of verbs) await app.ask(`route|${verb}`);
    return app;
  }

  /** Sends a frame. @returns its id */
  send(line: string, sip: readonly string[] | null = null, body = ''): string {
    const id = `id-${++this.#id}`;
    const message = sip === null ? null : Buffer.from(`${sip.join('\r\n')}\r\n\r\n${body}`);
    this.socket.write(encodeFrame(`${id}|${line}`, message));
    return id;
  }

  /** Sends a frame and reads its answer, which must be the next one. @returns the tokens from the status on */
  async ask(line: string, sip: readonly string[] | null = null, body = ''): Promise<readonly string[]> {
    const id = this.send(line, sip, body);
    const { tokens } = await this.next();
    if (tokens[1] !== 'response' || tokens[2] !== id) throw new Error(`no answer but ${tokens.join('|')}`);
    return tokens.slice(3);
  }

  /** The next unread frame. */
  async next(): Promise<Frame> {
    for (;;) {
      const frame = this.frames[this.#read];
      if (frame) {
        this.#read++;
        return frame;
      }
      if (this.socket.destroyed) throw new Error('the connection is closed');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    this.socket.destroy();
  }
}
