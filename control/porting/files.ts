/** File responses. */
import type { FastifyReply } from 'fastify';

/** Always as a download: customers' uploads are never displayed from our domain. */
export function sendFile(reply: FastifyReply, bytes: Buffer, type: string, name: string): FastifyReply {
  return reply
    .type(type)
    .header('content-disposition', `attachment; filename="${name.replaceAll(/[^A-Za-z0-9._-]/g, '_')}"`)
    .header('content-security-policy', "default-src 'none'; sandbox")
    .send(bytes);
}
