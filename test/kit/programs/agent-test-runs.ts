/** Starts and reads runs of agent tests over a real call, for system tests. */
import { eventually } from './eventually.ts';
import type { TestSystem } from './harness.ts';

export interface VoiceView {
  readonly call_id: string;
  readonly caller_call_id: string;
  readonly sip_call_id: string;
  readonly codec: string;
  readonly turns: readonly {
    readonly turn: number;
    readonly response_latency_ms: number | null;
    readonly speech_ms: number;
    readonly silence_ms: number;
    readonly barge_in: boolean;
    readonly silent_after_ms: number | null;
    readonly overlap_ms: number;
    readonly transcript_source: string;
  }[];
  readonly latency_ms: {
    readonly p50: number | null;
    readonly p95: number | null;
    readonly max: number | null;
  };
  readonly first_audio_ms: number | null;
  readonly longest_silence_ms: number | null;
  readonly overlap_ms: number;
  readonly media: { readonly verdict: string; readonly mos: number | null };
  readonly caller_media: {
    readonly verdict: string;
    readonly mos: number | null;
    readonly packets_received: number;
    readonly packets_lost: number;
  };
  readonly dtmf_sent: readonly string[];
}

export interface RunView {
  readonly status: string;
  readonly turn_count: number;
  readonly reasoning: string | null;
  readonly error_message: string | null;
  readonly chat_history: readonly { role: string; content: string; turn: number; node_id: string | null }[];
  readonly nodes_visited: readonly string[];
  readonly assertion_results: readonly { type: string; status: string }[];
  readonly transport: string;
  readonly voice: VoiceView | null;
}

/** Long enough for the longest call of a test. */
const runLimitMs = 150_000;

export class AgentTestRuns {
  readonly #system: TestSystem;

  constructor(system: TestSystem) {
    this.#system = system;
  }

  /** @param body with `pathway_id` or `persona_id` @returns the scenario's id */
  async scenario(body: Record<string, unknown>): Promise<string> {
    const { data } = await this.#system.api.ok<{ data: { id: string } }>(
      'POST',
      '/v1/agent-testing/scenarios',
      { category: 'HAPPY_PATH', ...body },
    );
    return data.id;
  }

  /** Starts a run over a call. @returns its id */
  async start(scenarioId: string, phone_number: string, body: Record<string, unknown> = {}): Promise<string> {
    const { data } = await this.#system.api.ok<{ data: { run_id: string } }>(
      'POST',
      `/v1/agent-testing/scenarios/${scenarioId}/run`,
      { transport: 'sip', phone_number, seed: 1, ...body },
    );
    return data.run_id;
  }

  async read(id: string): Promise<RunView> {
    return (await this.#system.api.ok<{ data: RunView }>('GET', `/v1/agent-testing/runs/${id}`)).data;
  }

  ended(id: string): Promise<RunView> {
    return eventually(
      `the end of run ${id}`,
      async () => {
        const now = await this.read(id);
        return now.status === 'PENDING' || now.status === 'RUNNING' ? null : now;
      },
      runLimitMs,
    );
  }

  /** Resolves when no call and no call port is left. */
  async noCallIsUp(): Promise<void> {
    await eventually('all calls to be over', async () => {
      const calls = await this.#system.api.calls();
      return calls.every(({ ended_at }) => ended_at !== null) || null;
    });
    await eventually('all RTP ports to be free', async () =>
      (await this.#system.busyRtpPorts()).length === 0 ? true : null,
    );
  }

  /** A run over a call, with its verdict. @throws Error when there was no call */
  async voiceOf(scenarioId: string, phone_number: string): Promise<RunView & { readonly voice: VoiceView }> {
    const run = await this.ended(await this.start(scenarioId, phone_number));
    if (!run.voice) throw new Error(`run without a call: ${run.status} ${run.error_message}`);
    return { ...run, voice: run.voice };
  }
}
