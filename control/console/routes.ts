/** The console: its page at the path of each screen, and its files (docs/console.md). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { consolePaths } from '#shared/console-paths.ts';
import { ApiError } from '#shared/errors.ts';
import type { ConnectedEdge } from '../edge-link/index.ts';
import { type App, pageHeaders } from '../http/index.ts';
import { type ConsoleBuild, type ConsoleFile, codings } from './bundle.ts';

/** The name of a file has the hash of its content. */
const forever = 'public, max-age=31536000, immutable';

/** The edges that are linked. */
export interface ConsoleDeps {
  readonly edges: { readonly all: readonly Pick<ConnectedEdge, 'sip'>[] };
}

/** Characters of a host in a source of the policy; another one could add to it. */
const hostForm = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])$/;

function socketsOf({ edges }: ConsoleDeps): string[] {
  const found = edges.all.flatMap(({ sip }) => {
    const host = sip.host.includes(':') ? `[${sip.host}]` : sip.host;
    return sip.wss_port === undefined || !hostForm.test(host) ? [] : [`wss://${host}:${sip.wss_port}`];
  });
  return [...new Set(found)].sort().slice(0, mostSockets);
}

/** A header may have 16 kB in all. */
const mostSockets = 100;

export function consoleRoutes(app: App, deps: ConsoleDeps, build: ConsoleBuild): void {
  for (const url of Object.values(consolePaths)) {
    app.route({
      method: 'GET',
      url,
      config: { access: 'public' },
      schema: { hide: true },
      handler: async (request, reply) => {
        const found = await build.read();
        // Its phone calls over the WebSockets of the edges.
        reply.headers(pageHeaders({ images: 'data:', connections: socketsOf(deps), sound: true }));
        if (found) return sendFile(request, reply, found.page);
        return reply.code(503).header('retry-after', 30).type('text/html; charset=utf-8').send(notBuilt);
      },
    });
  }
  app.route<{ Params: { name: string } }>({
    method: 'GET',
    url: '/assets/:name',
    config: { access: 'public' },
    schema: { hide: true },
    handler: async (request, reply) => {
      const { name } = request.params;
      const bundle = await build.read();
      const file = bundle?.assets.get(name);
      if (!file) throw ApiError.of('ROUTE_NOT_FOUND');
      const shared = name === bundle?.phone;
      reply.headers({
        'cache-control': forever,
        'cross-origin-resource-policy': shared ? 'cross-origin' : 'same-origin',
        // Imported by pages with a widget; it is the same for all, and has no secrets.
        ...(shared && { 'access-control-allow-origin': '*' }),
      });
      return sendFile(request, reply, file);
    },
  });
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile) {
  const accepted = new Set(
    (request.headers['accept-encoding'] ?? '').split(',').map((one) => one.split(';', 1)[0]?.trim()),
  );
  const coding = codings.find(([name]) => accepted.has(name))?.[0];
  const encoded = coding && file.encoded.get(coding);
  reply.type(file.type).header('vary', 'accept-encoding');
  if (!encoded) return reply.send(file.plain);
  return reply.header('content-encoding', coding).send(encoded);
}

const notBuilt = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Trunkline: the console is not built</title></head>
<body><h1>The console is not built</h1>
<p>Set-up builds it. Run this in the folder of Trunkline, then load this page again:</p>
<pre>node scripts/setup.mjs</pre>
<p>Set-up and control must have the same <code>TRUNKLINE_CACHE</code>. The API works without the console:
<a href="/docs">its reference</a>.</p></body></html>
`;
