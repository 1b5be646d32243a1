/** A carrier with a porting API of the generic form, on a local port. */

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CarrierRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface CarrierService {
  readonly url: string;
  readonly requests: CarrierRequest[];
  /** Responses to the next requests: a status alone, a body with 200, `none`: the connection closes. */
  readonly answers: (number | 'none' | { readonly status: number; readonly body: object })[];
  /** The order as GET shows it; its members replace the defaults. */
  order: Record<string, unknown>;
  /** Response to POST /portability: a status, a body with 200, or null where it is not offered. */
  portability: number | { readonly status: number; readonly body: object } | null;
  /** For the next test. */
  reset(): void;
  close(): Promise<void>;
}

export const carrierOrderId = 'ord 1/x';
export const carrierKey = 'carrier-key';
export const webhookSecret = 'carrier-secret';

export async function startCarrier(): Promise<CarrierService> {
  const requests: CarrierRequest[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const [method, path] = [request.method ?? '', request.url ?? ''];
    const isNew = requests.every(
      ({ headers }) => headers['idempotency-key'] !== request.headers['idempotency-key'],
    );
    requests.push({ method, path, headers: request.headers, body: Buffer.concat(parts) });
    const scripted = path === '/porting/portability' ? service.portability : service.answers.shift();
    if (scripted === 'none') return request.socket.destroy();
    if (typeof scripted === 'number') return response.writeHead(scripted).end('{"message":"told to"}');
    if (scripted && 'body' in scripted)
      return response.writeHead(scripted.status).end(JSON.stringify(scripted.body));
    const answer = usual(method, path, isNew);
    response.writeHead(answer === null ? 404 : 200).end(JSON.stringify(answer ?? {}));
  });
  const usual = (method: string, path: string, isNew: boolean): object | null => {
    if (path === '/porting/portability') return null;
    if (path === '/porting/documents') return { id: `file-${requests.length}` };
    if (path.startsWith('/porting/orders?reference='))
      return {
        orders: requests.some((one) => one.path === '/porting/orders') ? [{ id: carrierOrderId }] : [],
      };
    if (path.endsWith('/cancel')) return {};
    if (method === 'POST' || isNew || method === 'GET')
      return { id: carrierOrderId, status: 'pending', ...service.order };
    return null;
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const service: CarrierService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/porting`,
    requests,
    answers: [],
    order: {},
    portability: null,
    reset: () => {
      requests.length = 0;
      service.answers.length = 0;
      service.order = {};
      service.portability = null;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return service;
}

/** The carrier's signature headers of a webhook. @param now ms */
export function carrierSignature(body: string, now: number, secret = webhookSecret): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  return {
    'content-type': 'application/json',
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex'),
  };
}
