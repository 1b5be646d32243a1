import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';

const megabyte = 1_048_576;

describe('a request rejected before its body was read', () => {
  let system: TestControl;
  let key: string;
  let port: number;

  beforeAll(async () => {
    system = await startRoutes();
    key = system.key;
    port = Number(new URL(await system.url()).port);
  });

  afterAll(() => system.close());

  /** Sends a whole request before reading anything, as simple clients do. @returns the open connection */
  async function send(path: string, length: number, headers: readonly string[]): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const head = [`POST ${path} HTTP/1.1`, 'Host: x', ...headers, `Content-Length: ${length}`];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    for (let left = length; left > 0 && !socket.destroyed; left -= megabyte) {
      if (!socket.write(Buffer.alloc(Math.min(megabyte, left), 'a'))) await once(socket, 'drain');
    }
    return socket;
  }

  async function answers(socket: Socket): Promise<string[]> {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    await finished(socket);
    return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = '']) => status);
  }

  const next = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

  it.each([
    ['JSON of 8 MiB', '/v1/pathway/create', 8 * megabyte, 'application/json', '413'],
    ['an upload of 12 MiB', '/v1/sip/port/document', 12 * megabyte, 'multipart/form-data; boundary=x', '413'],
    ['8 MiB of another type', '/v1/pathway/create', 8 * megabyte, 'text/plain', '415'],
  ])('%s gets its response, and the connection stays usable', async (_, path, length, type, status) => {
    const socket = await send(path, length, [`authorization: ${key}`, `content-type: ${type}`]);
    socket.write(next);
    expect(await answers(socket)).toEqual([status, '200']);
  });

  it('gets its response without a key, too', async () => {
    const socket = await send('/v1/pathway/create', 8 * megabyte, ['content-type: application/json']);
    socket.write(next);
    expect(await answers(socket)).toEqual(['401', '200']);
  });

  it('does not delay the end of the server', async () => {
    const stopping = await startRoutes();
    const { port: itsPort } = new URL(await stopping.url());
    const socket = connect(Number(itsPort), '127.0.0.1');
    socket.write(
      `POST /v1/pathway/create HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\ncontent-type: application/json\r\n\r\na`,
    );
    await once(socket, 'data');
    const closed = stopping.close();
    socket.write('bc');
    await finished(socket.resume());
    await closed;
  });

  it('is disconnected when its body exceeds 64 MiB', async () => {
    const sending = send('/v1/pathway/create', 200 * megabyte, ['content-type: application/json']);
    await expect(sending).rejects.toMatchObject({ code: expect.stringMatching(/^(EPIPE|ECONNRESET)$/) });
  });
});
