import { describe, expect, test } from 'vitest';
import { consumerCapabilities, producerParameters, routerCodecs, tableKey } from './payloads.ts';

const opus = { codec: 'Opus', payloadType: 107, dtmf: { payloadType: 96, clockRate: 48_000 } } as const;

describe("the worker's table of a session", () => {
  test("lists the session's own payload types, so that packets pass unchanged", () => {
    expect(routerCodecs(opus)).toEqual([
      { kind: 'audio', mimeType: 'audio/opus', clockRate: 48_000, channels: 2, preferredPayloadType: 107 },
      { kind: 'audio', mimeType: 'audio/telephone-event', clockRate: 48_000, preferredPayloadType: 96 },
    ]);
  });

  test('carries G.729 under the name of iLBC, which the worker knows', () => {
    expect(routerCodecs({ codec: 'G.729', payloadType: 18, dtmf: null })).toEqual([
      { kind: 'audio', mimeType: 'audio/iLBC', clockRate: 8000, preferredPayloadType: 18 },
    ]);
  });

  test('is another one when any payload type differs', () => {
    const keys = [
      opus,
      { ...opus, payloadType: 111 },
      { ...opus, dtmf: null },
      { ...opus, dtmf: { payloadType: 96, clockRate: 8000 } },
    ].map(tableKey);
    expect(new Set(keys).size).toBe(4);
  });
});

test('a stream of the peer is known by a MID, because SIP signals no SSRC', () => {
  expect(producerParameters(opus, { mid: '3' })).toMatchObject({ mid: '3', encodings: [{}] });
  expect(producerParameters(opus, { ssrc: 7 })).toMatchObject({ encodings: [{ ssrc: 7 }] });
});

test('no header extensions are asked for: SIP peers negotiated none', () => {
  expect(consumerCapabilities(opus).headerExtensions).toEqual([]);
});
