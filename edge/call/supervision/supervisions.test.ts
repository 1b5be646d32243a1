/** Supervisors at calls built from fakes. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import { blind, FakeRefer, settle, TransferBench, unspeakable } from '../../../test/kit/edge/transfer.ts';
import { echoAgent } from '../../../test/kit/fakes/fake-agents.ts';
import { FakeLeg } from '../../../test/kit/fakes/fake-leg.ts';
import { supervisionLimits } from './limits.ts';

const task = { ...echoAgent, kind: 'task', task: 'Help.' } as AgentSettings;
const callId = 'id-1';

let bench: TransferBench;
beforeEach(() => {
  bench = new TransferBench({}, 20);
});

/** A supervisor joins the call. */
async function join(sessionId = 's-1', of = callId, orgId = 'org-1') {
  const peer = new FakeLeg({ from: `Ada ${sessionId}`, browser: true });
  bench.calls.admit(
    peer,
    {
      orgId,
      number: 'supervise',
      trunkId: null,
      agent: null,
      variables: {},
      parentId: of,
      supervises: { callId: of, sessionId, tone: false },
    },
    ['PCMU'],
  );
  await settle();
  const id = bench.reports.flatMap((body) => (body.type === 'call' ? [body.call.id] : [])).at(-1) ?? '';
  const media = bench.media.last;
  peer.peer.answered();
  peer.peer.acknowledged(null);
  await settle();
  return { peer, id, media };
}

const change = (
  ...order: [sessionId: string, mode: 'listen' | 'whisper' | 'barge' | 'take_over', note?: string]
) => bench.calls.supervisions.change(callId, order[0], order[1], order[2] ?? null);
const silent = { silent: true };

