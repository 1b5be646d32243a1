/**
 * A strict S3 server in memory, written from the Amazon S3 API Reference: it computes the signature of every request on
 * its own ("Authenticating Requests: Using the Authorization Header"), and has the rules that break clients, such as the
 * least size of a part, ETags that must match, and ranges.
 */
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ServerSockets } from './server-sockets.ts';

const usualLeastPartBytes = 5 * 1024 * 1024;
const mostSkewMs = 15 * 60_000;

interface Upload {
  readonly key: string;
  readonly parts: Map<number, Buffer>;
}

interface Asked {
  readonly method: string;
  readonly key: string;
  readonly query: ReadonlyMap<string, string>;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

interface Answered {
  readonly status: number;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
}

export class S3Server {
  readonly bucket = 'calls';
  readonly region = 'eu-test-1';
  accessKeyId = 'TESTKEYID';
  secretAccessKey = 'a-secret/with+signs=';
  readonly objects = new Map<string, Buffer>();
  readonly uploads = new Map<string, Upload>();
  /** What was asked and permitted, such as `PUT part 1`. */
  readonly asked: string[] = [];
  /** Answers everything with this status while it is set. */
  away: number | null = null;
  /** The request with this number is never answered: it dies before or after it is done. */
  hang: { readonly at: number; readonly when: 'before' | 'after' } | null = null;
  /** Resolves when that request has come, and is done or not. */
  hung = Promise.withResolvers<void>();
  /** Answers wait for this while it is set. */
  held: Promise<void> | null = null;
  /** Requests that wait for it now: those that the client has ended do not. */
  holds = 0;
  readonly #now: () => number;
  readonly #leastPartBytes: number;
  readonly #server: Server;
  readonly #sockets: ServerSockets;

  /** @param now ms, of the clock that signatures are compared with */
  constructor(now: () => number, leastPartBytes = usualLeastPartBytes) {
    this.#now = now;
    this.#leastPartBytes = leastPartBytes;
    this.#server = createServer((request, response) => void this.#take(request, response));
    this.#sockets = new ServerSockets(this.#server);
  }

  async start(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  /** Begins to count requests again. */
  renew(hang: S3Server['hang']): void {
    this.asked.length = 0;
    this.hang = hang;
    this.hung = Promise.withResolvers();
  }

  /** The body that names this storage. */
  get settings() {
    const { bucket, region, accessKeyId: access_key_id, secretAccessKey: secret_access_key, url } = this;
    return { url, bucket, region, access_key_id, secret_access_key };
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    return this.#sockets.close();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks);
    if (this.held) await this.#hold(this.held, response);
    const answer = await this.#answered(request, body);
    if (answer === null) return;
    response.writeHead(answer.status, {
      ...(typeof answer.body === 'string' && { 'content-type': 'application/xml' }),
      ...answer.headers,
    });
    response.end(answer.body);
  }

  async #hold(until: Promise<void>, response: ServerResponse): Promise<void> {
    this.holds += 1;
    const over = new Promise<void>((resolve) => response.once('close', resolve));
    await Promise.race([until, over]);
    this.holds -= 1;
  }

  async #answered(request: IncomingMessage, body: Buffer): Promise<Answered | null> {
    if (this.away !== null)
      return failure(this.away, 'ServiceUnavailable', 'Please reduce your request rate.');
    const refusal = this.#refusal(request, body);
    if (refusal) return refusal;
    const [path = '', rawQuery = ''] = (request.url ?? '').split('?');
    const [, bucket = '', ...rest] = path.split('/').map(decodeURIComponent);
    if (bucket !== this.bucket) return failure(404, 'NoSuchBucket', 'The specified bucket does not exist');
    const query = new Map(queryOf(rawQuery));
    const { method = '', headers } = request;
    const asked = { method, key: rest.join('/'), query, headers, body };
    this.asked.push(nameOf(asked));
    const isLast = this.hang?.at === this.asked.length;
    if (isLast && this.hang?.when === 'before') {
      this.hung.resolve();
      return null;
    }
    const answer = this.#act(asked);
    if (!isLast) return answer;
    this.hung.resolve();
    return null;
  }

