/** Texts that this edge speaks itself on calls, in the voice of their agents. */
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import type { TextToSpeech } from '#shared/models/speech.ts';
import { clock } from './context.ts';

/** Hz */
export const spokenRate = 8_000;

/** Rejects when it fails, and after `ms`. */
export async function spokenIn(
  ms: number,
  tts: TextToSpeech,
  text: string,
  agent: Pick<AgentSettings, 'voice' | 'language'> | null,
): Promise<Int16Array> {
  const limit = Promise.withResolvers<never>();
  const timer = clock.after(ms, () => limit.reject(new Error('it took too long')));
  try {
    const options = {
      voice: agent?.voice ?? null,
      language: agent?.language ?? 'en-US',
      sampleRate: spokenRate,
    };
    return await Promise.race([tts.synthesize(text, options), limit.promise]);
  } finally {
    timer.cancel();
  }
}
