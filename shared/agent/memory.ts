import { isBuiltIn } from './built-in-names.ts';
import { type SaidText, WordsHeard } from './heard-words.ts';
import { instructionsSection, withInstruction } from './instructions.ts';
import type { Turn, Variables } from './interfaces.ts';

/** What a conversation knows, as plain data. */
export interface MemoryState {
  readonly learned: Variables;
  readonly turns: readonly Turn[];
  readonly input: string;
  /** Of supervisors; absent: none. */
  readonly instructions?: readonly string[];
}

/** What a conversation knows: the variables it was given, those it extracted, and the history. */
export class Memory {
  readonly #given: Variables;
  #learned: Variables = {};
  readonly #builtIns: () => Variables;
  #turns: Turn[];
  #input = '';
  #instructions: readonly string[] = [];
  /** Turns before the agent's current one. */
  #before = 0;

  constructor(given: Variables, builtIns: () => Variables, history: readonly Turn[] = []) {
    this.#given = Object.fromEntries(Object.entries(given).filter(([name]) => !isBuiltIn(name)));
    this.#builtIns = builtIns;
    this.#turns = [...history];
  }

  snapshot(): MemoryState {
    const instructions = this.#instructions.length > 0 && { instructions: this.#instructions };
    return structuredClone({
      learned: this.#learned,
      turns: this.#turns,
      input: this.#input,
      ...instructions,
    });
  }

  restore(state: MemoryState): void {
    const { learned, turns, input, instructions = [] } = structuredClone(state);
    this.#instructions = instructions;
    this.#learned = learned;
    this.#turns = [...turns];
    this.#input = input;
  }

  /** All current variables for templates; built-in ones win (contract 9.4). */
  get variables(): Variables {
    return { ...this.#given, ...this.#learned, ...this.#builtIns(), input: this.#input };
  }

  get learned(): Variables {
    return { ...this.#learned };
  }

  get history(): readonly Turn[] {
    return this.#turns;
  }

  /** What supervisors have said, as a section of the prompt. */
  get instructions(): string {
    return instructionsSection(this.#instructions);
  }

  instruct(text: string): void {
    this.#instructions = withInstruction(this.#instructions, text);
  }

  /** Whether the person's last words are unanswered. */
  get unanswered(): boolean {
    return this.#turns.at(-1)?.role === 'user';
  }

  /** @returns false for the name of a built-in variable, which is not changed */
  learn(name: string, value: unknown): boolean {
    if (isBuiltIn(name)) return false;
    this.#learned[name] = value;
    return true;
  }

  /** @param input value of the variable `input`; `text` goes into the history */
  heard(input: string, text: string): void {
    this.#input = input;
    this.#turns.push({ role: 'user', text });
  }

  /** It is the agent's turn. */
  beginTurn(): void {
    this.#before = this.#turns.length;
  }

  /** What was heard of the agent's words in this turn. */
  cut(said: readonly SaidText[]): void {
    const heard = new WordsHeard(said);
    this.#turns = this.#turns.flatMap((turn, i) => {
      if (i < this.#before || turn.role !== 'assistant') return [turn];
      const text = heard.of(turn.text);
      return text === '' ? [] : [{ ...turn, text }];
    });
  }

  /** Goes on after turns that a model held without this conversation. */
  resume(turns: readonly Turn[]): void {
    this.#turns.push(...turns);
    const heard = turns.findLast(({ role }) => role === 'user');
    if (heard) this.#input = heard.text;
  }

  said(text: string): void {
    this.#turns.push({ role: 'assistant', text });
  }
}