  /** The signature, by the specification and by nothing of the product. */
  #refusal({ method, url = '', headers }: IncomingMessage, body: Buffer): Answered | null {
    const form =
      /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([^/,]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;
    const found = form.exec(headers.authorization ?? '');
    if (!found) return failure(403, 'AccessDenied', 'Access Denied');
    const [, keyId, date = '', region = '', names = '', signature] = found;
    if (keyId !== this.accessKeyId)
      return failure(
        403,
        'InvalidAccessKeyId',
        'The AWS Access Key Id you provided does not exist in our records.',
      );
    if (region !== this.region)
      return failure(
        400,
        'AuthorizationHeaderMalformed',
        `The region &apos;${region}&apos; is wrong; expecting &apos;${this.region}&apos;`,
      );
    const time = String(headers['x-amz-date']);
    const iso = time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
    if (!time.startsWith(date) || !(Math.abs(Date.parse(iso) - this.#now()) <= mostSkewMs))
      return failure(
        403,
        'RequestTimeTooSkewed',
        'The difference between the request time and ours is too large.',
      );
    const payload = createHash('sha256').update(body).digest('hex');
    if (headers['x-amz-content-sha256'] !== payload)
      return failure(400, 'XAmzContentSHA256Mismatch', 'The provided hash does not match what was computed.');
    const listed = names.split(';');
    const required = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
    const isComplete = required.every((name) => listed.includes(name));
    if (!isComplete || listed.join() !== [...listed].sort().join())
      return failure(403, 'AccessDenied', 'There were headers present in the request which were not signed');
    const [path = '', rawQuery = ''] = url.split('?');
    const canonical = [
      method,
      path
        .split('/')
        .map((segment) => percent(decodeURIComponent(segment)))
        .join('/'),
      queryOf(rawQuery)
        .map(([name, value]) => [percent(name), percent(value)] as const)
        .sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
        .map(([name, value]) => `${name}=${value}`)
        .join('&'),
      listed.map((name) => `${name}:${String(headers[name]).trim().replaceAll(/ +/g, ' ')}\n`).join(''),
      names,
      payload,
    ].join('\n');
    const scope = `${date}/${region}/s3/aws4_request`;
    const digest = createHash('sha256').update(canonical).digest('hex');
    const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
    const dateKey = mac(`AWS4${this.secretAccessKey}`, date);
    const signingKey = mac(mac(mac(dateKey, region), 's3'), 'aws4_request');
    const wanted = mac(signingKey, `AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`).toString('hex');
    if (wanted === signature) return null;
    return failure(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match.');
  }

  #act(asked: Asked): Answered {
    const { method, key, query, body } = asked;
    const uploadId = query.get('uploadId');
    if (uploadId !== undefined) return this.#actOnUpload(asked, uploadId);
    if (query.has('uploads'))
      return method === 'POST' ? this.#begin(key) : this.#list(query.get('prefix') ?? '');
    if (method === 'PUT') {
      this.objects.set(key, body);
      return { status: 200, headers: { etag: etagOf(body) } };
    }
    if (method === 'DELETE') {
      this.objects.delete(key);
      return { status: 204 };
    }
    return this.#get(asked);
  }

  #get({ key, headers }: Asked): Answered {
    const object = this.objects.get(key);
    if (!object) return failure(404, 'NoSuchKey', 'The specified key does not exist.');
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    if (first === undefined) return { status: 200, body: object };
    if (Number(first) >= object.length)
      return failure(416, 'InvalidRange', 'The requested range is not satisfiable');
    const part = object.subarray(Number(first), Number(last) + 1);
    const range = `bytes ${first}-${Number(first) + part.length - 1}/${object.length}`;
    return { status: 206, body: part, headers: { 'content-range': range } };
  }

  #begin(key: string): Answered {
    const id = `${randomUUID()}~a+b/c=`;
    this.uploads.set(id, { key, parts: new Map() });
    return xml(
      `<InitiateMultipartUploadResult><Bucket>${this.bucket}</Bucket><Key>${key}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    );
  }

  #list(prefix: string): Answered {
    const found = [...this.uploads].filter(([, { key }]) => key.startsWith(prefix));
    const items = found.map(
      ([id, { key }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiator><ID>1</ID></Initiator></Upload>`,
    );
    return xml(
      `<ListMultipartUploadsResult><Prefix>${prefix}</Prefix><IsTruncated>false</IsTruncated>${items.join('')}</ListMultipartUploadsResult>`,
    );
  }

  #actOnUpload({ method, key, query, body }: Asked, id: string): Answered {
    const upload = this.uploads.get(id);
    if (upload?.key !== key)
      return failure(404, 'NoSuchUpload', 'The specified multipart upload does not exist.');
    if (method === 'DELETE') {
      this.uploads.delete(id);
      return { status: 204 };
    }
    if (method === 'PUT') {
      upload.parts.set(Number(query.get('partNumber')), body);
      return { status: 200, headers: { etag: etagOf(body) } };
    }
    if (method === 'GET') {
      const parts = [...upload.parts]
        .sort(([a], [b]) => a - b)
        .map(
          ([number, bytes]) =>
            `<Part><PartNumber>${number}</PartNumber><ETag>${etagOf(bytes).replaceAll('"', '&quot;')}</ETag><Size>${bytes.length}</Size></Part>`,
        );
      return xml(`<ListPartsResult><UploadId>${id}</UploadId>${parts.join('')}</ListPartsResult>`);
    }
    return this.#complete(id, upload, body.toString('utf8'));
  }

