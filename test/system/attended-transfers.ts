/** A peer with two calls joins whom it speaks with in both, in the whole system (docs/transfers.md). */
import { describe, expect, test } from 'vitest';
import type { SipText } from '../../scripts/call/sip-text.ts';
import { tone } from '../kit/fakes/audio.ts';
import { hears } from '../kit/fakes/hearing.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import type { Caller } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { colleague, loud, number, silence, type TransferSystem } from '../kit/programs/transfers.ts';
import type { TrunkCall } from '../kit/programs/trunk.ts';
import { Baresip } from '../peers/baresip.ts';

const tagOf = (header: string | undefined) => /;tag=([^;>]+)/.exec(header ?? '')?.[1];

/** @param at the system that the file has started */
export function attendedTransfers(at: () => TransferSystem): void {
  describe('a peer with two calls', () => {
    /** Our Contact in a call, with its dialog as an INVITE to us names it. */
    function contactOf(callId: string, ours: string | undefined, theirs: string | undefined): string {
      const replaces = encodeURIComponent(`${callId};to-tag=${ours};from-tag=${theirs}`);
      return `sip:127.0.0.1:${at().system.sipPort};transport=tls?Replaces=${replaces}`;
    }

    /** A caller whose agent has transferred it to `far` at the trunk. */
    async function transferred(far: SrtpPeer, before: readonly string[] = []) {
      const caller = await at().caller();
      const { id } = await at().live((call) => call.direction === 'inbound' && !before.includes(call.id));
      expect(await at().transfer(id)).toMatchObject({ status: 200 });
      const target = await at().trunk.call();
      far.connect(target.invite.body);
      target.answer('200 OK', far.sdp());
      const { raw } = await target.expect('ACK');
      await eventually(
        'the transfer in the record',
        async () => (await at().notes(id)).includes(`Transferred the call to ${colleague}.`) || null,
      );
      return { caller, id, target, theirs: tagOf(/^to:(.*)$/im.exec(raw)?.[1]) };
    }

    async function speakWithEachOther(one: Caller, other: Caller): Promise<void> {
      await hears(one.media, other.media, 700);
      await hears(other.media, one.media, 900);
    }

    test('a colleague at the trunk joins two callers, who hear each other, and leaves', async () => {
      const far = await SrtpPeer.open();
      at().open.push({ close: async () => far.close() });
      const first = await transferred(at().far);
      const second = await transferred(far, [first.id]);
      const nameOf = ({ target, theirs }: { target: TrunkCall; theirs: string | undefined }) =>
        contactOf(target.id, tagOf(target.invite.header('from')), theirs);
      const legs = (await at().system.api.calls()).filter(({ parent_id: parent }) =>
        [first.id, second.id].includes(parent ?? ''),
      );
      const accepted: SipText = await first.target.refer(nameOf(second));
      expect(accepted.status).toBe(202);
      await second.target.expect('BYE');
      await first.target.expect('BYE');
      const news = first.target.received
        .filter(({ method }) => method === 'NOTIFY')
        .map(({ body }) => body.trim());
      expect(news).toEqual(['SIP/2.0 100 Trying', 'SIP/2.0 200 OK']);
      await speakWithEachOther(first.caller, second.caller);
      expect(legs).toHaveLength(2);
      for (const { id } of legs)
        expect(await at().ended(id)).toMatchObject({ termination: 'transferred', hangup_by: 'transfer' });
      await first.caller.hangup();
      await second.caller.phone.expect('BYE');
      expect(await at().ended(first.id)).toMatchObject({ termination: 'caller_hangup' });
      expect(await at().ended(second.id)).toMatchObject({ termination: 'bridge_ended' });
    });

    test('a caller with two calls leaves the agent of one with the target of the other', async () => {
      const own = await at().caller();
      const { id } = await at().live();
      const other = await transferred(at().far, [id]);
      const { callId, phone } = other.caller;
      const [ok] = phone.received.filter(
        ({ status, raw }) => status === 200 && /^cseq: 1 INVITE/im.test(raw),
      );
      const name = contactOf(callId, tagOf(ok?.header('to')), tagOf(ok?.header('from')));
      const accepted = await own.phone.request('REFER', null, [`Refer-To: <${name}>`]);
      expect(accepted.status).toBe(202);
      await phone.expect('BYE');
      await own.phone.expect('BYE');
      for (const one of [id, other.id])
        expect(await at().ended(one)).toMatchObject({ termination: 'transferred', hangup_by: 'transfer' });
      const leg = await at().live();
      expect(leg).toMatchObject({ parent_id: other.id, direction: 'outbound' });
      await at().far.play([silence, silence, silence, silence, silence]);
      await at().far.press('1');
      await at().far.when(() =>
        at()
          .far.samples(160)
          .some((sample) => Math.abs(sample) > loud),
      );
      await other.target.expect('BYE');
      expect(await at().ended(leg.id)).toMatchObject({ hangup_by: 'agent' });
    });

    test('baresip with both calls on hold joins their targets by REFER, without brackets, and leaves', async () => {
      const phone = await Baresip.start({ speech: tone(500, 8000 * 60) });
      const further = await SrtpPeer.open();
      at().open.push(phone, { close: async () => further.close() });
      const first = await dialled(phone, at().far);
      await phone.command('hold');
      const second = await dialled(phone, further, first.id);
      await phone.command('hold');
      const { callId, ours, theirs } = await answeredDialog(first.id);
      // It writes `Refer-To: sip:...;transport=tls?Replaces=...`.
      await phone.command('transfer', contactOf(callId, ours, theirs));
      for (const { id } of [first, second])
        expect(await at().ended(id)).toMatchObject({ termination: 'transferred', hangup_by: 'transfer' });
      await hears(at().far, further, 700);
      await hears(further, at().far, 900);
      await first.target.hangUp();
      await second.target.expect('BYE');
    });

    /** baresip calls the number, whose agent transfers the call to `far` at the trunk. */
    async function dialled(phone: Baresip, far: SrtpPeer, before?: string) {
      await phone.command('dial', `sip:${number}@127.0.0.1:${at().system.sipPort}`);
      const { id } = await at().live((call) => call.direction === 'inbound' && call.id !== before);
      expect(await at().transfer(id)).toMatchObject({ status: 200 });
      const target = await at().trunk.call();
      far.connect(target.invite.body);
      target.answer('200 OK', far.sdp());
      await target.expect('ACK');
      await eventually(
        'the transfer in the record',
        async () => (await at().notes(id)).includes(`Transferred the call to ${colleague}.`) || null,
      );
      return { id, target };
    }

    /** The dialog of a call that was answered here, from its trace. */
    async function answeredDialog(id: string) {
      const raw = await eventually('the 200 in the trace', async () =>
        (await at().system.api.trace(id)).map((one) => one.raw).find((text) => /^SIP\/2\.0 200/.test(text)),
      );
      const headerOf = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'im').exec(raw)?.[1]?.trim();
      return {
        callId: headerOf('call-id') ?? '',
        ours: tagOf(headerOf('to')),
        theirs: tagOf(headerOf('from')),
      };
    }
  });
}
