/** Bridges whose audio passes through this process: decoded, resampled and encoded between two SRTP endpoints. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CodecName } from '#shared/codecs.ts';
import {
  listener,
  opus,
  type Party,
  type PartyFormats,
  pcmu,
  testOptions,
  toneEndpoint,
  useMedia,
} from '../../test/kit/edge/media.ts';
import { frequencyOf, share, tone } from '../../test/kit/fakes/audio.ts';
import { type AgentRate, decodeBuffer } from './codec/codec.ts';
import { createCodec } from './codec/codecs.ts';
import { createMedia } from './media.ts';

const options = testOptions(31_200);
const { media, newPeer, party } = useMedia(options);

const g722: PartyFormats = {
  codec: 'G.722',
  sdp: { formats: '9 101', rtpmaps: ['9 G722/8000', '101 telephone-event/8000'] },
};
const level = 12_000;

async function transcoded(formats: PartyFormats, otherFormats: PartyFormats) {
  const one = await party(formats);
  const other = await party(otherFormats, { beside: one.leg });
  const bridge = await media().bridge(one.leg, other.leg, { transcode: true });
  expect(bridge.mode).toBe('transcoded');
  return { one, other, bridge };
}

/** Frames of a tone in a codec. */
function encoded(codec: CodecName, rate: AgentRate, hz: number, count: number): Buffer[] {
  const encoder = createCodec(codec, rate);
  onTestFinished(() => encoder.close());
  const samples = tone(hz, (count * rate) / 50, 0, level, rate);
  const out = new Uint8Array(1400);
  return Array.from({ length: count }, (_, i) => {
    const length = encoder.encode(samples.subarray((i * rate) / 50, ((i + 1) * rate) / 50), out);
    return Buffer.from(out.subarray(0, length));
  });
}

/** The last `frames` packets that a party received, decoded. */
function decoded(party: Party, codec: CodecName, rate: AgentRate, frames: number): Int16Array {
  const decoder = createCodec(codec, rate);
  onTestFinished(() => decoder.close());
  const one = decodeBuffer(rate);
  const samples: number[] = [];
  for (const { payload } of party.packets) {
    const count = decoder.decode(payload, one);
    samples.push(...one.subarray(0, count));
  }
  return Int16Array.from(samples.slice((-frames * rate) / 50));
}

/** Whether half a second contains only the tone, within 1 dB of the level at which it was sent. */
function isTone(samples: Int16Array, hz: number, rate: AgentRate): boolean {
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  const decibel = 10 * Math.log10(power / (level ** 2 / 2));
  const clean = share(samples, hz, rate) > 0.95 && Math.abs(frequencyOf(samples, rate) - hz) < hz * 0.01;
  return samples.length === rate / 2 && clean && Math.abs(decibel) < 1;
}

/** Plays until it is heard correctly: on a busy machine this process may stall and leave gaps. */
async function playUntil(heard: () => boolean, play: () => Promise<unknown>): Promise<void> {
  do await play();
  while (!heard());
}

describe('a tone keeps frequency and level', () => {
  test.each([
    { name: 'Opus', rate: 16_000, formats: opus(107, 96), payloadType: 107, samples: 960 },
    { name: 'G.722', rate: 16_000, formats: g722, payloadType: 9, samples: 160 },
  ] as const)('from PCMU to $name and back', async ({ name, rate, formats, payloadType, samples }) => {
    const { one, other } = await transcoded(pcmu, formats);
    const [toOther, toOne] = [one.peer.toneFrames(500, 50), encoded(name, rate, 650, 50)];
    await playUntil(
      () => isTone(decoded(other, name, rate, 25), 500, rate) && isTone(one.peer.samples(4000), 650, 8000),
      () => Promise.all([one.peer.play(toOther), other.peer.play(toOne, { payloadType, samples })]),
    );
  });

  test('above the telephone band, from G.722 to Opus', async () => {
    const { one, other } = await transcoded(g722, opus(107, 96));
    const frames = encoded('G.722', 16_000, 5000, 50);
    await playUntil(
      () => isTone(decoded(other, 'Opus', 16_000, 25), 5000, 16_000),
      () => one.peer.play(frames, { payloadType: 9 }),
    );
  });
});

