/** A process that serves fixed bodies on bare Fastify routes: the baseline for servers. */
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
