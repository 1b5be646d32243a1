/** A target server for tool tests: records requests, and answers as the test sets. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';

export interface Received {
  readonly method: string;
  /** path and query */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** text as it is, another value as JSON */
  readonly body?: unknown;
  /** Never answers. */
  readonly silent?: boolean;
}

export interface TargetServer {
  readonly port: number;
  readonly url: string;
  readonly received: readonly Received[];
  /** Responses to the next requests, in order; then 200 with `{}`. */
  reply(...replies: Reply[]): void;
  /** Resolves after this many requests. */
  seen(count: number): Promise<void>;
  clear(): void;
  close(): Promise<void>;
}

export async function startTarget(): Promise<TargetServer> {
  let received: Received[] = [];
  let replies: Reply[] = [];
  let watchers: (() => void)[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      received.push({ method, url, headers, body: Buffer.concat(chunks).toString('utf8') });
      const { status = 200, headers: more, body = {}, silent = false } = replies.shift() ?? {};
      for (const watcher of watchers.splice(0)) watcher();
      if (silent) return;
      response.writeHead(status, { 'content-type': 'application/json', ...more });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the target server has no port');
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    get received() {
      return received;
    },
    reply: (...more) => {
      replies.push(...more);
    },
    seen: async (count) => {
      while (received.length < count) await new Promise<void>((resolve) => watchers.push(resolve));
    },
    clear: () => {
      received = [];
      replies = [];
      watchers = [];
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
