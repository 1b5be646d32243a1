import { describe, expect, test } from 'vitest';
import { planBridge } from './bridge-plan.ts';
import type { SessionPayloads } from './payloads.ts';

const pcmu: SessionPayloads = { codec: 'PCMU', payloadType: 0, dtmf: { payloadType: 101, clockRate: 8000 } };
const opus: SessionPayloads = {
  codec: 'Opus',
  payloadType: 107,
  dtmf: { payloadType: 96, clockRate: 48_000 },
};
const strict = { oneWorker: true, transcode: false };
const free = { oneWorker: true, transcode: true };

describe('legs with the same codec', () => {
  test('are relayed, whatever their payload types', () => {
    const renumbered = { ...opus, payloadType: 111, dtmf: { payloadType: 101, clockRate: 48_000 } };
    expect(planBridge(opus, renumbered, free)).toEqual({ mode: 'relayed', lost: null });
    expect(planBridge({ ...pcmu, dtmf: null }, { ...pcmu, dtmf: null }, strict)).toEqual({
      mode: 'relayed',
      lost: null,
    });
  });

  test('are relayed without key presses when one leg has no telephone-event', () => {
    expect(planBridge(pcmu, { ...pcmu, dtmf: null }, free)).toEqual({
      mode: 'relayed',
      lost: 'one leg has no telephone-event',
    });
  });

  test('are transcoded, where allowed, when their telephone-event clocks differ', () => {
    const slow = { ...opus, dtmf: { payloadType: 101, clockRate: 8000 } };
    const clocks = 'telephone-event at 48000 Hz here and 8000 Hz there';
    expect(planBridge(opus, slow, free)).toEqual({ mode: 'transcoded', because: clocks });
    expect(planBridge(opus, slow, strict)).toEqual({ mode: 'relayed', lost: clocks });
  });

  test('are joined in this process when one of them is recorded, even if transcoding is not allowed', () => {
    const because = 'the call is recorded';
    expect(planBridge(pcmu, pcmu, { ...strict, recorded: true })).toEqual({ mode: 'transcoded', because });
    expect(planBridge(pcmu, opus, { ...strict, recorded: true })).toMatchObject({ mode: 'refused' });
  });

  test('are joined in this process when they are on two workers, even if transcoding is not allowed', () => {
    expect(planBridge(pcmu, pcmu, { ...strict, oneWorker: false })).toMatchObject({ mode: 'transcoded' });
  });
});

test('legs with two codecs are transcoded or rejected', () => {
  const because = 'one leg has PCMU, the other Opus';
  expect(planBridge(pcmu, opus, free)).toEqual({ mode: 'transcoded', because });
  expect(planBridge(pcmu, opus, strict)).toEqual({
    mode: 'refused',
    because: `No common codec: ${because}, and transcoding is off`,
  });
});
