/** Codecs with installed libraries are used; others are neither offered nor accepted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PatchedConfiguration } from '#shared/api/sip.ts';
import { codecAvailable } from '../../edge/media/codec/codecs.ts';
import type { EdgeOptions } from '../../edge/start/context.ts';
import { type Caller, pickUp } from '../kit/programs/caller.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { TestTrunk } from '../kit/programs/trunk.ts';
import { attachTrunk, startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';

const from = '+14155550180';
const formats = {
  'G.722': { payloadType: 9, map: '9 G722/8000' },
  'G.729': { payloadType: 18, map: '18 G729/8000' },
} as const;
type Codec = keyof typeof formats;

/** A system with one number that prefers both codecs, in both directions, and a pathway that answers it. */
async function withSystem(
  edge: EdgeOptions,
  run: (parts: { system: TestSystem; trunk: TestTrunk; pathway: string; shown: unknown[] }) => Promise<void>,
): Promise<void> {
  const system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '3600' }, { edge });
  try {
    const trunk = await TestTrunk.listen(await trunkPair(system));
    try {
      await attachTrunk(system, from, trunk.port);
      const pathway = await system.api.pathway(
        'wait',
        [{ id: 'ask', type: 'Default', data: { name: 'Ask', text: 'How can I help?', isStart: true } }],
        [],
      );
      await system.api.answerWith(from, { pathway_id: pathway });
      const shown: unknown[] = [];
      for (const direction of ['inbound', 'outbound']) {
        const codec_config = { codecs: ['G.722', 'G.729', 'PCMU'] };
        const body = { phone_number: from, direction, codec_config };
        const { data } = await system.api.read(PatchedConfiguration, 'PATCH', '/v1/sip/config', body);
        shown.push(data);
      }
      await system.api.applied(from);
      await run({ system, trunk, pathway, shown });
    } finally {
      await trunk.close();
    }
  } finally {
    await system.stop();
  }
}

/** Offers `codecs` to the number. @returns the caller and the SDP answer */
async function offer(system: TestSystem, codecs: readonly (Codec | 'PCMU')[]) {
  const caller: Caller = await pickUp(system);
  const known = codecs.map((codec) =>
    codec === 'PCMU' ? { payloadType: 0, map: '0 PCMU/8000' } : formats[codec],
  );
  const sdp = caller.media.sdp({
    formats: [...known.map(({ payloadType }) => payloadType), 101].join(' '),
    rtpmaps: [...known.map(({ map }) => map), '101 telephone-event/8000'],
  });
  return { caller, response: await caller.phone.invite(from, sdp) };
}

const mediaLine = (sdp: string) => /^m=audio \d+ RTP\/SAVP (.*?)\r?$/m.exec(sdp)?.[1]?.split(' ') ?? [];

const all = Object.keys(formats) as Codec[];
const present = all.filter((codec) => codecAvailable(codec).available);

test.runIf(present.length > 0)(
  'G.722 and G.729 are offered and accepted if their libraries are installed',
  async () => {
    await withSystem({}, async ({ system, trunk, pathway, shown }) => {
      const said = { codec_config: { unavailable: all.filter((codec) => !present.includes(codec)) } };
      expect(shown).toMatchObject([said, said]);
      for (const codec of present) {
        const { caller, response } = await offer(system, [codec]);
        expect([codec, response.status]).toEqual([codec, 200]);
        expect(mediaLine(response.body)[0]).toBe(String(formats[codec].payloadType));
        caller.media.connect(response.body);
        caller.phone.ack(response);
        await caller.media.heard(20);
        await caller.hangup();
        await caller.close();
        const record = await system.api.endedCall(caller.callId);
        expect(record).toMatchObject({ codec, termination: 'caller_hangup' });
      }
      const order = { phone_number: '+14155550181', from, pathway_id: pathway };
      await system.api.ok('POST', '/v1/calls', order);
      const call = await trunk.call();
      const offered = [...present.map((codec) => String(formats[codec].payloadType)), '0'];
      expect(mediaLine(call.invite.body).slice(0, offered.length)).toEqual(offered);
      call.answer('486 Busy Here');
      await call.expect('ACK');
    });
  },
);

test('without their libraries they are reported as unavailable, and are neither offered nor accepted', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'no-codecs-'));
  try {
    await withSystem({ codecLibraries: empty }, async ({ system, trunk, pathway, shown }) => {
      const said = {
        codec_config: { codecs: ['G.722', 'G.729', 'PCMU'], unavailable: ['G.722', 'G.729'] },
        warnings: ['G.722, G.729 are unavailable: no connected edge has the library.'],
      };
      expect(shown).toMatchObject([said, said]);
      expect(system.edge.output).toContain('a codec is not available');

      const common = await offer(system, ['G.722', 'G.729', 'PCMU']);
      expect(common.response.status).toBe(200);
      expect(mediaLine(common.response.body)).toEqual(['0', '101']);
      common.caller.phone.ack(common.response);
      await common.caller.hangup();
      await common.caller.close();

      const alone = await offer(system, ['G.722']);
      expect(alone.response.status).toBe(488);
      await alone.caller.close();

      const order = { phone_number: '+14155550181', from, pathway_id: pathway };
      await system.api.ok('POST', '/v1/calls', order);
      const call = await trunk.call();
      expect(mediaLine(call.invite.body)).toEqual(['0', '101']);
      expect(call.invite.body).not.toMatch(/G72[29]/);
      call.answer('486 Busy Here');
      await call.expect('ACK');
    });
  } finally {
    rmSync(empty, { recursive: true });
  }
});
