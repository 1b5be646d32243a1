/** A supervisor's leg at real calls: with an agent, and with two legs that the worker relays. */
import { expect, onTestFinished, test } from 'vitest';
import { libraryLoader, type Pointer } from '#shared/native-library.ts';
import {
  listener,
  opus,
  type Party,
  pcmu,
  testOptions,
  toneEndpoint,
  useMedia,
} from '../../../test/kit/edge/media.ts';
import { share, tone } from '../../../test/kit/fakes/audio.ts';

const { media, party, newPeer, newLeg } = useMedia(testOptions(31_000));

const hears = ({ peer }: Party, hz: number) => share(peer.samples(1600), hz);

/** Those who play a tone do so until it is heard as it should: on a busy machine there are gaps. */
async function until(parties: readonly (readonly [Party, number])[], done: () => boolean): Promise<void> {
  let turns = 0;
  while (!done()) {
    if (turns++ > 200) throw new Error('the tones are not heard');
    await Promise.all(parties.map(([{ peer }, hz]) => peer.play(peer.toneFrames(hz, 10))));
  }
}

test('hears a bridged call, whispers to one side, takes it over and leaves it to the worker again', async () => {
  const one = await party(pcmu);
  const other = await party(pcmu, { beside: one.leg });
  const supervisor = await party(pcmu, { beside: one.leg });
  const bridge = await media().bridge(one.leg, other.leg, { transcode: false });
  const tones = [
    [one, 500],
    [other, 900],
    [supervisor, 1300],
  ] as const;
  const here = () => media().stats().packetsHere;
  await until(tones.slice(0, 2), () => hears(one, 900) > 0.9 && hears(other, 500) > 0.9);
  const options = { agent: 'far', tone: false } as const;
  const supervision = media().supervise(one.leg, supervisor.leg, options);
  await until(
    tones,
    () =>
      hears(supervisor, 500) > 0.3 &&
      hears(supervisor, 900) > 0.3 &&
      hears(one, 900) > 0.9 &&
      hears(other, 500) > 0.9,
  );
  supervision.setMode('whisper');
  await until(tones, () => hears(other, 1300) > 0.3 && hears(other, 500) > 0.3 && hears(one, 900) > 0.9);
  supervision.setMode('take_over');
  await until(
    tones,
    () => hears(one, 1300) > 0.9 && hears(other, 1300) > 0.3 && hears(supervisor, 500) > 0.3,
  );
  supervision.setMode('listen');
  await until(tones, () => hears(one, 900) > 0.9 && hears(other, 500) > 0.9);
  supervision.close();
  let before = -1;
  await until(tones.slice(0, 2), () => {
    const isRelayed = before === here() && hears(one, 900) > 0.9 && hears(other, 500) > 0.9;
    before = here();
    return isRelayed;
  });
  bridge.close();
});

test.each([
  ['the person on a bridged leg is told words', 'near'],
  ['the person behind a bridged leg is told words', 'far'],
] as const)('%s, and the worker has the call again afterwards', async (_, side) => {
  const one = await party(pcmu);
  const other = await party(pcmu, { beside: one.leg });
  const bridge = await media().bridge(one.leg, other.leg, { transcode: false });
  const tones = [
    [one, 500],
    [other, 900],
  ] as const;
  const [told, untold] = side === 'near' ? [one, other] : [other, one];
  const [itsOther, theOther] = side === 'near' ? [900, 500] : [500, 900];
  await until(tones, () => hears(one, 900) > 0.9 && hears(other, 500) > 0.9);
  one.leg.tell(side, tone(1300, 8000));
  one.leg.tell(side, tone(1300, 8000));
  await until(
    tones,
    () => hears(told, 1300) > 0.3 && hears(told, itsOther) > 0.1 && hears(untold, theOther) > 0.9,
  );
  let before = -1;
  await until(tones, () => {
    const { packetsHere } = media().stats();
    const isRelayed = before === packetsHere && hears(one, 900) > 0.9 && hears(other, 500) > 0.9;
    before = packetsHere;
    return isRelayed;
  });
  bridge.close();
});

test("hears an agent, which hears it, in the caller's stead", async () => {
  const caller = await party(pcmu);
  const supervisor = await party(pcmu, { beside: caller.leg });
  const { endpoint, loudFrames } = listener();
  caller.leg.attach({ ...endpoint, read: toneEndpoint(900).read });
  const supervision = media().supervise(caller.leg, supervisor.leg, { agent: 'far', tone: false });
  await until([[caller, 500]], () => hears(supervisor, 900) > 0.3 && hears(supervisor, 500) > 0.3);
  supervision.setMode('barge');
  await until([[supervisor, 1300]], () => hears(caller, 1300) > 0.3 && hears(caller, 900) > 0.3);
  expect(loudFrames()).toBeGreaterThan(0);
  supervision.close();
  await until([[supervisor, 1300]], () => hears(caller, 900) > 0.95);
});

const decoder = libraryLoader('libopus.so.0', 'libopus0', (library) => ({
  create: library.func('void* opus_decoder_create(int fs, int channels, int* error)'),
  decode: library.func(
    'int opus_decode(void* decoder, const uint8_t* data, int length, int16_t* pcm, int room, int fec)',
  ),
  destroy: library.func('void opus_decoder_destroy(void* decoder)'),
}));

test.each([true, false])(
  'each side is on a channel of its own, when the peer asks for stereo: %s',
  async (stereo) => {
    const caller = await party(pcmu);
    const { codec, sdp } = opus(111, 110);
    const packets: Buffer[] = [];
    const peer = await newPeer({
      onPacket: ({ payloadType, payload }) =>
        void (payloadType === 111 && packets.push(Buffer.from(payload))),
    });
    const leg = await newLeg({ codecs: [codec], beside: caller.leg });
    const fmtp = `a=fmtp:111 minptime=10;useinbandfec=1${stereo ? ';stereo=1' : ''}\r\n`;
    peer.connect(await leg.answer(peer.sdp(sdp) + fmtp));
    caller.leg.attach({ ...toneEndpoint(900), write: () => {} });
    const supervision = media().supervise(caller.leg, leg, { agent: 'far', tone: false });
    const loaded = decoder();
    if ('reason' in loaded) throw new Error(loaded.reason);
    const { create, decode, destroy } = loaded.functions;
    const opened: Pointer = create(16_000, 2, new Int32Array(1));
    onTestFinished(() => void destroy(opened));
    const sides = () => {
      const [left, right] = [[] as number[], [] as number[]];
      const pcm = new Int16Array(2 * 1920);
      for (const packet of packets.slice(-15)) {
        const count = decode(opened, packet, packet.length, pcm, 1920, 0);
        for (let i = 0; i < count; i++) {
          left.push(pcm[2 * i] ?? 0);
          right.push(pcm[2 * i + 1] ?? 0);
        }
      }
      const half = (all: number[]) => Int16Array.from(all.slice(-2400));
      return [half(left), half(right)] as const;
    };
    const of = (samples: Int16Array, hz: number) => share(samples, hz, 16_000);
    await until([[caller, 500]], () => {
      const [left, right] = sides();
      return stereo
        ? of(left, 500) > 0.9 && of(right, 900) > 0.9
        : of(left, 500) > 0.3 && of(left, 900) > 0.3 && of(right, 500) > 0.3 && of(right, 900) > 0.3;
    });
    supervision.close();
  },
);
