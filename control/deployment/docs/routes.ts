/** GET /docs and the pages, files and the search under it (docs/internals/http.md). They need no key. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#shared/errors.ts';
import { type App, pageHeaders } from '../../http/index.ts';
import type { OpenApiDocument } from '../openapi-document.ts';
import type { CompressedTexts } from './compressed.ts';
import { root } from './contents.ts';
import { DocsSite } from './site.ts';

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Plain modules for browsers: nothing is built, so the pages work as soon as control runs. */
const browserFolder = join(import.meta.dirname, 'browser');

interface Assets {
  readonly folder: string;
  readonly files: ReadonlyMap<string, string>;
}

/** The name of the folder has the hash of its files, so they may be kept for ever. */
function readAssets(): Assets {
  const names = readdirSync(browserFolder).sort();
  const files = new Map(names.map((name) => [name, readFileSync(join(browserFolder, name), 'utf8')]));
  const hash = createHash('sha256')
    .update(JSON.stringify([...files]))
    .digest('base64url')
    .slice(0, 12);
  return { folder: `/docs/assets/${hash}`, files };
}

export function docsRoutes(app: App, document: () => Promise<OpenApiDocument>, texts: CompressedTexts): void {
  const assets = readAssets();
  const site = new DocsSite(document, assets.folder);
  const sendPage = async (request: FastifyRequest, reply: FastifyReply, url: string) => {
    const page = await site.page(url);
    if (page === null) throw ApiError.of('ROUTE_NOT_FOUND');
    reply.headers(pageHeaders());
    return texts.send(request, reply, url, page, 'text/html; charset=utf-8');
  };
  const hidden = { config: { access: 'public' }, schema: { hide: true } } as const;
  app.route({
    method: 'GET',
    url: '/docs',
    config: { access: 'public' },
    schema: { summary: 'The documentation: guides, and this API as pages', produces: ['text/html'] },
    handler: (request, reply) => sendPage(request, reply, '/docs'),
  });
  app.route<{ Params: { '*': string } }>({
    ...hidden,
    method: 'GET',
    url: '/docs/*',
    handler: (request, reply) => sendPage(request, reply, `/docs/${request.params['*']}`),
  });
  app.route({
    ...hidden,
    method: 'GET',
    url: '/docs/search.json',
    handler: async (request, reply) =>
      texts.send(request, reply, 'search', await site.search(), 'application/json; charset=utf-8'),
  });
  app.route<{ Params: { hash: string; name: string } }>({
    ...hidden,
    method: 'GET',
    url: '/docs/assets/:hash/:name',
    handler: async (request, reply) => {
      const { hash, name } = request.params;
      const text = assets.files.get(name);
      if (text === undefined || assets.folder !== `/docs/assets/${hash}`)
        throw ApiError.of('ROUTE_NOT_FOUND');
      reply.header('cache-control', 'public, max-age=31536000, immutable');
      return texts.send(request, reply, name, text, types[extname(name)] ?? 'text/plain');
    },
  });
  app.route<{ Params: { name: string } }>({
    ...hidden,
    method: 'GET',
    url: '/docs/pictures/:name',
    handler: async (request, reply) => {
      const { name } = request.params;
      if (!/^[\w-]+\.webp$/.test(name)) throw ApiError.of('ROUTE_NOT_FOUND');
      const picture = await readFile(join(root, 'docs', 'pictures', name)).catch(() => null);
      if (!picture) throw ApiError.of('ROUTE_NOT_FOUND');
      return reply.type('image/webp').header('cross-origin-resource-policy', 'same-origin').send(picture);
    },
  });
}
