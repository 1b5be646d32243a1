/**
 * Guarantees of a reported state. A client may act on a report before it has left the edge, so each operation here is
 * ordered inside the report that allows it.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { blind, colleague, settle, TransferBench } from '../../test/kit/edge/transfer.ts';
import { fakeAnswer } from '../../test/kit/fakes/fake-media.ts';

let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench();
});

/** Runs `work` in the first report in which a call has `status`. */
function when(status: CallRecord['status'], work: (callId: string) => void): void {
  let done = false;
  bench.onReport = (body) => {
    if (done || body.type !== 'call' || body.call.status !== status) return;
    done = true;
    work(body.call.id);
  };
}

describe('an inbound call, from the report that it is in progress', () => {
  it('is transferred to a target that is called once the ACK arrives', async () => {
    when('in-progress', (id) => bench.calls.transfer(id, blind()));
    const { peer } = await bench.answered();
    expect(bench.dialer.legs).toEqual([]);
    peer.peer.acknowledged(null);
    await settle();
    await bench.targetAnswers();
    expect(bench.record('id-1')).toMatchObject({ transferred_to: colleague });
    expect(bench.decided).toEqual(['bridge ok']);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('is transferred by a REFER that leaves after the ACK', async () => {
    when('in-progress', (id) => bench.calls.transfer(id, { ...blind(), method: 'refer' }));
    const { peer } = await bench.answered();
    expect(peer.refers).toEqual([]);
    peer.peer.acknowledged(null);
    await settle();
    expect(peer.refers).toHaveLength(1);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('accepts one transfer only, and rejects at once what the peer does not support', async () => {
    const codes: unknown[] = [];
    const codeOf = (work: () => void): unknown => {
      try {
        work();
        return 'begun';
      } catch (error) {
        return (error as { code?: unknown }).code;
      }
    };
    const { peer } = await bench.answered();
    peer.takesRefer = false;
    codes.push(codeOf(() => bench.calls.transfer('id-1', { ...blind(), method: 'refer' })));
    codes.push(codeOf(() => bench.calls.transfer('id-1', blind())));
    codes.push(codeOf(() => bench.calls.transfer('id-1', blind())));
    expect(codes).toEqual(['REFER_NOT_SUPPORTED', 'begun', 'CALL_NOT_ACTIVE']);
    bench.calls.stop('id-1');
    expect(codeOf(() => bench.calls.transfer('id-1', blind()))).toBe('CALL_NOT_ACTIVE');
    peer.peer.acknowledged(null);
    bench.expectNothingLeft();
  });

  it('ends with its transfer when the ACK never comes', async () => {
    when('in-progress', (id) => bench.calls.transfer(id, blind()));
    const { peer } = await bench.answered();
    peer.peer.lost('ack_timeout', 'No ACK.');
    await settle();
    expect(bench.decided).toEqual(['bridge not_active']);
    expect(bench.record('id-1')).toMatchObject({ termination: 'ack_timeout' });
    bench.expectNothingLeft();
  });

  it('can be ended', async () => {
    when('in-progress', (id) => bench.calls.stop(id));
    const { peer } = await bench.answered();
    peer.peer.acknowledged(null);
    await settle();
    expect(peer.sent.at(-1)).toBe('BYE (The call was stopped through the API.)');
    bench.expectNothingLeft();
  });

  it('accepts keys and a transfer from its agent', async () => {
    const { peer, agent, media } = await bench.answered();
    await agent.host.sendDtmf('12');
    const result = await bench.transfer(agent, blind());
    peer.peer.acknowledged(null);
    await settle();
    await bench.targetAnswers();
    expect(media.digits).toBe('12');
    expect(result.outcome).toEqual({ ok: true });
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });
});

describe('an outbound call', () => {
  it('is transferred once it is reported in progress and its agent is ready', async () => {
    bench.agents.ready = false;
    when('in-progress', (id) => bench.calls.transfer(id, blind()));
    bench.place();
    await settle();
    bench.dialer.last.peer.answered(fakeAnswer);
    await settle();
    expect(bench.dialer.legs).toHaveLength(1);
    bench.agents.ready = true;
    bench.agents.last.becomeReady();
    await settle();
    await bench.targetAnswers();
    expect(bench.record('placed')).toMatchObject({ transferred_to: colleague });
    bench.calls.stop('placed');
    bench.expectNothingLeft();
  });

  it.each([
    ['queued', []],
    ['ringing', ['CANCEL (The call was stopped through the API.)']],
    ['in-progress', ['BYE (The call was stopped through the API.)']],
  ] as const)('can be ended once it is reported as %s', async (status, sent) => {
    when(status, (id) => bench.calls.stop(id));
    bench.place();
    await settle();
    bench.dialer.legs[0]?.peer.progress(180, null);
    if (status !== 'ringing') bench.dialer.legs[0]?.peer.answered(fakeAnswer);
    await settle();
    expect(bench.dialer.legs[0]?.sent ?? []).toEqual(sent);
    expect(bench.record('placed')).toMatchObject({ termination: 'api_stop' });
    bench.expectNothingLeft();
  });
});

describe('a ringing call', () => {
  it('can be ended once it is reported', async () => {
    bench.agents.ready = false;
    when('ringing', (id) => bench.calls.stop(id));
    const { peer } = bench.offered();
    await settle();
    bench.clock.advance(200);
    await settle();
    expect(peer.sent).toContainEqual(expect.objectContaining({ status: 480 }));
    bench.expectNothingLeft();
  });
});
