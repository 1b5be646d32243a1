/** The quality of calls that are joined: packets that stay in the media worker, hold, and a conference. */
import { describe, expect, test } from 'vitest';
import {
  CallQuality,
  type CallQualitySample,
  CallTimeline,
  type CallTurn,
} from '#shared/api/call-quality.ts';
import type { CallLogEntry } from '#shared/api/sip-calls.ts';
import { tone } from '../kit/fakes/audio.ts';
import type { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { longTest } from '../kit/long-test.ts';
import type { Api } from '../kit/programs/api.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import { number, type TransferSystem } from '../kit/programs/transfers.ts';
import { Baresip } from '../peers/baresip.ts';

export async function qualityOf(api: Api, id: string) {
  return (await api.read(CallQuality, 'GET', `/v1/sip/calls/${id}/quality`)).data;
}

export async function turnsOf(api: Api, id: string): Promise<CallTurn[]> {
  return (await api.read(CallTimeline, 'GET', `/v1/sip/calls/${id}/timeline`)).data.turns;
}

/** The first sample of a running call that is as wished. */
function sampleThat(
  api: Api,
  id: string,
  wished: (sample: CallQualitySample) => boolean,
): Promise<CallQualitySample> {
  return eventually('the wished sample', async () => saw(await qualityOf(api, id)).samples.find(wished));
}

type Count = 'packets_received' | 'packets_sent' | 'packets_lost';

const sum = (samples: readonly CallQualitySample[], count: Count) =>
  samples.reduce((total, sample) => total + sample[count], 0);

/** Plays it until the work is done. */
async function playing<T>(peers: readonly SrtpPeer[], work: Promise<T>): Promise<T> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  ended.catch(() => {});
  while (!isDone) await Promise.all(peers.map((peer) => peer.play(peer.toneFrames(500, 10))));
  return ended;
}

/** The last report about a call and its record say the same. */
export async function sumsUp(api: Api, { id, media }: CallLogEntry): Promise<void> {
  const { samples, age_ms } = await qualityOf(api, id);
  expect(age_ms).toBeNull();
  expect(sum(samples, 'packets_sent')).toBe(media?.packets_sent);
  expect(sum(samples, 'packets_received')).toBe(media?.packets_received);
  for (const [index, { at_ms, duration_ms }] of samples.entries())
    expect(at_ms - duration_ms).toBeGreaterThanOrEqual((samples[index - 1]?.at_ms ?? 0) - 1);
}

/** @param at the system that the file has started, with two media shards */
export function joinedCalls(at: () => TransferSystem): void {
  describe('calls that meet each other', () => {
    test('have the counts of the media worker while it relays their packets, and then end with all of them', async () => {
      const { api } = at().system;
      const { media } = await at().caller();
      const { id } = await at().live();
      await at().transfer(id);
      const target = await at().trunk.call();
      await at().answer(target);
      const leg = await at().live(({ direction }) => direction === 'outbound');
      // The first one has also the time before the relay.
      const relayed = ({ relayed: is, packets_received: packets, clock_late_ms: late }: CallQualitySample) =>
        is && packets > 0 && late === null;
      const samples = Promise.all([id, leg.id].map((one) => sampleThat(api, one, relayed)));
      for (const sample of await playing([media, at().far], samples))
        expect(sample).toMatchObject({
          level_received_dbov: null,
          jitter_buffer_ms: null,
          packets_late: null,
        });
      await target.hangUp();
      for (const one of [id, leg.id]) await sumsUp(api, await at().ended(one));
      expect(await turnsOf(api, leg.id)).toEqual([]);
    });

    longTest(
      'are on hold in their samples while they are, then in a conference with the levels of both ways',
      async () => {
        const { api } = at().system;
        const ids: string[] = [];
        const phones: Baresip[] = [];
        for (const hz of [700, 1100]) {
          const phone = await Baresip.start({ speech: tone(hz, 8000 * 60) });
          at().open.push(phone);
          phones.push(phone);
          await phone.command('dial', `sip:${number}@127.0.0.1:${at().system.sipPort}`);
          await phone.event('CALL_ESTABLISHED');
          ids.push((await at().live((call) => !ids.includes(call.id))).id);
        }
        const [one = '', other = ''] = ids;
        await api.ok('POST', `/v1/calls/${one}/hold`, {});
        // Music is sent, and nothing is received.
        const held = await sampleThat(api, one, (sample) => sample.held && sample.packets_received === 0);
        expect(held).toMatchObject({ relayed: false, mos_received: null });
        expect(held.packets_sent).toBeGreaterThan(0);
        await api.ok('POST', `/v1/calls/${one}/resume`, {});
        for (const id of ids)
          expect(await at().transfer(id, { transfer_number: 'conference:sales' })).toMatchObject({
            status: 200,
          });
        const { at_ms: since } = await sampleThat(api, other, ({ at_ms }) => at_ms > held.at_ms);
        const met = await sampleThat(api, other, (sample) => {
          const { level_received_dbov: from = null, level_sent_dbov: to = null } = sample;
          return sample.at_ms > since && (from ?? -127) > -40 && (to ?? -127) > -40;
        });
        expect(met).toMatchObject({ relayed: false, held: false });
        expect(met.clock_late_ms).toBeGreaterThanOrEqual(0);
        for (const [index, phone] of phones.entries()) {
          await phone.command('hangup');
          await sumsUp(api, await at().ended(ids[index] ?? ''));
        }
      },
    );
  });
}
