/** Shared by the tests of transfers: calls built from fakes, and a live call. */
import { expect } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { HeaderMapping } from '#shared/edge-protocol/numbers.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { OutboundParts } from '../../../edge/call/call-deps.ts';
import { Calls, type CallsDeps } from '../../../edge/call/calls.ts';
import type { PeerRefer } from '../../../edge/call/ports/refer.ts';
import type { TransferOrder, TransferOutcome } from '../../../edge/call/ports/transfer.ts';
import { echoAgent, type FakeAgent, FakeAgents } from '../fakes/fake-agents.ts';
import { FakeDialer, type FakeOutboundLeg } from '../fakes/fake-dialer.ts';
import { FakeRoutes, hopAt } from '../fakes/fake-hunt.ts';
import { FakeLeg } from '../fakes/fake-leg.ts';
import { FakeMedia, type FakeMediaLeg, fakeAnswer } from '../fakes/fake-media.ts';
import { QuietLog } from '../fakes/quiet-log.ts';
import { loopback } from './loopback.ts';

/** Lets every pending promise settle. */
export const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

export const colleague = '+14155550199';

export const blind = (target = colleague): TransferOrder => ({ target, method: 'bridge', consult: null });

/** A final response of the target that ends the attempt. */
export const refusal = (status: number, reason: string) => ({
  status,
  reason,
  warning: null,
  retryAfterS: null,
  authenticated: false,
});

/** A REFER from the peer that records our responses. */
export class FakeRefer implements PeerRefer {
  readonly target: string;
  readonly replaces: string | null;
  readonly referredBy = '<sip:caller@192.0.2.1>';
  readonly said: string[] = [];
  why: string | null = null;

  constructor(target = 'sip:201@pbx.example.com', replaces: string | null = null) {
    this.target = target;
    this.replaces = replaces;
  }

  accept(): void {
    this.said.push('202');
  }
  refuse(status: number, reason: string, why?: string): void {
    this.why = why ?? null;
    this.said.push(`${status} ${reason}`);
  }
  notify(status: number, reason: string): void {
    this.said.push(`NOTIFY ${status} ${reason}`);
  }
  /** The subscription ends with 503. */
  expire: () => void = () => {};
  onExpiry(expired: () => void): void {
    this.expire = expired;
  }
}

/** A text that the voice of the bench does not speak. */
export const unspeakable = 'unspeakable';

export class TransferBench {
  readonly clock = new FakeClock(Date.UTC(2030, 0, 1));
  readonly media = new FakeMedia();
  readonly agents = new FakeAgents();
  /** Media and agents are in a shard. */
  readonly shard = loopback(this.media, this.agents);
  readonly routes = new FakeRoutes();
  readonly dialer = new FakeDialer();
  readonly reports: ReportBody[] = [];
  readonly decided: string[] = [];
  /** Called with each report while it is being made. */
  onReport: (body: ReportBody) => void = () => {};
  /** Called with each transfer. */
  onTransfer: NonNullable<CallsDeps['onTransfer']> = () => () => {};
  readonly calls: Calls;

  constructor(
    changes: Partial<OutboundParts> = {},
    maxCalls = 4,
    limits?: CallsDeps['limits'],
    conferences: Pick<CallsDeps, 'conferenceLimits' | 'conferenceRefused'> = {},
  ) {
    this.routes.hops = [hopAt(5061)];
    let next = 1;
    this.calls = new Calls({
      clock: this.clock,
      media: this.shard.shard,
      agents: this.shard.shard,
      log: new QuietLog(),
      newId: () => `id-${next++}`,
      maxCalls,
      ...(limits && { limits }),
      ...conferences,
      settings: { ringAfterMs: 200, prepareTimeoutMs: 5000, mediaTimeoutMs: 60_000 },
      reporter: {
        report: (body) => {
          this.reports.push(body);
          this.onReport(body);
        },
      },
      outbound: {
        routes: this.routes,
        dialer: this.dialer,
        ringTimeoutMs: 30_000,
        headersOf: (mappings: readonly HeaderMapping[], variables) =>
          Object.fromEntries(
            mappings.flatMap((mapping) =>
              mapping.type === 'custom' ? [[mapping.value, String(variables[mapping.key])]] : [],
            ),
          ),
        ...changes,
      },
      // A second for each character.
      speak: async (text) => {
        if (text === unspeakable) throw new Error('no voice');
        return new Int16Array(text.length * 8000);
      },
      onTransfer: (kind, call) => {
        const decided = this.onTransfer(kind, call);
        return (outcome, legId) => {
          this.decided.push(`${kind} ${outcome.ok ? 'ok' : outcome.code}`);
          decided(outcome, legId);
        };
      },
    });
  }