  #complete(id: string, { key, parts }: Upload, text: string): Answered {
    const named = [...text.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>(.*?)<\/ETag>/g)];
    const chosen: Buffer[] = [];
    for (const [index, [, number, etag = '']] of named.entries()) {
      const part = parts.get(Number(number));
      // As from servers that keep the connection busy: the failure comes after a 200.
      if (!part || etagOf(part) !== etag.replaceAll('&quot;', '"'))
        return failure(200, 'InvalidPart', 'One or more of the specified parts could not be found.');
      if (Number(number) !== index + 1)
        return failure(400, 'InvalidPartOrder', 'The list of parts was not in ascending order.');
      if (index < named.length - 1 && part.length < this.#leastPartBytes)
        return failure(
          400,
          'EntityTooSmall',
          'Your proposed upload is smaller than the minimum allowed size',
        );
      chosen.push(part);
    }
    if (chosen.length === 0) return failure(400, 'MalformedXML', 'The XML you provided was not well-formed');
    this.objects.set(key, Buffer.concat(chosen));
    this.uploads.delete(id);
    return xml(`\n\n<CompleteMultipartUploadResult><Key>${key}</Key></CompleteMultipartUploadResult>`);
  }
}

function nameOf({ method, query }: Asked): string {
  const part = query.get('partNumber');
  const what = part === undefined ? (query.has('uploadId') ? 'upload' : '') : `part ${part}`;
  return [method, query.has('uploads') ? 'uploads' : what].filter((word) => word !== '').join(' ');
}

/** Names and values, decoded. */
function queryOf(raw: string): [string, string][] {
  if (raw === '') return [];
  return raw.split('&').map((pair) => {
    const at = pair.indexOf('=');
    const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    return [decodeURIComponent(name), decodeURIComponent(value)];
  });
}

/** UriEncode of the specification: every octet but unreserved characters. */
function percent(text: string): string {
  return [...Buffer.from(text, 'utf8')]
    .map((octet) => {
      const character = String.fromCharCode(octet);
      return /[A-Za-z0-9\-._~]/.test(character)
        ? character
        : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

function xml(content: string): Answered {
  return { status: 200, body: `<?xml version="1.0" encoding="UTF-8"?>\n${content}` };
}

function failure(status: number, code: string, message: string): Answered {
  const content = `<Error><Code>${code}</Code><Message>${message}</Message><RequestId>1</RequestId></Error>`;
  return { ...xml(content), status };
}
