/**
 * Recognizes a call-screening assistant by its words: a voice that asks who calls and why before the callee decides.
 * By its cadence alone it is a person with a long greeting, or voicemail. Pure; English.
 */

/** What assistants ask for … */
const asks: readonly RegExp[] = [
  /\b(?:say|state|record|tell|give|leave)\b.{0,40}\byour name\b.{0,60}\b(?:reason|why|purpose|what)\b/,
  /\b(?:reason|purpose) (?:for|of) (?:your|the|this) call/,
  /\bwhy (?:are you|you are|you're|youre) calling\b/,
  /\bwho (?:is this|is calling|are you|am i speaking).{0,60}\b(?:calling about|why|what is this about|regarding)\b/,
];
/** … and how they introduce themselves. */
const introductions: readonly RegExp[] = [
  /\b(?:call|calls|caller|callers)[ -]screen/,
  /\bscreening (?:service|assistant|this call|calls)\b/,
  /\bscreen(?:s|ed)? (?:by|their calls|your call|calls)\b/,
  /\b(?:virtual|digital|automated|phone|call) assistant\b.{0,80}\b(?:name|calling)\b/,
  /\bsee if (?:this person|they|he|she|.{1,40}) (?:is|are) available\b/,
];
/** A mailbox may ask for name and reason too. */
const mailbox =
  /\b(?:leave|record) (?:a|your|me a|us a) (?:brief |short |detailed )?message\b|\b(?:after|at) the (?:tone|beep)\b|\bvoice ?mail\b|\bmailbox\b/;

/** Longest text that is looked at, characters: an assistant says at once what it wants. */
const lookedAt = 1000;

/** @param text what the callee said, as transcribed */
export function asksWhoCalls(text: string): boolean {
  const plain = text.slice(0, lookedAt).toLowerCase().replace(/’/g, "'").replace(/\s+/g, ' ');
  if (mailbox.test(plain)) return false;
  return [...asks, ...introductions].some((pattern) => pattern.test(plain));
}
