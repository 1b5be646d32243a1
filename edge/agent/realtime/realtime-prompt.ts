/** What a model that hears and speaks is told, besides its author's words. */
import { instructionsSection } from '#shared/agent/instructions.ts';

/** Said to the caller when the model is lost. */
export const apology = 'I am sorry, I have a technical problem. Please call again later.';
const manners =
  'You speak with a person on the telephone. Answer in one to three short sentences, without lists. ' +
  'What the system tells you about the call, such as keys that were pressed, is true; do not read it out.';

/** @param told by supervisors, oldest first */
export function promptOf(text: string, told: readonly string[]): string {
  return [manners, text, instructionsSection(told)].filter((part) => part !== '').join('\n\n');
}

/**
 * To a model that takes its orders as words of the system.
 * @param sentence its first words; null: as its instructions say
 * @param told what has happened on the call so far; null: nothing
 */
export function openingOf(sentence: string | null, told: string | null): string {
  const first = sentence === null ? 'Speak first.' : `Say exactly this: ${sentence}`;
  return `${told === null ? '' : `${told}\n`}The call begins. ${first}`;
}

/** To a model that wants to leave a call that is about to be somebody else's. */
export const beingTransferred = { ok: false, error: 'the call is being transferred' };
