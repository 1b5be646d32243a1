/** The whole system with a trunk, and an agent whose calls are transferred. */
import type { CallLogEntry } from '#shared/api/sip-calls.ts';
import type { TestKeyPair } from '../fakes/certificates.ts';
import { releaseAll } from '../fakes/release.ts';
import { SrtpPeer } from '../fakes/srtp-peer.ts';
import { type Caller, callAndTalk } from './caller.ts';
import { eventually } from './eventually.ts';
import type { TestSystem } from './harness.ts';
import { TestTrunk, type TrunkCall } from './trunk.ts';
import { attachTrunk, startTrunkSystem, trunkPair } from './trunk-system.ts';

export const number = '+14155550150';
export const colleague = '+14155550151';
export const silence = Buffer.alloc(160, 0xff);
export const loud = 1000;

export class TransferSystem {
  readonly system: TestSystem;
  readonly pair: TestKeyPair;
  readonly trunk: TestTrunk;
  readonly pathway: string;
  /** Peers to close after a test. */
  readonly open: { close(): Promise<void> }[] = [];
  #far: SrtpPeer | null = null;

  private constructor(system: TestSystem, pair: TestKeyPair, trunk: TestTrunk, pathway: string) {
    this.system = system;
    this.pair = pair;
    this.trunk = trunk;
    this.pathway = pathway;
  }

  /** @param extra settings */
  static async start(extra: Record<string, string> = {}): Promise<TransferSystem> {
    const system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '3600', ...extra });
    const pair = await trunkPair(system);
    const trunk = await TestTrunk.listen(pair);
    await attachTrunk(system, number, trunk.port, 'enable_all');
    const pathway = await system.api.pathway(
      'desk',
      [
        { id: 'ask', type: 'Default', data: { name: 'Ask', text: 'How can I help?', isStart: true } },
        { id: 'bye', type: 'End Call', data: { name: 'Bye', text: 'Until tomorrow then.' } },
      ],
      [{ id: 'e1', source: 'ask', target: 'bye', data: { label: 'User pressed 1' } }],
    );
    await system.api.answerWith(number, { pathway_id: pathway });
    await system.api.applied(number);
    return new TransferSystem(system, pair, trunk, pathway);
  }

  /** Media of the target. */
  get far(): SrtpPeer {
    if (!this.#far) throw new Error('no test has begun');
    return this.#far;
  }

  /** Before a test. */
  async begin(): Promise<void> {
    this.#far = await SrtpPeer.open();
  }

  /** After a test: ends all calls. */
  async end(): Promise<void> {
    const { system } = this;
    this.far.close();
    for (const peer of this.open.splice(0)) await peer.close();
    // A killed phone sends no BYE.
    for (const { id, ended_at } of await system.api.calls()) {
      if (ended_at === null) await system.api.ok('POST', `/v1/calls/${id}/stop`, {});
    }
    await eventually(
      'all calls to be over',
      async () => (await system.api.calls()).every(({ ended_at }) => ended_at !== null) || null,
    );
  }

  close(): Promise<void> {
    return releaseAll(
      () => this.system.stop(),
      () => this.trunk.close(),
    );
  }

  /** The running call from `from`, with its id. */
  live(wished: (call: CallLogEntry) => boolean = () => true): Promise<CallLogEntry> {
    return eventually('the call in the log', async () =>
      (await this.system.api.calls()).find(
        (call) => call.ended_at === null && call.answered_at !== null && wished(call),
      ),
    );
  }

  ended(id: string) {
    return this.system.api.endedCall(id);
  }

  async caller(): Promise<Caller> {
    const made = await callAndTalk(this.system, number);
    this.open.push(made);
    await made.media.play([silence, silence, silence, silence, silence]);
    return made;
  }

  transfer(id: string, more: Record<string, unknown> = {}) {
    const order = { call_id: id, transfer_number: colleague, ...more };
    return this.system.api.request('POST', '/v1/calls/active/transfer', order);
  }

  /** The target answers the call. */
  async answer(call: TrunkCall): Promise<void> {
    this.far.connect(call.invite.body);
    call.answer('200 OK', this.far.sdp());
    await call.expect('ACK');
  }

  async notes(id: string): Promise<string[]> {
    return (await this.system.api.detail(id)).transcripts
      .filter(({ user }) => user === 'agent-action')
      .map(({ text }) => text);
  }
}
