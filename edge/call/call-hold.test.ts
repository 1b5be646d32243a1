import { beforeEach, describe, expect, it } from 'vitest';
import { blind, FakeRefer, settle, TransferBench } from '../../test/kit/edge/transfer.ts';
import { CommandRefused } from './refused.ts';

let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench();
});

const reoffer = (peer: { peer: { reoffer(): Promise<string> } }) => peer.peer.reoffer();

describe('a call that we hold', () => {
  it('has its peer hear music and learn of it by re-INVITE, and its agent again afterwards', async () => {
    const { peer, agent, media } = await bench.callUp();
    bench.calls.hold('id-1', 'hold');
    expect(media.endpoint).toBe(bench.agents.holdMusic);
    expect(peer.sent).toEqual(['200', 're-INVITE']);
    expect(await reoffer(peer)).toContain('a=sendonly');
    bench.calls.hold('id-1', 'hold');
    expect(peer.sent).toHaveLength(2);

    bench.calls.hold('id-1', 'resume');
    expect(media.endpoint).toBe(agent);
    expect(peer.sent).toEqual(['200', 're-INVITE', 're-INVITE']);
    expect(await reoffer(peer)).toContain('a=sendrecv');
    bench.calls.hold('id-1', 'resume');
    expect(peer.sent).toHaveLength(3);
    expect(bench.notes).toEqual(['The call was put on hold.', 'The hold has ended.']);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('may be silent for longer than media may be missing, and is asked whether it is there', async () => {
    const { peer, media } = await bench.callUp();
    media.silentMs = 3_600_000;
    bench.calls.hold('id-1', 'hold');
    bench.clock.advance(59_999);
    expect(peer.asked).toHaveLength(0);
    bench.clock.advance(1);
    await settle();
    expect(peer.asked).toHaveLength(1);
    peer.asked[0]?.(null);
    expect(bench.record('id-1')?.ended_at).toBeNull();
    bench.calls.hold('id-1', 'resume');
    bench.clock.advance(60_000);
    await settle();
    expect(bench.record('id-1')?.termination).toBe('media_timeout');
    bench.expectNothingLeft();
  });

  it("is not expected to send when the peer's own hold has ended meanwhile", async () => {
    const { peer, media } = await bench.callUp();
    media.silentMs = 3_600_000;
    bench.calls.hold('id-1', 'hold');
    await peer.peer.reanswer(`${peer.facts.offer}a=inactive\r\n`);
    await peer.peer.reanswer(`${peer.facts.offer}a=recvonly\r\n`);
    bench.clock.advance(60_000);
    await settle();
    expect(peer.asked).toHaveLength(1);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('cannot be held before it is up, nor while it is being transferred', async () => {
    const { peer, agent } = await bench.answered();
    const hold = () => bench.calls.hold('id-1', 'hold');
    expect(hold).toThrow(CommandRefused);
    peer.peer.acknowledged(null);
    await settle();
    await bench.transfer(agent, blind());
    expect(hold).toThrow('The call is not up, or is being transferred.');
    expect(() => bench.calls.hold('another', 'resume')).toThrow(CommandRefused);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('is released by a transfer', async () => {
    const { peer, agent, media } = await bench.callUp();
    bench.calls.hold('id-1', 'hold');
    await bench.transfer(agent, blind());
    expect(peer.sent).toEqual(['200', 're-INVITE', 're-INVITE']);
    expect(media.holding).toBe(false);
    expect(media.endpoint).toBe(bench.agents.ringback);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });
});

describe('a bridged call that we hold', () => {
  const bridged = async () => {
    const { peer, agent, media } = await bench.callUp();
    await bench.transfer(agent, blind());
    const target = await bench.targetAnswers();
    return { peer, media, target, targetMedia: bench.media.last };
  };

  it.each([
    ['id-1', 'the caller'],
    ['id-3', 'the target'],
  ])('separates the legs while %s, %s, hears music', async (held) => {
    const { media, targetMedia } = await bridged();
    const [ours, other] = held === 'id-1' ? [media, targetMedia] : [targetMedia, media];
    bench.calls.hold(held, 'hold');
    expect(bench.media.bridges).toMatchObject([{ closed: 1 }]);
    expect(ours.endpoint).toBe(bench.agents.holdMusic);
    expect(ours.holding).toBe(true);
    expect(other.endpoint?.silent).toBe(true);
    expect(other.holding).toBe(false);

    bench.calls.hold(held, 'resume');
    await settle();
    expect(bench.media.bridges).toMatchObject([{ closed: 1 }, { closed: 0, legs: [media, targetMedia] }]);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('is bridged again when both are resumed', async () => {
    await bridged();
    for (const id of ['id-1', 'id-3']) bench.calls.hold(id, 'hold');
    bench.calls.hold('id-1', 'resume');
    await settle();
    expect(bench.media.bridges).toHaveLength(1);
    bench.calls.hold('id-3', 'resume');
    await settle();
    expect(bench.media.bridges).toHaveLength(2);
    expect(bench.record('id-3')?.ended_at).toBeNull();
    bench.calls.stop('id-3');
    bench.expectNothingLeft();
  });

  it('ends with the other leg', async () => {
    const { target, peer } = await bridged();
    bench.calls.hold('id-1', 'hold');
    target.peer.bye();
    expect(peer.sent.at(-1)).toBe('BYE (The target of the transfer hung up.)');
    expect(bench.record('id-1')).toMatchObject({ termination: 'bridge_ended', hangup_by: 'transfer' });
    bench.expectNothingLeft();
  });

  it('ends both when they cannot be bridged again', async () => {
    await bridged();
    bench.calls.hold('id-1', 'hold');
    bench.media.refuseBridge = true;
    bench.calls.hold('id-1', 'resume');
    await settle();
    for (const id of ['id-1', 'id-3'])
      expect(bench.record(id)).toMatchObject({ termination: 'bridge_failed', hangup_by: 'error' });
    bench.expectNothingLeft();
  });

  it('rejects a REFER meanwhile', async () => {
    const { peer } = await bridged();
    bench.calls.hold('id-1', 'hold');
    const refer = new FakeRefer('sip:201@pbx.example.com');
    peer.peer.referred(refer);
    expect(refer.said).toHaveLength(1);
    expect(refer.said[0]).toMatch(/^(?:491|403|603) /);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });
});
