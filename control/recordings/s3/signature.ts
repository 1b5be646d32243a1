/** AWS Signature Version 4 in the Authorization header, as S3 and compatible storage take it. Pure. */
import { createHash, createHmac } from 'node:crypto';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

export interface SignedRequest {
  readonly method: string;
  readonly url: URL;
  /** All are signed; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

const algorithm = 'AWS4-HMAC-SHA256';

/** The request's headers with those of the signature, which binds method, URL, headers and body. `host` is not among them. */
export function signed(
  { method, url, headers, body }: SignedRequest,
  { accessKeyId, secretAccessKey, region }: S3Credentials,
  now: Date,
): Record<string, string> {
  const time = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const hash = sha256(body);
  const sent = { ...headers, 'x-amz-content-sha256': hash, 'x-amz-date': time };
  const entries = Object.entries({ ...sent, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = entries.map(([name]) => name).join(';');
  const canonical = [
    method,
    url.pathname,
    canonicalQuery(url),
    ...entries.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    hash,
  ].join('\n');
  const scope = [time.slice(0, 8), region, 's3', 'aws4_request'];
  const text = [algorithm, time, scope.join('/'), sha256(canonical)].join('\n');
  let key: string | Buffer = `AWS4${secretAccessKey}`;
  for (const part of scope) key = hmac(key, part);
  const signature = hmac(key, text).toString('hex');
  const credential = `${accessKeyId}/${scope.join('/')}`;
  const authorization = `${algorithm} Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...sent, authorization };
}

/** One segment of a path or query: only unreserved characters stay (RFC 3986 section 2.3). */
export function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function canonicalQuery({ searchParams }: URL): string {
  return [...searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');
}

function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
