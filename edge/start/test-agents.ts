/**
 * What test runs over a call need of agents in the main thread. It is loaded with the first of them: all other agents
 * are in media shards.
 */
import { lazyLoad } from '#shared/lazy.ts';
import type { Gate } from '#shared/models/gate.ts';
import type { Models } from '#shared/models/models.ts';
import type { TextToSpeech } from '#shared/models/speech.ts';
import type { AgentsDeps } from '../agent/agents.ts';
import type { AgentContext, Speech } from './agents.ts';
import { clock, type EdgeContext } from './context.ts';

type TestAgentContext = AgentContext & {
  readonly settings: Pick<EdgeContext['settings'], 'models' | 'stt'>;
};

interface Loaded {
  readonly speech: Speech;
  readonly models: Models;
  readonly deps: AgentsDeps;
}

export class TestAgents {
  readonly #context: TestAgentContext;
  readonly #tts: TextToSpeech;
  readonly #gate: Gate;
  readonly #load = lazyLoad(() => (this.#loading = this.#loadNow()));
  #loading: Promise<Loaded> | null = null;
  #loaded: Loaded | null = null;
  #closed = false;

  /** @param tts and @param gate of all agents of the edge */
  constructor(context: TestAgentContext, tts: TextToSpeech, gate: Gate) {
    this.#context = context;
    this.#tts = tts;
    this.#gate = gate;
  }

  async deps(): Promise<AgentsDeps> {
    if (this.#closed) throw new Error('the edge is closing');
    this.#loaded = await this.#load();
    return this.#loaded.deps;
  }

  /** Requests of test runs to language models, and those of the whole edge that are under way. */
  metrics(): Record<string, number> {
    return (
      this.#loaded?.models.metrics('trunkline_edge_') ?? {
        trunkline_edge_model_requests: this.#gate.inside,
        trunkline_edge_model_requests_waiting: this.#gate.waiting,
      }
    );
  }

  /** Ends what is loaded, and what is being loaded. */
  async close(): Promise<void> {
    this.#closed = true;
    const loaded = await this.#loading?.catch(() => null);
    await loaded?.speech.voices.close();
  }

  async #loadNow(): Promise<Loaded> {
    const [{ agentDeps, voicesOf }, { transcriptionOf }, { createModels }] = await Promise.all([
      import('./agents.ts'),
      import('./transcription.ts'),
      import('#shared/models/models.ts'),
    ]);
    const { settings, limits } = this.#context;
    const models = createModels(settings.models, {
      clock,
      random: Math.random,
      limits: limits.models,
      gate: this.#gate,
    });
    const speech = {
      tts: this.#tts,
      ...transcriptionOf(this.#context),
      voices: voicesOf(this.#context),
    };
    return { speech, models, deps: agentDeps(this.#context, speech, models) };
  }
}
