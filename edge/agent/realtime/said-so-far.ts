/** The conversation of a call with its model: each line to the transcript, the last ones for the next session. */
import { type LogFact, sentenceOf } from '#shared/agent/log-facts.ts';
import { usesTool } from '#shared/agent/used-tool.ts';
import type { Clock } from '#shared/clock.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { TranscriptFact } from '#shared/edge-protocol/transcript-facts.ts';
import type { NewId } from '#shared/ids.ts';
import { recordedFact } from '../transcript.ts';
import type { SpokenLine } from './model-session.ts';

/** Lines that a new session is told, and characters of one. */
const mostLines = 60;
const longestLine = 4000;

interface Line extends SpokenLine {
  /** null: from before */
  readonly entry: TranscriptEntry | null;
  /** of the model's answer */
  readonly item: string | null;
}

export class SaidSoFar {
  readonly #report: (entry: TranscriptEntry) => void;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #newId: NewId;
  readonly #lines: Line[] = [];

  /** @param before what was said before the model came, and is in the transcript */
  constructor(
    report: (entry: TranscriptEntry) => void,
    clock: Pick<Clock, 'now'>,
    newId: NewId,
    before: readonly SpokenLine[] = [],
  ) {
    this.#report = report;
    this.#clock = clock;
    this.#newId = newId;
    for (const { user, text } of before.slice(-mostLines))
      this.#lines.push({ user, text: text.slice(0, longestLine), item: null, entry: null });
  }

  get history(): SpokenLine[] {
    return this.#lines.map(({ user, text }) => ({ user, text }));
  }

  /** The last lines with the model. */
  get own(): SpokenLine[] {
    return this.#lines.filter(({ entry }) => entry !== null).map(({ user, text }) => ({ user, text }));
  }

  user(text: string): void {
    if (text.trim() !== '') this.#add('user', text, null);
  }

  /** Words of an answer; told again, they replace those before. */
  assistant(item: string, text: string): void {
    const words = text.trim();
    const known = this.#lines.findIndex((line) => line.item === item);
    const line = this.#lines[known];
    if (!line?.entry) {
      if (words !== '') this.#add('assistant', words, item);
      return;
    }
    const entry = { ...line.entry, text: words };
    if (words === '') this.#lines.splice(known, 1);
    else this.#lines[known] = { ...line, text: words.slice(0, longestLine), entry };
    this.#report(entry);
  }

  /** What the agent did. */
  note(text: string, fact: TranscriptFact | null = null): void {
    this.#report({ ...this.#entry('agent-action', text), fact });
  }

  toolUsed(name: string): void {
    this.note(usesTool(name), { kind: 'tool_used', name });
  }

  toolEnded(how: { readonly tool: string; readonly ok: boolean; readonly error: string | null }): void {
    const fact: LogFact = { kind: 'persona_tool_ended', ...how };
    this.note(sentenceOf(fact), recordedFact(fact));
  }

  #add(user: SpokenLine['user'], text: string, item: string | null): void {
    const entry = this.#entry(user, text.trim());
    this.#lines.push({ user, text: text.trim().slice(0, longestLine), item, entry });
    if (this.#lines.length > mostLines) this.#lines.shift();
    this.#report(entry);
  }

  #entry(user: TranscriptEntry['user'], text: string): TranscriptEntry {
    const at = new Date(this.#clock.now()).toISOString();
    return { id: this.#newId(), at, user, text, node_id: null, node_name: null };
  }
}
