/** Starts and reads runs of agent tests over a real call, for system tests. */
import { type Run, RunAnswer, RunStarted, type Voice } from '#shared/api/agent-testing/runs.ts';
import { ScenarioAnswer } from '#shared/api/agent-testing/scenarios.ts';
import { eventually } from './eventually.ts';
import type { TestSystem } from './harness.ts';

/** Of a run whose call the edge has reported. */
export type VoiceOfCall = Voice & { readonly call_id: string };

/** Long enough for the longest call of a test. */
const runLimitMs = 150_000;

export class AgentTestRuns {
  readonly #system: Pick<TestSystem, 'api'>;

  constructor(system: Pick<TestSystem, 'api'>) {
    this.#system = system;
  }

  /** @param body with `pathway_id` or `persona_id` @returns the scenario's id */
  async scenario(body: Record<string, unknown>): Promise<string> {
    const order = { category: 'HAPPY_PATH', ...body };
    return (await this.#system.api.read(ScenarioAnswer, 'POST', '/v1/agent-testing/scenarios', order)).id;
  }

  /** Starts a run over a call. @returns its id */
  async start(scenarioId: string, phone_number: string, body: Record<string, unknown> = {}): Promise<string> {
    const path = `/v1/agent-testing/scenarios/${scenarioId}/run`;
    const order = { transport: 'sip', phone_number, seed: 1, ...body };
    return (await this.#system.api.read(RunStarted, 'POST', path, order)).run_id;
  }

  async read(id: string): Promise<Run> {
    return (await this.#system.api.read(RunAnswer, 'GET', `/v1/agent-testing/runs/${id}`)).data;
  }

  ended(id: string): Promise<Run> {
    return eventually(
      `the end of run ${id}`,
      async () => {
        const now = await this.read(id);
        return now.status === 'PENDING' || now.status === 'RUNNING' ? null : now;
      },
      runLimitMs,
    );
  }

  /** The recording of a run that has ended, as soon as it is there: WAV, 16 bit, two channels at 8 kHz. */
  async recording(id: string): Promise<{ readonly left: Int16Array; readonly right: Int16Array }> {
    const wav = await eventually(`the recording of run ${id}`, async () => {
      const path = `/v1/agent-testing/runs/${id}/recording`;
      const { bytes, status } = await this.#system.api.request('GET', path);
      return status === 200 ? bytes : null;
    });
    const isExpected =
      wav.toString('latin1', 0, 4) === 'RIFF' && wav.readUInt16LE(22) === 2 && wav.readUInt32LE(24) === 8000;
    if (!isExpected) throw new Error(`not a WAV of two channels at 8 kHz: ${wav.toString('hex', 0, 44)}`);
    const count = Math.floor((wav.length - 44) / 4);
    const channel = (offset: number) =>
      Int16Array.from({ length: count }, (_, i) => wav.readInt16LE(44 + 4 * i + offset));
    return { left: channel(0), right: channel(2) };
  }

  /** A run over a call, with its verdict. @throws Error when there was no call */
  async voiceOf(scenarioId: string, phone_number: string): Promise<Run & { readonly voice: VoiceOfCall }> {
    const run = await this.ended(await this.start(scenarioId, phone_number));
    const call_id = run.voice?.call_id;
    if (!run.voice || !call_id) throw new Error(`run without a call: ${run.status} ${run.error_message}`);
    return { ...run, voice: { ...run.voice, call_id } };
  }
}

/** Resolves when no call and no call port is left. */
export async function noCallIsUp(system: TestSystem): Promise<void> {
  await eventually('all calls to be over', async () => {
    const calls = await system.api.calls();
    return calls.every(({ ended_at }) => ended_at !== null) || null;
  });
  await eventually('all RTP ports to be free', async () =>
    (await system.busyRtpPorts()).length === 0 ? true : null,
  );
}
