import { describe, expect, test } from 'vitest';
import type { AudioEndpoint } from '../call/ports/media.ts';
import { createCodec } from './codec/codecs.ts';
import { OutgoingAudio } from './outgoing-audio.ts';
import { parseRtp, RtpView } from './rtp/packet.ts';

const frame = new Int16Array(160);

/** Records every packet: payload type, marker, time since the first packet, first octet of the payload. */
function setUp(
  dtmf: { payloadType: number; clockRate: number } | null = { payloadType: 101, clockRate: 8000 },
) {
  const packets: { payloadType: number; marker: boolean; at: number; sequence: number; first: number }[] = [];
  let began: number | null = null;
  let firstSequence = 0;
  const outgoing = new OutgoingAudio({
    payloadType: 0,
    dtmf,
    clockRate: 8000,
    ssrc: 7,
    send(packet) {
      const view = parseRtp(packet, new RtpView());
      if (!view) throw new Error('not RTP');
      if (began === null) {
        began = view.timestamp;
        firstSequence = view.sequence;
      }
      packets.push({
        payloadType: view.payloadType,
        marker: view.marker,
        at: (view.timestamp - began) >>> 0,
        sequence: (view.sequence - firstSequence) & 0xffff,
        first: packet[view.payloadStart] ?? -1,
      });
    },
  });
  const codec = createCodec('PCMU', 8000);
  const tick = (endpoint: AudioEndpoint | null, count = 1) => {
    for (let i = 0; i < count; i++) outgoing.tick(endpoint, codec, frame);
  };
  return { outgoing, packets, tick };
}

const loud: AudioEndpoint = {
  sampleRate: 8000,
  read(target) {
    target.fill(32_000);
    return true;
  },
};
const mute: AudioEndpoint = { sampleRate: 8000, read: () => false };

describe("a leg's outgoing audio", () => {
  test('is one packet per turn, 160 ticks apart, the first one marked', () => {
    const { packets, tick } = setUp();
    tick(loud, 3);
    expect(packets).toEqual([
      { payloadType: 0, marker: true, at: 0, sequence: 0, first: 0x80 },
      { payloadType: 0, marker: false, at: 160, sequence: 1, first: 0x80 },
      { payloadType: 0, marker: false, at: 320, sequence: 2, first: 0x80 },
    ]);
  });

  test('is silence for as long as the agent has nothing to say', () => {
    const { packets, tick } = setUp();
    tick(loud);
    tick(mute, 30);
    tick(loud);
    expect(packets.map(({ first }) => first)).toEqual([0x80, ...Array(30).fill(0xff), 0x80]);
  });

  test('has nothing of what another leg sends meanwhile', () => {
    const [silent, speaking] = [setUp(), setUp()];
    for (let turn = 0; turn < 30; turn++) {
      silent.tick(mute);
      speaking.tick(loud);
    }
    expect(new Set(silent.packets.map(({ first }) => first))).toEqual(new Set([0xff]));
    expect(new Set(speaking.packets.map(({ first }) => first))).toEqual(new Set([0x80]));
  });

  test('is nothing without an endpoint', () => {
    const { packets, tick } = setUp();
    tick(null, 5);
    expect(packets).toEqual([]);
  });

  test('advances its timestamp over a pause, without a gap in the sequence, and marks the restart', () => {
    const { outgoing, packets, tick } = setUp();
    tick(loud);
    outgoing.pause(10);
    tick(loud);
    expect(packets[1]).toEqual({ payloadType: 0, marker: true, at: 11 * 160, sequence: 1, first: 0x80 });
  });

  test('replaces audio by key presses, each with one timestamp, and resumes at the right time', async () => {
    const { outgoing, packets, tick } = setUp();
    tick(loud);
    const done = outgoing.press('5', 8000);
    tick(loud, 9);
    await done;
    const events = packets.filter(({ payloadType }) => payloadType === 101);
    expect(events.map(({ at }) => at)).toEqual(Array(7).fill(160));
    expect(events.map(({ marker }) => marker)).toEqual([true, false, false, false, false, false, false]);
    expect(events.every(({ first }) => first === 5)).toBe(true);
    expect(packets.at(-1)).toMatchObject({ payloadType: 0, at: 9 * 160, sequence: 8 });
  });

  test('starts with a packet of the codec even when a key press comes first', async () => {
    const { outgoing, packets, tick } = setUp();
    const done = outgoing.press('1', 8000);
    tick(null, 10);
    await done;
    expect(packets.map(({ payloadType }) => payloadType)).toEqual([0, ...Array(7).fill(101)]);
    expect(outgoing.pressing).toBe(false);
  });

  test('drops queued key presses at its end', async () => {
    const { outgoing } = setUp();
    const done = outgoing.press('123', 8000);
    outgoing.end();
    await done;
    expect(outgoing.pressing).toBe(false);
  });
});