describe('a supervisor', () => {
  it('joins a call, changes its mode, and leaves; the call goes on', async () => {
    const { media } = await bench.callUp();
    const supervisor = await join();
    expect(bench.media.supervisions).toMatchObject([
      { leg: media, supervisor: supervisor.media, options: { agent: 'far', tone: false } },
    ]);
    expect(bench.calls.supervisions.size).toBe(1);
    change('s-1', 'whisper');
    change('s-1', 'whisper');
    change('s-1', 'barge');
    expect(bench.media.supervisions[0]?.modes).toEqual(['whisper', 'barge']);
    supervisor.peer.peer.bye();
    await settle();
    expect(bench.media.supervisions[0]?.over).toBe(true);
    expect(bench.record(supervisor.id)).toMatchObject({ parent_id: callId, termination: 'caller_hangup' });
    expect(bench.record(callId)?.ended_at).toBeNull();
    bench.calls.stop(callId);
    await settle();
    expect(bench.shard.host.size).toBe(0);
    bench.expectNothingLeft();
  });

  it('of the leg to a transfer target has the agent at its near side, unless that is one of ours', async () => {
    const { agent, peer } = await bench.callUp();
    await bench.transfer(agent, blind());
    await bench.targetAnswers();
    const newest = () => bench.calls.underWay().oldest.at(-1)?.id;
    await join('s-1', newest());
    bench.calls.stop(callId);
    const { peer: referring } = await bench.callUp();
    referring.peer.referred(new FakeRefer());
    await settle();
    await bench.targetAnswers();
    await join('s-2', newest());
    expect(bench.media.supervisions.map(({ options }) => options.agent)).toEqual(['near', 'far']);
    expect(peer.sent).toHaveLength(2);
    bench.calls.endAll({ code: 'api_stop', detail: null });
    await settle();
    bench.expectNothingLeft();
  });

  it('leaves the leg to a transfer target when an agent of ours goes on with it: a whisper would reach the target', async () => {
    const { peer } = await bench.callUp();
    const bridged = await bench.callUp();
    await bench.transfer(bridged.agent, blind());
    await bench.targetAnswers();
    const legId = bench.calls.underWay().oldest.at(-1)?.id ?? '';
    const supervisor = await join('s-1', legId);
    bench.calls.supervisions.change(legId, 's-1', 'whisper', null);
    const refer = new FakeRefer('sip:edge.example.com', 'call-1@test;to-tag=ours;from-tag=theirs');
    peer.peer.referred(refer, bridged.peer);
    await settle();
    expect(refer.said).toEqual(['202', 'NOTIFY 200 OK']);
    expect(bench.media.supervisions.map(({ over }) => over)).toEqual([true]);
    expect(bench.record(supervisor.id)).toMatchObject({ termination: 'supervision_ended' });
    bench.calls.endAll({ code: 'api_stop', detail: null });
    await settle();
    bench.expectNothingLeft();
  });

  it('takes the call over from its agent, which learns what was said when it gets it back', async () => {
    const { agent, media } = await bench.callUp(task);
    await join();
    change('s-1', 'take_over');
    expect(media.endpoint).toMatchObject(silent);
    bench.clock.advance(42_000);
    change('s-1', 'listen', 'They get a refund.');
    await settle();
    expect(media.endpoint).toBe(agent);
    expect(agent.told).toEqual([
      'A supervisor spoke with the person in your place for 42 seconds, and you heard nothing of it. About it the supervisor says: They get a refund. Now it is your turn again: go on from there, and do not start over.',
    ]);
    expect(bench.notes).toEqual([
      'A supervisor took the call over.',
      'The supervisor gave the call back after 42 seconds.',
    ]);
  });

  it.each(['hangs up', 'loses its browser'])('who %s gives the call back', async (how) => {
    const { agent, media } = await bench.callUp(task);
    const supervisor = await join();
    change('s-1', 'take_over');
    if (how === 'hangs up') supervisor.peer.peer.bye();
    else supervisor.peer.peer.lost('connection_lost', 'The connection closed.');
    await settle();
    expect(media.endpoint).toBe(agent);
    expect(agent.told).toHaveLength(1);
  });

  it('has its call end with the one that it supervises', async () => {
    const { peer } = await bench.callUp(task);
    const supervisor = await join();
    change('s-1', 'take_over');
    peer.peer.bye();
    await settle();
    expect(bench.record(supervisor.id)?.termination).toBe('supervision_ended');
    expect(supervisor.peer.sent.at(-1)).toMatch(/^BYE/);
    expect(bench.calls.supervisions.size).toBe(0);
    bench.expectNothingLeft();
  });

  it('finds the call over when it comes too late', async () => {
    const { peer } = await bench.callUp();
    peer.peer.bye();
    await settle();
    const supervisor = await join();
    expect(bench.record(supervisor.id)).toMatchObject({
      termination: 'supervision_ended',
      termination_detail: 'The call to supervise is not up.',
    });
    expect(bench.media.supervisions).toEqual([]);
  });

  it.each<[string, string, (own: string) => string, string]>([
    ['a call of another organization', 'org-2', () => callId, 'The call to supervise is not up.'],
    ['a call that is over', 'org-1', () => 'id-9', 'The call to supervise is not up.'],
    ['the call of a supervisor', 'org-1', (own) => own, 'The call to supervise is that of a supervisor.'],
  ])('cannot join %s', async (_, orgId, of, why) => {
    await bench.callUp();
    const { id } = await join();
    expect(bench.calls.supervisions.obstacle(orgId, of(id))).toBe(why);
    expect(bench.calls.supervisions.obstacle('org-1', callId)).toBeNull();
  });

  it('is one of three at most, of whom one alone may take the call over', async () => {
    await bench.callUp();
    for (const id of ['s-1', 's-2', 's-3']) await join(id);
    expect(supervisionLimits.mostAtCall).toBe(3);
    expect(bench.calls.supervisions.obstacle('org-1', callId)).toBe(
      'The call has 3 supervisors, and takes no more.',
    );
    change('s-1', 'take_over');
    change('s-2', 'barge');
    expect(() => change('s-2', 'take_over')).toThrow(
      expect.objectContaining({
        code: 'CALL_TAKEN_OVER',
        message: 'Ada s-1 has taken the call over: it must be given back first.',
      }),
    );
    change('s-1', 'listen');
    change('s-2', 'take_over');
    expect(() => change('s-4', 'listen')).toThrow(expect.objectContaining({ code: 'SUPERVISOR_NOT_THERE' }));
  });

  it('cannot take over a call on hold; one that was taken over has its music, and is still taken over after it', async () => {
    const { agent, media } = await bench.callUp(task);
    await join();
    bench.calls.hold(callId, 'hold');
    expect(() => change('s-1', 'take_over')).toThrow(expect.objectContaining({ code: 'CALL_NOT_ACTIVE' }));
    bench.calls.hold(callId, 'resume');
    change('s-1', 'take_over');
    bench.calls.hold(callId, 'hold');
    expect(media.endpoint).toBe(bench.agents.holdMusic);
    bench.calls.hold(callId, 'resume');
    expect(media.endpoint).toMatchObject(silent);
    bench.calls.hold(callId, 'hold');
    change('s-1', 'listen');
    expect(media.endpoint).toBe(bench.agents.holdMusic);
    bench.calls.hold(callId, 'resume');
    expect(media.endpoint).toBe(agent);
  });

  it('can neither be put on hold nor parked nor transferred', async () => {
    await bench.callUp();
    const { id } = await join();
    expect(() => bench.calls.hold(id, 'hold')).toThrow('not up');
    expect(() => bench.calls.transfer(id, blind())).toThrow('It is the call of a supervisor.');
    expect(() => bench.calls.park(id, { slot: '7', timeoutMs: 60_000, atEnd: 'end' })).toThrow();
  });

  it('goes on to hear a call that is transferred', async () => {
    const { agent, media } = await bench.callUp();
    await join();
    await bench.transfer(agent, blind());
    bench.dialer.last.peer.answered('v=0');
    await settle();
    change('s-1', 'take_over');
    change('s-1', 'listen');
    expect(bench.media.supervisions[0]).toMatchObject({ leg: media, over: false });
  });

  it('ends with the shard that carries both', async () => {
    await bench.callUp();
    const { id } = await join();
    bench.shard.shard.lost(new Error('the shard died'));
    await settle();
    expect(bench.record(callId)?.termination).toBe('media_lost');
    expect(bench.record(id)?.ended_at).not.toBeNull();
    expect(bench.calls.supervisions.size).toBe(0);
  });
});

