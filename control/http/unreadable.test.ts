import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';

describe('input that is not an HTTP request', () => {
  let system: TestControl;
  let port: number;

  beforeAll(async () => {
    system = await startRoutes();
    const { app } = system.control;
    await app.listen({ host: '127.0.0.1', port: 0 });
    const address = app.server.address();
    port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  });

  afterAll(() => system.close());

  async function answerTo(text: string): Promise<{ head: string; body: unknown }> {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.write(text);
    await once(socket, 'close');
    const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
    return { head: head.toLowerCase(), body: JSON.parse(body) };
  }

  it.each([
    ['an unknown method', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n', '400 bad request', 'INVALID_PARAMETER'],
    [
      'endless headers',
      `GET /health HTTP/1.1\r\nHost: x\r\nX-Pad: ${'a'.repeat(20_000)}\r\n\r\n`,
      '431 request header fields too large',
      'PAYLOAD_TOO_LARGE',
    ],
  ])('%s is rejected in the form of other errors', async (_, text, status, code) => {
    const { head, body } = await answerTo(text);
    expect(head.split('\r\n')[0]).toBe(`http/1.1 ${status}`);
    expect(head).toMatch(/x-request-id: [0-9a-f-]{36}/);
    expect(head).toContain('cache-control: no-store');
    expect(body).toMatchObject({ data: null, errors: [{ code }] });
  });

  it('a request that does not arrive in time gets a timeout error', async () => {
    const { server } = system.control.app;
    const client = connect(port, '127.0.0.1');
    const [socket] = await once(server, 'connection');
    const timeout = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    server.emit('clientError', timeout, socket);
    const [chunk]: Buffer[] = await once(client, 'data');
    client.destroy();
    expect(chunk?.toString()).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(server.requestTimeout).toBe(300_000);
  });
});
