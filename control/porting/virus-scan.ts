/** Scans a file for viruses before it is stored: by clamd over TCP, or by a program of the operator's. */
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import type { ScanSettings } from '../settings/index.ts';

/** The scan result: the name of a virus, or null when none was found. */
export type Scan = (bytes: Buffer) => Promise<string | null>;

const retryAfter = 60;
/** Most bytes read of an answer. */
const answerBytes = 4096;
const chunkBytes = 65_536;

/**
 * @param timeoutMs timeout of one scan
 * @throws ApiError SERVICE_UNAVAILABLE from the scan when it could not be done: nothing passes unscanned
 */
export function virusScan(
  settings: ScanSettings | null,
  clock: Clock,
  timeoutMs: number,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Scan {
  if (settings === null) return async () => null;
  return async (bytes) => {
    const limit = new AbortController();
    const timer = clock.after(timeoutMs, () => limit.abort(new Error(`no verdict within ${timeoutMs} ms`)));
    try {
      return settings.kind === 'clamd'
        ? await scanWithClamd(settings, bytes, limit.signal)
        : await scanWithProgram(settings.path, bytes, limit.signal);
    } catch (error) {
      log.warn({ err: limit.signal.aborted ? limit.signal.reason : error }, 'virus scan failed');
      throw ApiError.unavailable('The virus scan is not available; try again.', retryAfter);
    } finally {
      timer.cancel();
    }
  };
}

/** The INSTREAM command of clamd: chunks preceded by their length, an empty one at the end. */
function scanWithClamd(
  { host, port }: { readonly host: string; readonly port: number },
  bytes: Buffer,
  signal: AbortSignal,
): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal });
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      answer += text;
      if (answer.length > answerBytes) socket.destroy(new Error('clamd answers without end'));
    });
    socket.on('error', reject);
    socket.on('close', () => {
      const line = answer.replace(/\0.*$/s, '').trim();
      const found = /^(?:stream: )?(.+) FOUND$/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
      else if (/^(?:stream: )?OK$/.test(line)) resolve(null);
      else reject(new Error(`clamd answered "${line.slice(0, 200)}"`));
    });
    socket.write('zINSTREAM\0');
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const chunk = bytes.subarray(at, at + chunkBytes);
      socket.write(lengthOf(chunk));
      socket.write(chunk);
    }
    socket.write(lengthOf(Buffer.alloc(0)));
  });
}

function lengthOf(chunk: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(chunk.length);
  return length;
}

/** Exit status 0: clean, 1: infected; the first line of the program's output names the virus. */
function scanWithProgram(path: string, bytes: Buffer, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const program = spawn(path, [], { stdio: ['pipe', 'pipe', 'ignore'], signal, killSignal: 'SIGKILL' });
    let output = '';
    program.stdout.setEncoding('utf8');
    program.stdout.on('data', (text: string) => {
      if (output.length < answerBytes) output += text;
    });
    program.on('error', reject);
    program.on('close', (status) => {
      if (status === 0) resolve(null);
      else if (status === 1) resolve(output.split('\n', 1)[0]?.trim() || 'unnamed');
      else reject(new Error(`the virus scan ended with status ${status}`));
    });
    // A program may close its input before reading everything.
    program.stdin.on('error', () => undefined);
    program.stdin.end(bytes);
  });
}
