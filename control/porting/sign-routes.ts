/** The pages of signature links: no key; the token in the path is the authorization (contract 5.6). */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { plain } from '#shared/api/common.ts';
import { Signature, Signed, SignPath, SignQuery } from '#shared/api/porting.ts';
import { ApiError } from '#shared/errors.ts';
import { hostKey } from '#shared/networks.ts';
import { actorOf } from '../audit/index.ts';
import { type App, RateLimiter } from '../http/index.ts';
import { showWindow } from '../organizations/index.ts';
import type { PortingDeps } from './deps.ts';
import { pageHeaders, problemPage, signedPage, signPage } from './letter-page.ts';
import { openColumn } from './sealed-store.ts';
import { currentLetter, openLink, signLetter } from './sign.ts';

/** Contract 1.6. */
const perAddress = { scope: 'address', limit: 30, windowSeconds: 60 } as const;
const path = '/v1/sip/port/sign/:token';

export function signRoutes(app: App, services: PortingDeps): void {
  const { db } = services.database;
  const limiter = new RateLimiter(services.clock, services.sharedCounts.as('signatures'));
  app.register(async (scope: App) => {
    scope.addContentTypeParser<string>(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, text, done) => done(null, parseForm(text)),
    );
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers(pageHeaders);
      showWindow(reply, await limiter.take(hostKey(request.ip), [perAddress]));
    });
    scope.setErrorHandler(async (error: unknown, request, reply) => {
      if (!(error instanceof ApiError) || !prefersHtml(request.headers.accept)) throw error;
      return problem(services, request, reply, error);
    });

    scope.route({
      method: 'GET',
      url: path,
      config: {
        access: 'public',
        secretPath: true,
        errors: ['SIGNATURE_LINK_NOT_FOUND', 'SIGNATURE_LINK_EXPIRED', 'RATE_LIMITED'],
      },
      schema: {
        summary: 'The letter of authorization, with a form to sign it',
        description: 'A page for people; the link to it is mailed to the authorized representative.',
        params: SignPath,
        produces: ['text/html'],
      },
      handler: async (request, reply) => {
        const row = await openLink(services, db, request.params.token);
        if (row.signed_at !== null)
          return html(
            reply,
            signedPage(openColumn(services.secrets, row, 'signed_name') ?? '', row.signed_at),
          );
        return html(reply, signPage(await currentLetter(services, db, row)));
      },
    });

    scope.route({
      method: 'POST',
      url: path,
      config: {
        access: 'public',
        secretPath: true,
        errors: [
          'CONSENT_REQUIRED',
          'NAME_MISMATCH',
          'SIGNATURE_LINK_NOT_FOUND',
          'SIGNATURE_LINK_EXPIRED',
          'ALREADY_SIGNED',
          'RATE_LIMITED',
        ],
      },
      schema: {
        summary: 'Sign the letter of authorization',
        description: 'JSON, or the form of the page; answers with a page when `Accept` prefers one.',
        params: SignPath,
        querystring: SignQuery,
        body: Signature,
        response: { 200: Signed },
      },
      handler: async (request, reply) => {
        const { consent, name } = request.body;
        const signed_at = await signLetter(services, {
          token: request.params.token,
          name,
          consent: consent === true,
          letterRead: request.query.letter ?? null,
          address: request.ip,
          agent: request.headers['user-agent'] ?? '',
          by: actorOf(request),
        });
        if (prefersHtml(request.headers.accept)) return html(reply, signedPage(name.trim(), signed_at));
        return plain({ signed: true as const, signed_at, status: 'submitted' as const });
      },
    });
  });
}

function html(reply: FastifyReply, page: string) {
  return reply
    .type('text/html; charset=utf-8')
    .serializer((text: string) => text)
    .send(page);
}

/** An error as a page; a correctable one shows the letter and the form again. */
async function problem(
  services: PortingDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  error: ApiError,
): Promise<FastifyReply> {
  reply.code(error.statusCode);
  if (error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter);
  if (error.statusCode !== 400 || request.method !== 'POST')
    return html(reply, problemPage('This is not possible', error.message));
  const { db } = services.database;
  const { token } = request.params as { token: string };
  const body = (request.body ?? {}) as { name?: unknown };
  const row = await openLink(services, db, token).catch(() => null);
  if (!row || row.signed_at !== null) return html(reply, problemPage('This is not possible', error.message));
  const name = typeof body.name === 'string' ? body.name : '';
  return html(reply, signPage(await currentLetter(services, db, row), error.message, name));
}

/** Whether a page is preferred over JSON (RFC 9110, 12.5.1); without a preference it is JSON. */
export function prefersHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return { type, weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
  });
  const weightOf = (name: string) =>
    [name, `${name.split('/')[0]}/*`, '*/*']
      .map((type) => ranges.find((range) => range.type === type)?.weight)
      .find((weight) => weight !== undefined) ?? 0;
  return weightOf('text/html') > weightOf('application/json');
}

/** A form as the equivalent JSON object; a ticked box is `true` or `on` (contract 5.6). */
export function parseForm(text: string): Record<string, unknown> {
  const fields = Object.fromEntries(new URLSearchParams(text));
  const { consent } = fields;
  return consent === 'true' || consent === 'on' ? { ...fields, consent: true } : fields;
}
