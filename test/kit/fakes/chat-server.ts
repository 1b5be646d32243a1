/** A chat over plain HTTP on loopback: an agent that is not ours. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** What it answers with; text goes out as it is. */
export interface ChatAnswer {
  readonly status?: number;
  readonly body: unknown;
}

export class ChatServer {
  readonly #server: Server;
  readonly asked: Asked[] = [];

  private constructor(answer: (body: unknown) => ChatAnswer) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
        this.asked.push({ headers: request.headers, body });
        const { status = 200, body: answered } = answer(body);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(typeof answered === 'string' ? answered : JSON.stringify(answered));
      });
    });
  }

  static async start(answer: (body: unknown) => ChatAnswer): Promise<ChatServer> {
    const chat = new ChatServer(answer);
    chat.#server.listen(0, '127.0.0.1');
    await once(chat.#server, 'listening');
    return chat;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/chat`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