  /** A new inbound call. */
  offered(agent: Partial<AgentSettings> = {}): { peer: FakeLeg } {
    const peer = new FakeLeg();
    this.calls.admit(
      peer,
      {
        orgId: 'org-1',
        number: '+14155550100',
        trunkId: 'trunk-1',
        agent: { ...echoAgent, ...agent } as AgentSettings,
        variables: { customer: '42' },
      },
      ['PCMU'],
    );
    return { peer };
  }

  /** An answered inbound call that awaits its ACK. */
  async answered(
    agent: Partial<AgentSettings> = {},
  ): Promise<{ peer: FakeLeg; agent: FakeAgent; media: FakeMediaLeg }> {
    const { peer } = this.offered(agent);
    await settle();
    const media = this.media.last;
    peer.peer.answered();
    return { peer, agent: this.agents.last, media };
  }

  /** An inbound call that is up, with its peer, agent and media. */
  async callUp(
    agent: Partial<AgentSettings> = {},
  ): Promise<{ peer: FakeLeg; agent: FakeAgent; media: FakeMediaLeg }> {
    const answered = await this.answered(agent);
    answered.peer.peer.acknowledged(null);
    await settle();
    return answered;
  }

  /** Inbound calls that are up, with their ids. */
  async callsUp(count: number) {
    const made = [];
    for (let i = 0; i < count; i++) {
      const call = await this.callUp();
      const ids = this.reports.flatMap((body) => (body.type === 'call' ? [body.call.id] : []));
      made.push({ ...call, id: ids.at(-1) ?? '' });
    }
    return made;
  }

  /** Places an outbound call that is not answered yet. */
  place(): void {
    this.calls.place({
      callId: 'placed',
      orgId: 'org-1',
      from: '+14155550100',
      to: '+14155550123',
      agent: echoAgent,
      variables: {},
    });
  }

  /** An outbound call that is up. */
  async placedUp(): Promise<{ peer: FakeOutboundLeg; agent: FakeAgent; media: FakeMediaLeg }> {
    this.place();
    await settle();
    const peer = this.dialer.last;
    peer.peer.answered(fakeAnswer);
    await settle();
    return { peer, agent: this.agents.last, media: this.media.last };
  }

  /** Starts a transfer for the agent. `outcome` is null until known. */
  async transfer(
    agent: FakeAgent,
    order: TransferOrder,
  ): Promise<{ readonly outcome: TransferOutcome | null }> {
    const result: { outcome: TransferOutcome | null } = { outcome: null };
    void agent.host.transfer(order).then((outcome) => {
      result.outcome = outcome;
    });
    await settle();
    return result;
  }

  /** The target of the last leg answers. */
  async targetAnswers(): Promise<FakeOutboundLeg> {
    const leg = this.dialer.last;
    leg.peer.answered(fakeAnswer);
    await settle();
    return leg;
  }

  /** The last report of the call. */
  record(id: string): CallRecord | undefined {
    return this.reports
      .flatMap((report) => (report.type === 'call' ? [report.call] : []))
      .findLast((call) => call.id === id);
  }

  /** The calls' own transcript notes, in order. */
  get notes(): string[] {
    return this.reports.flatMap((report) =>
      report.type === 'transcript' ? report.entries.map(({ text }) => text) : [],
    );
  }

  expectNothingLeft(): void {
    expect(this.calls.size).toBe(0);
    expect(this.clock.pending).toBe(0);
    expect(this.media.legs.filter(({ closed }) => closed === 0)).toEqual([]);
    expect(this.media.bridges.filter(({ closed }) => closed === 0)).toEqual([]);
    expect(this.agents.created.filter(({ closedFor }) => closedFor.length === 0)).toEqual([]);
  }
}