describe('key presses', () => {
  test("cross as events in the other leg's clock, once each, and are not heard as audio", async () => {
    const { one, other } = await transcoded(pcmu, opus(107, 96));
    await Promise.all([one.peer.heard(3), other.peer.heard(3)]);
    await one.peer.play(one.peer.toneFrames(500, 5));
    await one.peer.press('5');
    const events = () => other.packets.filter(({ payloadType }) => payloadType === 96);
    await other.peer.when(() => events().length === 7);
    expect(new Set(events().map(({ timestamp }) => timestamp)).size).toBe(1);
    expect(events().map(({ payload }) => payload.readUInt8(0))).toEqual([5, 5, 5, 5, 5, 5, 5]);
    expect(events().at(-1)?.payload.readUInt16BE(2)).toBe(4800);

    const pressed = Buffer.from([11, 0x8a, 0x12, 0xc0]);
    other.peer.send(Buffer.from(encoded('Opus', 16_000, 500, 1)[0] ?? []), {
      payloadType: 107,
      samples: 960,
    });
    other.peer.send(pressed, { payloadType: 96, marker: true });
    await one.peer.when(() => one.peer.events[0]?.endPackets === 3);
    expect(one.peer.events).toEqual([{ digit: '#', duration: 800, packets: 7, endPackets: 3 }]);
    expect(one.peer.samples(5 * 160).every((sample) => Math.abs(sample) < 1000)).toBe(true);
  });

  test('cross between legs with one codec and different telephone-event clocks', async () => {
    const { one, other } = await transcoded(opus(107, 96), opus(111, 101, 8000));
    await other.peer.heard(3);
    one.peer.send(Buffer.from(encoded('Opus', 16_000, 500, 1)[0] ?? []), { payloadType: 107, samples: 960 });
    one.peer.send(Buffer.from([7, 0x8a, 0x12, 0xc0]), { payloadType: 96, marker: true });
    await other.peer.when(() => other.peer.events[0]?.endPackets === 3);
    expect(other.peer.events).toMatchObject([{ digit: '7', duration: 800 }]);
  });

  test('from us can be sent to either leg', async () => {
    const { one, other } = await transcoded(pcmu, g722);
    await Promise.all([one.peer.heard(3), other.peer.heard(3)]);
    await Promise.all([one.leg.sendDtmf('1'), other.leg.sendDtmf('2')]);
    await one.peer.when(() => one.peer.events[0]?.endPackets === 3);
    await other.peer.when(() => other.peer.events[0]?.endPackets === 3);
    expect([one, other].map(({ peer }) => peer.events[0]?.digit)).toEqual(['1', '2']);
  });
});

describe('a re-INVITE on a transcoded leg', () => {
  test('holds: the holder gets nothing, the other party hears silence, until it resumes', async () => {
    const { one, other } = await transcoded(pcmu, g722);
    await one.peer.heard(3);
    await one.leg.answer(one.peer.sdp({ direction: 'inactive' }));
    const before = one.peer.packets;
    await other.peer.heard(other.peer.packets + 20);
    expect(one.peer.packets).toBeLessThanOrEqual(before + 1);
    expect(decoded(other, 'G.722', 16_000, 10).every((sample) => Math.abs(sample) < 50)).toBe(true);
    await one.leg.answer(one.peer.sdp());
    await one.peer.heard(before + 10);
  });

  test('moves: the bridge follows', async () => {
    const { one, other } = await transcoded(pcmu, g722);
    const moved = await newPeer();
    moved.connect(await one.leg.answer(moved.sdp()));
    const [toOther, toOne] = [moved.toneFrames(500, 50), encoded('G.722', 16_000, 650, 50)];
    await playUntil(
      () =>
        isTone(decoded(other, 'G.722', 16_000, 25), 500, 16_000) && isTone(moved.samples(4000), 650, 8000),
      () => Promise.all([moved.play(toOther), other.peer.play(toOne, { payloadType: 9 })]),
    );
  });
});

test('the end of the bridge returns both legs to their endpoints, in the same stream', async () => {
  const { one, other, bridge } = await transcoded(pcmu, g722);
  const ear = listener();
  one.leg.attach(toneEndpoint(440));
  other.leg.attach(ear.endpoint);
  await one.peer.heard(5);
  expect(one.peer.samples().every((sample) => sample === 0)).toBe(true);
  bridge.close();
  await one.peer.when(() => share(one.peer.samples(2000), 440) > 0.9);
  const frames = encoded('G.722', 16_000, 650, 25);
  await playUntil(
    () => ear.loudFrames() > 0,
    () => other.peer.play(frames, { payloadType: 9 }),
  );
  expect(new Set(one.packets.map(({ ssrc }) => ssrc)).size).toBe(1);
  expect(one.peer.stats.lost).toBe(0);
});

describe('two workers', () => {
  test('carry legs created beside each other as one, and others through this process', async () => {
    const own = await createMedia({ ...options, workers: 2, portMin: 31_800, portMax: 31_899 });
    try {
      const parties: Party[] = [];
      const join = async (beside?: Party) => {
        const peer = await newPeer();
        const leg = await own.createLeg({ callId: 'two', codecs: ['PCMU'], beside: beside?.leg });
        peer.connect(await leg.answer(peer.sdp()));
        const joined = { peer, leg, packets: [] };
        parties.push(joined);
        return joined;
      };
      const one = await join();
      const two = await join(one);
      const three = await join();
      expect(
        own
          .stats()
          .workers.map(({ legs }) => legs)
          .sort(),
      ).toEqual([1, 2]);
      const near = await own.bridge(one.leg, two.leg, { transcode: false });
      expect(near.mode).toBe('relayed');
      near.close();
      const far = await own.bridge(one.leg, three.leg, { transcode: false });
      expect(far.mode).toBe('transcoded');
      await playUntil(
        () => share(three.peer.samples(2000), 500) > 0.95,
        () => one.peer.play(one.peer.toneFrames(500, 25)),
      );
    } finally {
      await own.close();
    }
  });
});
