/** Recordings of tests: an order, and what a file says. */
import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { g711 } from '#shared/g711.ts';
import {
  ChunkOpener,
  ChunkScanner,
  decodeHeader,
  frameBytes,
  type RecordingMark,
  readMark,
} from '#shared/recording/format.ts';
import { type RecordingKeyPair, unwrapKey, wrapKey } from '#shared/recording/keys.ts';
import type { RecordingOrder } from '../../../edge/call/ports/media.ts';

/** The same in every process. */
const recordingKey: RecordingKeyPair = fixedKey();

function fixedKey(): RecordingKeyPair {
  // RFC 8410 section 7: an X25519 private key of 32 octets 5.
  const key = Buffer.concat([Buffer.from('302e020100300506032b656e04220420', 'hex'), Buffer.alloc(32, 5)]);
  const { x = '', d = '' } = createPrivateKey({ key, format: 'der', type: 'pkcs8' }).export({
    format: 'jwk',
  });
  return { key_id: 'key-1', public_key: x, private_key: d };
}

export function recordingOrder(
  id: string,
  {
    announcement = null,
    pauseKey = null,
    stopped = () => {},
    paused = () => {},
  }: Partial<Pick<RecordingOrder, 'announcement' | 'pauseKey' | 'stopped' | 'paused'>> = {},
): RecordingOrder {
  const dataKey = Buffer.alloc(32, 9);
  return {
    header: {
      version: 1,
      id,
      call_id: `call of ${id}`.slice(0, 64),
      org_id: 'org',
      started_at: '2026-11-26T00:00:00.000Z',
      key: wrapKey(dataKey, recordingKey, id),
    },
    dataKey,
    announcement,
    pauseKey,
    stopped,
    paused,
  };
}

export interface ReadRecording {
  /** Samples of the peer and of our side, 8 kHz; gaps are zeros. */
  readonly heard: Int16Array;
  readonly sent: Int16Array;
  readonly marks: readonly (RecordingMark & { readonly at: number })[];
  readonly torn: boolean;
}

/** @throws Error when the file has no header */
export async function readRecording(path: string): Promise<ReadRecording> {
  const bytes = await readFile(path);
  const begin = decodeHeader(bytes);
  if (!begin) throw new Error(`${path} has no header`);
  const { header, length } = begin;
  const dataKey = unwrapKey(header.key, recordingKey, header.id);
  const opener = new ChunkOpener(dataKey, header.id);
  const scanner = new ChunkScanner(length);
  const marks: (RecordingMark & { at: number })[] = [];
  const pieces: { at: number; samples: Buffer }[] = [];
  for (const chunk of scanner.push(bytes.subarray(length))) {
    const content = opener.open(chunk);
    const mark = chunk.kind === 'mark' ? readMark(content) : null;
    if (mark) marks.push({ ...mark, at: chunk.at });
    else pieces.push({ at: chunk.at, samples: content });
  }
  const frames = pieces.reduce((end, { at, samples }) => Math.max(end, at + samples.length / frameBytes), 0);
  const heard = new Int16Array(frames * 160);
  const sent = new Int16Array(frames * 160);
  for (const { at, samples } of pieces) {
    for (let i = 0; 2 * i < samples.length; i++) {
      heard[at * 160 + i] = g711.PCMU.toLinear[samples[2 * i] ?? 0] ?? 0;
      sent[at * 160 + i] = g711.PCMU.toLinear[samples[2 * i + 1] ?? 0] ?? 0;
    }
  }
  return { heard, sent, marks, torn: scanner.torn };
}
