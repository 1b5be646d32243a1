import { describe, expect, it } from 'vitest';
import { createCodec } from '../codec/codecs.ts';
import { parseRtp, RtpView, RtpWriter } from '../rtp/packet.ts';
import { AudioReceiver } from './audio-receiver.ts';

/** One second of a tone as G.711 packets of `packetMs`, read in frames of 20 ms. */
function throughG711(packetMs: number, rate: 8000 | 16000, drop: (index: number) => boolean = () => false) {
  const codec = createCodec('PCMU', rate);
  const encoder = createCodec('PCMU', 8000);
  const receiver = new AudioReceiver({ codec });
  const writer = new RtpWriter(7, 0, 0);
  const view = new RtpView();
  const encoded = new Uint8Array(8000);
  const tone = Int16Array.from({ length: 8000 }, (_, i) => 8000 * Math.sin((2 * Math.PI * 400 * i) / 8000));
  for (let i = 0; i < 50; i++)
    encoder.encode(tone.subarray(i * 160, i * 160 + 160), encoded.subarray(i * 160));

  const frames: Int16Array[] = [];
  const heard: boolean[] = [];
  const octets = packetMs * 8;
  let sent = 0;
  for (let now = 5; now < 1000; now += 20) {
    for (
      ;
      (sent + 1) * packetMs <= now + packetMs && sent * packetMs <= now && sent < 1000 / packetMs;
      sent++
    ) {
      writer.payload.set(encoded.subarray(sent * octets, (sent + 1) * octets));
      const packet = writer.seal(octets, 0, sent === 0);
      writer.advance(octets);
      if (!drop(sent) && parseRtp(packet, view)) receiver.push(view, packet, sent * packetMs);
    }
    const frame = new Int16Array(rate / 50);
    heard.push(receiver.read(frame, now));
    frames.push(frame);
  }
  codec.close();
  encoder.close();
  return { frames, heard, counts: receiver.counts };
}

/** Loudness of each frame. */
function levels(frames: readonly Int16Array[]): number[] {
  return frames.map((frame) =>
    Math.sqrt(frame.reduce((sum, sample) => sum + sample * sample, 0) / frame.length),
  );
}

const toneLevel = 8000 / Math.SQRT2;

describe('AudioReceiver', () => {
  it.each([10, 20, 30, 40, 60] as const)('turns packets of %i ms into frames of 20 ms', (packetMs) => {
    const { frames, heard, counts } = throughG711(packetMs, 8000);
    const first = heard.indexOf(true);
    expect(first).toBeLessThanOrEqual(4);
    expect(heard.slice(first)).not.toContain(false);
    for (const level of levels(frames.slice(first))) expect(Math.abs(level - toneLevel)).toBeLessThan(100);
    expect(counts).toMatchObject({ concealed: 0, late: 0, skipped: 0 });
  });

  it('gives an agent at 16 kHz the same audio', () => {
    const { frames, heard } = throughG711(20, 16000);
    const first = heard.indexOf(true) + 1;
    for (const level of levels(frames.slice(first))) expect(Math.abs(level - toneLevel)).toBeLessThan(100);
  });

  it('conceals a lost packet of a steady tone', () => {
    const { frames, heard, counts } = throughG711(20, 8000, (index) => index === 20);
    const first = heard.indexOf(true);
    expect(counts.concealed).toBe(1);
    // The synthesized frame fades by a fifth at most.
    for (const level of levels(frames.slice(first))) expect(level).toBeGreaterThan(0.75 * toneLevel);
    for (const level of levels(frames.slice(first))) expect(level).toBeLessThan(1.1 * toneLevel);
  });

  it('becomes silent when no more packets arrive', () => {
    const { frames, heard } = throughG711(20, 8000, (index) => index >= 20);
    expect(heard.at(-1)).toBe(false);
    expect(levels(frames).at(-1)).toBe(0);
  });
});
