/**
 * Requests over persistent HTTP/1.1 connections, each sent as soon as the previous response has arrived. Uses bare
 * sockets, because a client that costs more than the server would measure itself.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  /** From the first byte sent to the last one received. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
}

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly requests: number;
  /** The request of each number from 0 on, whole. */
  readonly request: (index: number) => Buffer;
  /** Gets each response body, after its time was measured. */
  readonly answered?: (body: Buffer, index: number, ms: number) => void;
}

/** A request as it goes over the wire. @param path with its query */
export function httpRequest(
  method: 'GET' | 'POST',
  path: string,
  { key, body }: { readonly key?: string; readonly body?: object } = {},
): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [`${method} ${path} HTTP/1.1`, 'host: bench'];
  if (key !== undefined) lines.push(`authorization: ${key}`);
  if (body !== undefined)
    lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(text)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`);
}

/** @throws Error for every status except 200 */
export async function load({ url, connections, requests, request, answered }: Load): Promise<LoadResult> {
  const clients = await Promise.all(Array.from({ length: connections }, () => Connection.open(url)));
  const times = new Float64Array(requests);
  let next = 0;
  const work = async (client: Connection): Promise<void> => {
    while (next < requests) {
      const index = next++;
      const sentAt = performance.now();
      const body = await client.exchange(request(index));
      const ms = performance.now() - sentAt;
      times[index] = ms;
      answered?.(body, index, ms);
    }
  };
  const begun = performance.now();
  try {
    await Promise.all(clients.map(work));
  } finally {
    for (const client of clients) client.close();
  }
  const perSecond = requests / ((performance.now() - begun) / 1000);
  times.sort();
  const [p50Ms, p99Ms, worstMs] = [percentile(times, 50), percentile(times, 99), times.at(-1) ?? 0];
  return { requests, perSecond, p50Ms, p99Ms, worstMs };
}

/** The nearest rank. @param sorted ascending */
export function percentile(sorted: Float64Array | readonly number[], percent: number): number {
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? 0;
}

/** One connection, one exchange at a time. */
class Connection {
  readonly #socket: Socket;
  #waiting: PromiseWithResolvers<Buffer> | undefined;
  #received: Buffer = Buffer.alloc(0);
  #needed = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay();
    socket.on('data', (part) => this.#receive(part));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('The server closed a connection.')));
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** The body of the answer. */
  exchange(request: Buffer): Promise<Buffer> {
    const waiting = Promise.withResolvers<Buffer>();
    this.#waiting = waiting;
    this.#received = Buffer.alloc(0);
    this.#needed = 0;
    this.#socket.write(request);
    return waiting.promise;
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #receive(part: Buffer): void {
    this.#received = this.#received.length === 0 ? part : Buffer.concat([this.#received, part]);
    if (this.#received.length < this.#needed) return;
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#received.toString('latin1', 0, end);
    const length = /^content-length: *([0-9]+)/im.exec(head)?.[1];
    if (length === undefined) {
      this.#waiting?.reject(new Error(`An answer without a length: ${head}`));
      return;
    }
    this.#needed = end + 4 + Number(length);
    if (this.#received.length < this.#needed) return;
    const body = this.#received.subarray(end + 4, this.#needed);
    if (head.startsWith('HTTP/1.1 200 ')) this.#waiting?.resolve(body);
    else this.#waiting?.reject(new Error(`${head.slice(0, head.indexOf('\r'))}: ${body}`));
  }
}
