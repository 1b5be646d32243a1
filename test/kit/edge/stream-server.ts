/** A `wss://` server on this host with its own certificate, for tests of the audio socket. */
import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type Static, Type } from 'typebox';
import { type WebSocket, WebSocketServer } from 'ws';
import { createSelfSigned, type TestKeyPair } from '../fakes/certificates.ts';
import { ServerSockets } from '../fakes/server-sockets.ts';
import { readAs } from '../http/answer.ts';

interface Message {
  readonly event: string;
  readonly [key: string]: unknown;
}

const Media = Type.Object({
  event: Type.Literal('media'),
  media: Type.Object({ chunk: Type.String(), timestamp: Type.String(), payload: Type.String() }),
});

/** One connection of the edge, as the bot sees it. */
export class BotSocket {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  readonly #messages: Message[] = [];
  #waiting: (() => void) | null = null;
  closeCode: number | null = null;

  constructor(socket: WebSocket, request: IncomingMessage) {
    this.socket = socket;
    this.request = request;
    socket.on('message', (data) => {
      this.#messages.push(JSON.parse(data.toString()));
      this.#waiting?.();
    });
    socket.on('close', (code) => {
      this.closeCode = code;
      this.#waiting?.();
    });
    socket.on('error', () => undefined);
  }

  /** Takes the next message; waits for it. */
  async next(): Promise<Message> {
    for (;;) {
      const message = this.#messages.shift();
      if (message) return message;
      if (this.closeCode !== null) throw new Error(`the socket was closed with ${this.closeCode}`);
      await this.#change();
    }
  }

  /** Takes the next message. @throws Error when it is not audio */
  async media(): Promise<Static<typeof Media>['media']> {
    return readAs(Media, await this.next(), 'the next message').media;
  }

  /** Messages that have arrived and were not taken yet. */
  get arrived(): readonly Message[] {
    return this.#messages;
  }

  async closed(): Promise<number> {
    while (this.closeCode === null) await this.#change();
    return this.closeCode;
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }
}

export class BotServer {
  readonly ca: string;
  readonly url: string;
  readonly #wss: WebSocketServer;
  readonly #sockets: ServerSockets;
  readonly #bots: BotSocket[] = [];
  readonly #waiting: (() => void)[] = [];
  /** Rejects connections while set. */
  refusing = false;
  /** Connection attempts, including rejected ones. */
  attempts = 0;

  private constructor(ca: string, https: Server, wss: WebSocketServer) {
    this.ca = ca;
    this.#sockets = new ServerSockets(https);
    this.#wss = wss;
    this.url = `wss://localhost:${(https.address() as AddressInfo).port}/call?bot=1`;
    https.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.attempts++;
      if (this.refusing) return socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n');
      wss.handleUpgrade(request, socket, head, (bot) => {
        this.#bots.push(new BotSocket(bot, request));
        this.#waiting.shift()?.();
      });
    });
  }

  /**
   * @param choose selects a subprotocol from those offered; default: none
   * @param pair certificate for localhost; default: self-signed
   */
  static async listen(
    choose: (offered: Set<string>) => string | false = () => false,
    options: { autoPong?: boolean } = {},
    pair: TestKeyPair = createSelfSigned(['DNS:localhost', 'IP:127.0.0.1']),
  ): Promise<BotServer> {
    const { cert, key } = pair;
    const https = createServer({ cert, key });
    const wss = new WebSocketServer({ noServer: true, handleProtocols: choose, ...options });
    await new Promise<void>((resolve) => https.listen(0, '127.0.0.1', resolve));
    return new BotServer(cert, https, wss);
  }

  /** Takes the next connection; waits for it. */
  async accept(): Promise<BotSocket> {
    for (;;) {
      const bot = this.#bots.shift();
      if (bot) return bot;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async close(): Promise<void> {
    for (const client of this.#wss.clients) client.terminate();
    await this.#sockets.close();
  }
}
