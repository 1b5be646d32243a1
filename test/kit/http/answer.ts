/** Responses of the HTTP API for tests. Bodies are read by the schemas of shared/api, which check and type them. */
import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { ErrorItem } from '#shared/errors.ts';

/** The parts of a response that tests check. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
  /** The JSON body, unchecked; `{}` for another content type. */
  readonly body: Json;
  /** Empty for a success. */
  readonly errors: readonly ErrorItem[];
  /** Codes of the errors. */
  readonly codes: readonly string[];
  /** The JSON body. @throws Error naming the parts that do not match the schema */
  read<S extends TSchema>(schema: S): Static<S>;
}

/** JSON that a test reads without type checks at each step; a wrong step gives undefined. */
export interface Json {
  readonly [key: string]: Json;
}

export interface Message {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

/** Sends one request. Rejects when there is no response. */
export function send(agent: Agent, { method, url, headers, body }: Message): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const asked = request(url, { agent, method, headers: { ...length, ...headers } }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.once('error', reject);
      response.once('end', () => {
        const path = new URL(url).pathname;
        resolve(
          answerOf(`${method} ${path}`, response.statusCode ?? 0, response.headers, Buffer.concat(parts)),
        );
      });
    });
    asked.once('error', reject);
    asked.end(body);
  });
}

function answerOf(asked: string, status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  const text = bytes.toString();
  const isJson = String(headers['content-type'] ?? '').startsWith('application/json');
  const body: Json = isJson ? JSON.parse(text) : {};
  const found: unknown = body.errors;
  const errors: readonly ErrorItem[] = Array.isArray(found) ? found : [];
  return {
    status,
    headers,
    text,
    bytes,
    body,
    errors,
    codes: errors.map(({ code }) => code),
    read: (schema) => readAs(schema, body, `${asked} (status ${status})`),
  };
}

/**
 * A value that has a schema.
 *
 * @param what begins the error's sentence
 * @throws Error naming the parts that do not match
 */
export function readAs<S extends TSchema>(schema: S, value: unknown, what: string): Static<S> {
  if (fits(schema, value)) return value;
  const wrong = Value.Errors(schema, value)
    .slice(0, 5)
    .map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  throw new Error(`${what} does not match its schema: ${wrong.join('; ')}\n${JSON.stringify(value)}`);
}

function fits<S extends TSchema>(schema: S, value: unknown): value is Static<S> {
  return Value.Check(schema, value);
}
