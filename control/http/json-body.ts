/** Parses JSON bodies: UTF-8 only, objects only, limited depth (contract 1.3 and 1.4). */
import type { FastifyRequest } from 'fastify';
import { NoMembers } from '#shared/api/common.ts';
import { ApiError } from '#shared/errors.ts';
import { isDeeperThan } from '#shared/json-depth.ts';
import type { App } from './app-types.ts';
import { BodyCheck } from './violations.ts';

/** Most levels of objects and arrays in a body. No body of the contract needs as many; recursive code relies on it. */
const mostBodyDepth = 64;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** JSON objects only; an empty body counts as `{}`. */
export function addJsonBodies(app: App): void {
  // Rejects __proto__ and constructor.prototype keys, which would poison objects made from the body.
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    const text = decoded(bytes);
    if (text === null) return done(ApiError.of('INVALID_JSON', undefined, 'The body is not UTF-8.'));
    if (text.trim() === '') return done(null, {});
    if (isDeeperThan(text, mostBodyDepth)) return done(tooDeep());
    return parseJson(request, text, (error, body: unknown) => {
      if (error) return done(refusal(text));
      const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
      return isObject ? done(null, body) : done(ApiError.of('INVALID_JSON'));
    });
  });
  const nothing = new BodyCheck(NoMembers);
  app.addHook('preValidation', async (request: FastifyRequest) => {
    if (request.routeOptions.schema?.body) request.body ??= {};
    // No DELETE takes a body, and RFC 9110 section 9.3.5 gives one no meaning: its sender expects something that will
    // not happen.
    else if (request.method === 'DELETE' && !request.is404) {
      const [first, ...others] = nothing.violations(request.body ?? {});
      if (first) throw ApiError.many([first, ...others]);
    }
  });
}

/** Valid JSON that Fastify's parser rejects has a forbidden key; the parser does not say so. */
function refusal(text: string): ApiError {
  try {
    JSON.parse(text);
  } catch (error) {
    return ApiError.of('INVALID_JSON', undefined, `The body is not JSON${whereBroken(error)}.`);
  }
  const message = 'No object of the body may have a key __proto__, or a constructor with a prototype.';
  return ApiError.of('INVALID_JSON', undefined, message);
}

/** Where V8 stopped reading, as far as it says so. Its own words are left out: they may quote the body, and its secrets. */
function whereBroken(error: unknown): string {
  const said = error instanceof Error ? error.message : '';
  if (said.includes('end of JSON input')) return ': it ends too early';
  const [, place] = /\((line \d+ column \d+)\)$/.exec(said) ?? [];
  return place === undefined ? '' : `: ${place.replace(' column', ', column')}`;
}

/** The text of the bytes without a byte order mark, null when they are not UTF-8. */
function decoded(bytes: Buffer): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

function tooDeep(): ApiError {
  const rule = `must be at most ${mostBodyDepth} levels deep`;
  return ApiError.of('INVALID_JSON', { path: '', rule }, `body: ${rule}`);
}
