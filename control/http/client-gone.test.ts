import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerOver, untilGone } from './client-gone.ts';

type Asked = [IncomingMessage, ServerResponse];
let asked = Promise.withResolvers<Asked>();
const server = createServer((...both) => asked.resolve(both));
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => server.close());

/** A request, and a function that disconnects its client. */
async function connected() {
  asked = Promise.withResolvers();
  const client = request({ port: (server.address() as AddressInfo).port }).on('error', () => undefined);
  client.end();
  const [incoming, response] = await asked.promise;
  const goes = async () => {
    const closed = once(response, 'close');
    client.destroy();
    await closed;
  };
  return { of: { raw: incoming }, reply: { raw: response }, goes };
}

const aborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) => {
    if (signal.aborted) resolve('aborted');
    signal.addEventListener('abort', () => resolve('aborted'));
  });

describe('a client that disconnects', () => {
  it.each(['before', 'after'])('aborts work that is useless then: %s it begins', async (when) => {
    const { of, reply, goes } = await connected();
    if (when === 'before') await goes();
    const signal = answerOver(reply);
    const work = untilGone(of, aborted);
    if (when === 'after') await goes();
    expect([await aborted(signal), await work]).toEqual(['aborted', 'aborted']);
  });

  it('aborts nothing that was done before', async () => {
    const { of, goes } = await connected();
    const signal = await untilGone(of, async (given) => given);
    await goes();
    expect(signal.aborted).toBe(false);
  });
});
