/** Reads the one file of a multipart upload and checks its content (contract 5.2). */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '#shared/errors.ts';

/** Contract 1.7. */
const fileBytes = 10_485_760;
const bodyBytes = 11 * 1_048_576;
const partName = 'file';

const accepted: ReadonlySet<string> = new Set(['application/pdf', 'image/jpeg', 'image/gif', 'image/webp']);

/** The body of an upload. Two are equal when their files are, for idempotency (contract 1.8). */
export class Upload {
  readonly bytes: Buffer;
  readonly hash: string;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.hash = createHash('sha256').update(bytes).digest('hex');
  }

  toJSON(): object {
    return { file: this.hash };
  }
}

/**
 * Reads exactly one part named `file`, in memory only.
 * @throws ApiError INVALID_PARAMETER, UNKNOWN_PROPERTY, FILE_TOO_LARGE, PAYLOAD_TOO_LARGE
 */
export async function readUpload(request: FastifyRequest): Promise<Upload> {
  if (Number(request.headers['content-length'] ?? 0) > bodyBytes) throw ApiError.of('PAYLOAD_TOO_LARGE');
  // Its sender has gone meanwhile: a stream that has ended already would be read for ever.
  if (request.raw.destroyed) throw ApiError.invalid('', 'must be a whole multipart/form-data body');
  const limits = { fileSize: fileBytes, files: 2, fields: 1, fieldSize: 1024, parts: 3, headerPairs: 20 };
  let file: Buffer | undefined;
  try {
    for await (const part of request.parts({ limits })) {
      if (part.fieldname !== partName || file !== undefined) throw unknownPart(part.fieldname);
      if (part.type !== 'file') throw ApiError.invalid('/file', 'must be a file, with a file name');
      file = await part.toBuffer();
    }
  } catch (error) {
    throw asApiError(error);
  }
  if (file === undefined) throw ApiError.invalid('/file', 'required');
  if (file.length === 0) throw ApiError.invalid('/file', 'must not be empty');
  return new Upload(file);
}

function unknownPart(name: string): ApiError {
  const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return ApiError.of('UNKNOWN_PROPERTY', { path }, `${path}: the only part is one named "file"`);
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_REQ_FILE_TOO_LARGE') return ApiError.of('FILE_TOO_LARGE');
  if (code === 'FST_PARTS_LIMIT' || code === 'FST_FILES_LIMIT' || code === 'FST_FIELDS_LIMIT')
    return ApiError.of('UNKNOWN_PROPERTY', { path: '' }, 'Send exactly one part, named "file".');
  return ApiError.invalid('', 'must be a whole multipart/form-data body');
}

/** Signature of PNG (ISO/IEC 15948 section 5.2); the library also requires complete chunks after it. */
const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The media type detected from the bytes. @throws ApiError UNSUPPORTED_FILE_TYPE */
export async function mediaTypeOf(bytes: Buffer): Promise<string> {
  if (bytes.subarray(0, pngSignature.length).equals(pngSignature)) return 'image/png';
  // Loaded for the first upload.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined);
  if (!found || !accepted.has(found.mime)) {
    throw ApiError.of('UNSUPPORTED_FILE_TYPE', { found: found?.mime ?? null });
  }
  return found.mime;
}
