/** Texts that are the same for everybody, compressed once where the client accepts it. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

export class CompressedTexts {
  /** By name; bounded because callers name what they have: pages, files, the document. */
  readonly #kept = new Map<string, Buffer>();

  /** @param name the same for the same text */
  async send(request: FastifyRequest, reply: FastifyReply, name: string, text: string, type: string) {
    reply.type(type).header('vary', 'accept-encoding');
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(text);
    const kept = this.#kept.get(name) ?? (await promisify(gzip)(text));
    this.#kept.set(name, kept);
    return reply.header('content-encoding', 'gzip').send(kept);
  }
}