describe('a text for the agent', () => {
  const whisper = (text: string, of = callId) => bench.calls.supervisions.whisper(of, text);
  const second = 8000;

  /** The call, and its leg to the person. */
  async function transferred() {
    const { agent, media } = await bench.callUp(task);
    await bench.transfer(agent, blind());
    await bench.targetAnswers();
    const legs = bench.reports.flatMap((body) => (body.type === 'call' ? [body.call] : []));
    const id = legs.find(({ parent_id }) => parent_id === callId)?.id ?? '';
    return { media, target: { id, media: bench.media.last } };
  }

  it('reaches its model, and the transcript', async () => {
    const { agent } = await bench.callUp(task);
    await bench.calls.supervisions.whisper(callId, 'Offer a refund.');
    expect(agent.told).toEqual(['A supervisor, whom the person does not hear, tells you: Offer a refund.']);
    expect(bench.notes).toEqual(['A supervisor told the agent: Offer a refund.']);
  });

  it('is refused for an agent without a model, and for a call that is not up', async () => {
    await bench.callUp();
    await expect(whisper('Hello')).rejects.toMatchObject({ code: 'AGENT_TAKES_NO_TEXT' });
    await expect(whisper('Hello', 'id-9')).rejects.toMatchObject({ code: 'CALL_NOT_ACTIVE' });
  });

  it('is spoken to the person to whom the call was transferred, by either of its legs', async () => {
    const { media, target } = await transferred();
    await whisper('Offer a refund.');
    await whisper('Say sorry.', target.id);
    expect(media.told).toEqual([{ side: 'far', samples: 15 * second }]);
    expect(target.media.told).toEqual([{ side: 'near', samples: 10 * second }]);
    expect(bench.notes.slice(-2)).toEqual([
      'A supervisor told the person: Offer a refund.',
      'A supervisor told the person: Say sorry.',
    ]);
  });

  it('waits for no more than three minutes of others', async () => {
    const { media } = await transferred();
    const long = 'a'.repeat(100);
    await whisper(long);
    await expect(whisper(long)).rejects.toMatchObject({
      code: 'AGENT_TAKES_NO_TEXT',
      message: 'The person still hears earlier texts: wait until they are said, or whisper with your voice.',
    });
    bench.clock.advance(21_000);
    await whisper(long);
    expect(media.told).toHaveLength(2);
  });

  it('that cannot be spoken is refused, and one for a call on hold, or that ends meanwhile', async () => {
    const { media } = await transferred();
    await expect(whisper(unspeakable)).rejects.toMatchObject({ code: 'AGENT_TAKES_NO_TEXT' });
    bench.calls.hold(callId, 'hold');
    await expect(whisper('Hello')).rejects.toMatchObject({ code: 'CALL_NOT_ACTIVE' });
    bench.calls.hold(callId, 'resume');
    await settle();
    const told = expect(whisper('Hello')).rejects.toMatchObject({ code: 'CALL_NOT_ACTIVE' });
    bench.calls.stop(callId);
    await told;
    expect(media.told).toEqual([]);
  });
});
