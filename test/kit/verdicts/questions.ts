/**
 * For tests and benchmarks: kinds of questions that agents ask on the phone, ten wordings of each, and what a caller
 * with these facts should answer. A kind counts as understood when at least nine of its ten wordings are answered.
 */
import { ruleCaller } from '../../../control/testing/callers/rule-caller.ts';

export interface QuestionKind {
  readonly kind: string;
  /** What the answer must match. */
  readonly answer: RegExp;
  /** What it must not match. */
  readonly not?: RegExp;
  /** Lines of the agent before the question; absent: an inbound greeting. */
  readonly before?: readonly string[];
  readonly wordings: readonly string[];
}

export const inbound = ['Thank you for calling Northwind. How can I help you?'];

const persona = [
  'You are Sam Reed. You want to change the delivery date of your order.',
  '- date of birth: 4 May 1980',
  '- phone number: +1 415 555 0142',
  '- email: sam.reed@example.com',
  '- address: 12 Elm Street',
  '- city: Austin',
  '- postcode: 78701',
  '- account number: 471108',
  '- order number: 88231',
  '- policy number: PL-2290',
  '- PIN: 9034',
  '- day: Tuesday',
  '- time: half past ten',
  '- party size: 4 people',
  '- nights: 3',
  '- company: Acme Freight',
  '- insurance: BlueCare',
  '- doctor: Doctor Patel',
  '- vehicle: Honda Civic',
  '- colour: dark green',
  '- quantity: 12 boxes',
  '- budget: 300 dollars',
  '- payment method: credit card',
  '- preferred contact: text message',
  '- problem: the screen is cracked',
  '- since: last Friday',
  '- rating: 8',
  '- feedback: faster replies',
  '- heard about us: from a friend',
  '- language: Spanish',
].join('\n');

/** The caller's answer to the last line. */
async function answerTo(before: readonly string[], question: string, seed: number): Promise<string> {
  const caller = ruleCaller(
    {
      category: 'HAPPY_PATH',
      tester_persona_prompt: persona,
      tester_persona_name: null,
      advanced_instructions: null,
      input_messages: null,
      metadata: null,
    },
    seed,
  );
  let said = '';
  for (const line of [...before, question]) {
    const view = { history: [], heard: [line], movesLeft: 20 };
    const move = await caller.next(view, new AbortController().signal);
    said = move.type === 'say' ? move.text : move.type === 'keys' ? move.keys : `(${move.type})`;
  }
  return said;
}

export interface KindResult {
  readonly kind: string;
  readonly understood: number;
  readonly missed: readonly string[];
}

/** How many wordings of each kind the caller answers. */
export async function understood(kinds: readonly QuestionKind[]): Promise<KindResult[]> {
  const results: KindResult[] = [];
  for (const { kind, answer, not, before = inbound, wordings } of kinds) {
    const missed: string[] = [];
    for (const [index, wording] of wordings.entries()) {
      const said = await answerTo(before, wording, index * 31 + 1);
      if (!answer.test(said) || not?.test(said)) missed.push(`${wording} -> ${said}`);
    }
    results.push({ kind, understood: wordings.length - missed.length, missed });
  }
  return results;
}

/** Wordings of a kind that must be answered for it to count as understood. */
export const enough = 9;
