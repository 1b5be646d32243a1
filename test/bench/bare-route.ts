/** A process that serves what its parent gives it on bare Fastify routes: the floor beside which servers are measured. */
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';

/** Bodies by path. */
export type BareBodies = Readonly<Record<string, unknown>>;

process.once('message', async (bodies: BareBodies) => {
  const app = fastify();
  for (const [path, body] of Object.entries(bodies)) app.get(path, async () => body);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  process.send?.(`http://127.0.0.1:${port}`);
});
process.once('disconnect', () => process.exit());
