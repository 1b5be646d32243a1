import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ControlToEdge, EdgeToControl } from '#shared/edge-protocol/frames.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';

/** A control plane that records received frames and sends those of the test. */
export class FakeControl {
  readonly #server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  readonly heard: EdgeToControl[] = [];
  authorization: string | undefined;
  /** The connections that were accepted, oldest first; what is said goes to the newest. */
  readonly sockets: WebSocket[] = [];
  #waiting: { wanted: (frame: EdgeToControl) => boolean; resolve: (frame: EdgeToControl) => void }[] = [];

  static async open(): Promise<FakeControl> {
    const control = new FakeControl();
    await once(control.#server, 'listening');
    return control;
  }

  private constructor() {
    this.#server.on('connection', (socket, request) => {
      this.sockets.push(socket);
      this.authorization = request.headers.authorization;
      socket.on('message', (data) => {
        const frame = JSON.parse(data.toString()) as EdgeToControl;
        this.heard.push(frame);
        this.#waiting = this.#waiting.filter((each) => {
          if (!each.wanted(frame)) return true;
          each.resolve(frame);
          return false;
        });
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get #newest(): WebSocket | undefined {
    return this.sockets.at(-1);
  }

  say(frame: ControlToEdge): void {
    this.sayText(JSON.stringify(frame));
  }

  sayText(text: string): void {
    this.#newest?.send(text);
  }

  /** Stops reading and answering on this connection, as if the network were cut. */
  stopReading(): void {
    this.#newest?.pause();
  }

  /** Cuts the connection as a crash would. */
  drop(): void {
    this.#newest?.terminate();
  }

  /** Bodies of the reports received so far, in order. */
  get reports(): ReportBody[] {
    return this.heard.flatMap((frame) => (frame.type === 'report' ? frame.reports.map((r) => r.body) : []));
  }

  /** The next frame of a type that was not returned yet. */
  next<T extends EdgeToControl['type']>(type: T): Promise<Extract<EdgeToControl, { type: T }>> {
    return new Promise((resolve) => {
      this.#waiting.push({
        wanted: (frame) => frame.type === type,
        resolve: (frame) => resolve(frame as Extract<EdgeToControl, { type: T }>),
      });
    });
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
