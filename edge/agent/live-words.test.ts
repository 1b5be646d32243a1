/** Agents that know the words of the caller while it speaks. */
import { describe, expect, it } from 'vitest';
import { settle, takeFrames } from '../../test/kit/edge/agent.ts';
import { edge, hear, menu, node, setUp } from '../../test/kit/edge/pathway-agent.ts';
import type {
  Transcriber,
  TranscriptionEvents,
  TranscriptionOptions,
} from './transcription/transcription.ts';

const longText = 'We are open from nine to five on every day of the week but Sunday.';
const long = {
  ...menu,
  nodes: [
    node('menu', 'Default', { isStart: true, text: longText }),
    node('bye', 'End Call', { text: 'Goodbye.' }),
  ],
  edges: [edge('menu', 'bye', 'anything else')],
};

/** A transcription that says what the test says. */
class Scripted implements Transcriber {
  options: TranscriptionOptions | null = null;
  #events: TranscriptionEvents | null = null;
  /** The words of the next turn. */
  next = { text: '', confidence: null as number | null, language: null as string | null };

  open(options: TranscriptionOptions, events: TranscriptionEvents) {
    this.options = options;
    this.#events = events;
    const nothing = () => undefined;
    return { write: nothing, begin: nothing, end: () => events.final(this.next), close: nothing };
  }

  /** The provider says that the turn is over. */
  turn(): void {
    this.#events?.turn('ended');
  }

  partial(text: string): void {
    this.#events?.partial({ text, confidence: null, language: null });
  }
}

async function talking(settings: Parameters<typeof setUp>[0] = {}) {
  const transcriber = new Scripted();
  const agent = setUp({
    stt: { transcribe: async () => 'nobody asks' },
    transcriber,
    config: long,
    ...settings,
  });
  await agent.begin();
  return { transcriber, ...agent };
}

describe('an agent that knows words while the caller speaks', () => {
  it("tells the transcription the call's key terms, then those of its organization", async () => {
    const { agent, transcriber } = await talking({
      settings: { key_terms: ['Lisinopril'] },
      keyTerms: ['Trunkline', 'lisinopril'],
    });
    expect(transcriber.options?.keyTerms).toEqual(['Lisinopril', 'Trunkline']);
    agent.close('over');
  });

  it('reports how sure the transcription is, and the language', async () => {
    const { agent, host, transcriber } = await talking();
    transcriber.next = { text: 'on Sunday', confidence: 0.91234, language: 'en' };
    await takeFrames(agent, longText.length + 5);
    hear(agent.write, 3000, 20);
    hear(agent.write, 0, 40);
    await settle();
    expect(host.entries.find(({ user }) => user === 'user')).toMatchObject({
      text: 'on Sunday',
      confidence: 0.912,
      language: 'en',
    });
    agent.close('over');
  });

  it('leaves out what is no confidence and no language', async () => {
    const { agent, host, transcriber } = await talking();
    transcriber.next = { text: 'on Sunday', confidence: 7, language: 'en"}' };
    await takeFrames(agent, longText.length + 5);
    hear(agent.write, 3000, 20);
    hear(agent.write, 0, 40);
    await settle();
    const line = host.entries.find(({ user }) => user === 'user');
    expect(line?.text).toBe('on Sunday');
    expect(line).not.toHaveProperty('confidence');
    expect(line).not.toHaveProperty('language');
    agent.close('over');
  });

  it('goes on after "okay, I see", though it lasts longer than an interruption', async () => {
    const { agent, host, pass, transcriber } = await talking();
    expect(await takeFrames(agent, 7)).toBe(7);
    hear(agent.write, 3000, 25);
    for (const words of ['okay', 'okay, I', 'okay, I see']) transcriber.partial(words);
    hear(agent.write, 3000, 20);
    expect(await takeFrames(agent, 5)).toBe(0);
    hear(agent.write, 0, 13);
    await pass(250);
    expect(await takeFrames(agent, 200)).toBe(longText.length - 7);
    expect(host.lines('agent-action')).toEqual([]);
    agent.close('over');
  });

  it.each([
    ['in the midst of its speech', 7, 'mhm'],
    ['shortly before its end', 40, 'mhm'],
  ])('goes on when the provider ends a turn before the pause is heard: %s', async (_when, played, words) => {
    const { agent, pass, transcriber } = await talking();
    expect(await takeFrames(agent, played)).toBe(played);
    hear(agent.write, 3000, 10);
    transcriber.partial(words);
    expect(await takeFrames(agent, 5)).toBe(0);
    hear(agent.write, 0, 4);
    transcriber.next = { text: words, confidence: null, language: 'en' };
    transcriber.turn();
    await pass(250);
    expect(await takeFrames(agent, 10)).toBeGreaterThan(0);
    agent.close('over');
  });

  it('is interrupted by the first word that is more', async () => {
    const { agent, host, transcriber } = await talking();
    await takeFrames(agent, 7);
    hear(agent.write, 3000, 10);
    transcriber.partial('okay, but');
    expect(host.lines('agent-action')).toEqual(['agent-action: Interrupted by the caller']);
    agent.close('over');
  });

  it.each([
    // threshold, frames of voice after which it is still held, and after which it is cut off
    [500, 59, 60],
    [0, 2, 3],
  ])('is interrupted by voice alone: threshold %i', async (interruption_threshold, held, cut) => {
    const { agent, host } = await talking({ settings: { interruption_threshold } });
    await takeFrames(agent, 7);
    hear(agent.write, 3000, held);
    expect(host.lines('agent-action')).toEqual([]);
    hear(agent.write, 3000, cut - held);
    expect(host.lines('agent-action')).toEqual(['agent-action: Interrupted by the caller']);
    agent.close('over');
  });
});
