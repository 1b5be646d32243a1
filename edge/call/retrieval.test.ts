/** What happens while a parked call is being joined with the one that retrieves it. */
import { beforeEach, describe, expect, it } from 'vitest';
import { blind, settle, TransferBench } from '../../test/kit/edge/transfer.ts';
import type { ParkOrder } from './ports/park.ts';

let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench();
});

const inSlot = (slot: string, atEnd: ParkOrder['atEnd'] = 'agent'): ParkOrder => ({
  slot,
  timeoutMs: 60_000,
  atEnd,
});

/** `id-1`, which is parked in slot 7, and another call that begins to retrieve it. */
async function joining(atEnd: ParkOrder['atEnd'] = 'agent', refused = false) {
  const parked = await bench.callUp();
  const by = await bench.callUp();
  const ids = new Set(bench.reports.flatMap((body) => (body.type === 'call' ? [body.call.id] : [])));
  const [, byId = ''] = [...ids];
  bench.calls.park('id-1', inSlot('7', atEnd));
  bench.media.refuseBridge = refused;
  const outcome = bench.calls.retrieve('id-1', byId).then(
    () => 'joined',
    ({ code, message }) => `${code}: ${message}`,
  );
  return { parked, by, byId, outcome };
}

function endAll(): void {
  bench.calls.endAll({ code: 'api_stop', detail: null });
  bench.expectNothingLeft();
}

describe('while a parked call is being joined', () => {
  it('the one that retrieves has its agent again when the peer of the parked one hangs up', async () => {
    const { parked, by, byId, outcome } = await joining();
    parked.peer.peer.bye();
    expect(await outcome).toBe('CALL_NOT_PARKED: The call in slot 7 has ended.');
    expect(bench.record(byId)?.ended_at).toBeNull();
    expect(by.media.endpoint).toBe(by.agent);
    endAll();
  });

  it('the parked one stays in its slot when the one that retrieves hangs up', async () => {
    const { parked, by, outcome } = await joining();
    by.peer.peer.bye();
    expect(await outcome).toBe('CALL_NOT_ACTIVE: The call is over.');
    expect(bench.record('id-1')?.ended_at).toBeNull();
    expect(parked.media.endpoint).toBe(bench.agents.holdMusic);
    bench.clock.advance(60_000);
    expect(parked.media.endpoint).toBe(parked.agent);
    endAll();
  });

  it('the one that retrieves has its agent again when the other one is parked in another slot', async () => {
    const { parked, by, byId, outcome } = await joining();
    bench.calls.park('id-1', inSlot('8'));
    expect(await outcome).toBe('CALL_NOT_PARKED: The call in slot 7 was parked in another one.');
    expect(bench.record(byId)?.ended_at).toBeNull();
    expect(by.media.endpoint).toBe(by.agent);
    expect(parked.media.endpoint).toBe(bench.agents.holdMusic);
    await bench.calls.retrieve('id-1', byId);
    endAll();
  });

  it('the parked one stays in its slot when the one that retrieves is parked', async () => {
    const { parked, by, byId, outcome } = await joining();
    bench.calls.park(byId, inSlot('8'));
    expect(await outcome).toBe('CALL_NOT_ACTIVE: The call that retrieves was parked.');
    for (const { media } of [parked, by]) expect(media.endpoint).toBe(bench.agents.holdMusic);
    endAll();
  });

  it.each(['agent', 'end'] as const)('its time does not end, with on_timeout %s', async (atEnd) => {
    const { byId, outcome } = await joining(atEnd);
    bench.clock.advance(60_000);
    expect(await outcome).toBe('joined');
    expect(bench.record(byId)).toMatchObject({ transferred_to: 'park:7', ended_at: null });
    expect(bench.notes).toContain('Joined with call id-1 from slot 7.');
    endAll();
  });

  it('its time ends when that has failed', async () => {
    const { parked, by, outcome } = await joining('end', true);
    bench.clock.advance(60_000);
    expect(await outcome).toBe('CALL_NOT_PARKED: The call in slot 7 has ended.');
    expect(bench.record('id-1')).toMatchObject({ termination: 'park_timeout' });
    expect(parked.media.closed).toBe(1);
    expect(by.media.endpoint).toBe(by.agent);
    endAll();
  });

  it('neither of them can be resumed, held, transferred or retrieved again', async () => {
    const { parked, byId, outcome } = await joining();
    const third = parked.agent.host.transfer(blind('park:7'));
    expect(() => bench.calls.hold('id-1', 'resume')).toThrow('being retrieved');
    expect(() => bench.calls.hold(byId, 'hold')).toThrow();
    for (const id of ['id-1', byId])
      expect(() => bench.calls.transfer(id, blind())).toThrow('It is being joined with call');
    expect(await third).toMatchObject({ ok: false, code: 'not_active' });
    expect(await outcome).toBe('joined');
    endAll();
  });
});

describe('a call that is on hold or parked', () => {
  it.each(['on hold', 'parked'])('retrieves another one when it is %s, which ends that', async (how) => {
    const { by, byId, outcome } = await joining('agent', true);
    await outcome;
    bench.media.refuseBridge = false;
    if (how === 'on hold') bench.calls.hold(byId, 'hold');
    else bench.calls.park(byId, inSlot('8', 'end'));
    await bench.calls.transfer(byId, blind('park:7'));
    expect(by.media.holding).toBe(false);
    bench.clock.advance(60_000);
    await settle();
    expect(bench.record(byId)?.ended_at).toBeNull();
    endAll();
  });
});
