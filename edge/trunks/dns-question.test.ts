/** One question to a name server that misbehaves, over real sockets. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import packet, { type DecodedPacket, type Packet } from 'dns-packet';
import { afterEach, expect, test } from 'vitest';
import { askServer } from './dns-question.ts';

const host = '127.0.0.1';
const patienceMs = 10_000;
const servers: Socket[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** @param replies the datagrams for each question */
async function nameServer(replies: (question: DecodedPacket) => readonly Buffer[]): Promise<number> {
  const server = createSocket('udp4');
  servers.push(server);
  server.on('message', (bytes, { port, address }) => {
    for (const reply of replies(packet.decode(bytes))) server.send(reply, port, address);
  });
  server.bind(0, host);
  await once(server, 'listening');
  return server.address().port;
}

function reply(question: DecodedPacket, change: Partial<Packet> = {}): Buffer {
  return packet.encode({
    type: 'response',
    id: question.id,
    questions: question.questions,
    answers: [{ type: 'A', name: 'pbx.test', ttl: 60, data: '192.0.2.1' }],
    ...change,
  });
}

const ask = (port: number, timeoutMs = patienceMs) =>
  askServer('PBX.test', 'A', { address: host, port }, timeoutMs);

test('waits for the answer to its own question', async () => {
  const port = await nameServer((question) => [
    Buffer.from('not DNS'),
    reply(question, { id: ((question.id ?? 0) + 1) % 65_536 }),
    reply(question, { type: 'query' }),
    reply(question, { questions: [{ type: 'A', name: 'other.test' }] }),
    reply(question, { answers: [{ type: 'A', name: 'pbx.test', ttl: 9, data: '192.0.2.9' }] }),
  ]);
  expect((await ask(port)).answers).toMatchObject([{ ttl: 9, data: '192.0.2.9' }]);
});

test('asks again without EDNS a server that does not know it', async () => {
  const port = await nameServer((question) => [
    (question.additionals ?? []).length > 0 ? reply(question, { flags: 1, answers: [] }) : reply(question),
  ]);
  expect((await ask(port)).answers).toMatchObject([{ data: '192.0.2.1' }]);
});

test.each([
  [2, 'ESERVFAIL'],
  [5, 'EREFUSED'],
])('reports that a server gives no answer: rcode %i', async (flags, code) => {
  const port = await nameServer((question) => [reply(question, { flags, answers: [] })]);
  await expect(ask(port)).rejects.toMatchObject({ code });
});

test('a name that does not exist is an answer without records', async () => {
  const port = await nameServer((question) => [reply(question, { flags: 3, answers: [] })]);
  expect(await ask(port)).toEqual({ answers: [], authorities: [] });
});

test('a port where nobody listens is reported at once', async () => {
  const port = await nameServer(() => []);
  for (const server of servers.splice(0)) server.close();
  await expect(ask(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a server that says nothing times out', async () => {
  const port = await nameServer(() => [Buffer.from('not DNS')]);
  await expect(ask(port, 100)).rejects.toMatchObject({ code: 'ETIMEOUT' });
});
