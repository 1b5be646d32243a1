import { describe, expect, test } from 'vitest';
import {
  consumerCapabilities,
  offeredPayloads,
  producerParameters,
  relayCapabilities,
  routerCodecs,
  sendingKey,
  tableKey,
} from './payloads.ts';

const opus = { codec: 'Opus', payloadType: 107, dtmf: { payloadType: 96, clockRate: 48_000 } } as const;

describe("the worker's table of a session", () => {
  test("lists the session's own payload types, so that packets pass unchanged", () => {
    expect(routerCodecs(opus)).toEqual([
      { kind: 'audio', mimeType: 'audio/opus', clockRate: 48_000, channels: 2, preferredPayloadType: 107 },
      { kind: 'audio', mimeType: 'audio/telephone-event', clockRate: 48_000, preferredPayloadType: 96 },
    ]);
  });

  test('carries G.729 under the name of iLBC, which the worker supports', () => {
    expect(routerCodecs({ codec: 'G.729', payloadType: 18, dtmf: null })).toEqual([
      { kind: 'audio', mimeType: 'audio/iLBC', clockRate: 8000, preferredPayloadType: 18 },
    ]);
  });

  test('is different when any payload type differs', () => {
    const keys = [
      opus,
      { ...opus, payloadType: 111 },
      { ...opus, dtmf: null },
      { ...opus, dtmf: { payloadType: 96, clockRate: 8000 } },
    ].map(tableKey);
    expect(new Set(keys).size).toBe(4);
  });
});

test('a peer whose answer names telephone-event at two clocks sends both under our numbers', () => {
  const answered = { ...opus, otherDtmf: [{ payloadType: 97, clockRate: 8000 }] };
  const received = offeredPayloads(answered);
  expect(received).toEqual({
    codec: 'Opus',
    payloadType: 111,
    dtmf: { payloadType: 110, clockRate: 48_000 },
    otherDtmf: [{ payloadType: 101, clockRate: 8000 }],
  });
  expect(routerCodecs(received).map(({ preferredPayloadType }) => preferredPayloadType)).toEqual([
    111, 110, 101,
  ]);
  expect(tableKey(answered)).not.toBe(tableKey(opus));
  expect(sendingKey(answered)).toBe(sendingKey(opus));
});

test('a stream of the peer is identified by a MID, because SIP signals no SSRC', () => {
  expect(producerParameters(opus, { mid: '3' })).toMatchObject({ mid: '3', encodings: [{}] });
  expect(producerParameters(opus, { ssrc: 7 })).toMatchObject({ encodings: [{ ssrc: 7 }] });
});

test('no header extensions are requested: SIP peers negotiated none', () => {
  expect(consumerCapabilities(opus).headerExtensions).toEqual([]);
});

describe('a relay', () => {
  const other = { codec: 'Opus', payloadType: 111, dtmf: { payloadType: 101, clockRate: 48_000 } } as const;
  const sentUnder = (payloadType: number) => [{ type: 'x-payload-type', parameter: String(payloadType) }];

  test("maps one session's payload types to the other's", () => {
    expect(relayCapabilities(opus, other).codecs).toMatchObject([
      { mimeType: 'audio/opus', preferredPayloadType: 107, rtcpFeedback: sentUnder(111) },
      { mimeType: 'audio/telephone-event', preferredPayloadType: 96, rtcpFeedback: sentUnder(101) },
    ]);
  });

  test('omits key presses at a different clock', () => {
    const slow = { ...other, dtmf: { payloadType: 101, clockRate: 8000 } };
    expect(relayCapabilities(opus, slow).codecs).toMatchObject([{ mimeType: 'audio/opus' }]);
    expect(relayCapabilities(opus, { ...other, dtmf: null }).codecs).toHaveLength(1);
  });
});
