/** What a supervisor has told an agent during the conversation. It counts as the author's own words. */

/** The newest ones that are kept; each has at most as many characters as supervision.ts says. */
const mostKept = 10;

export function withInstruction(kept: readonly string[], text: string): string[] {
  return [...kept, text].slice(-mostKept);
}

/** A section of a prompt; empty without any. */
export function instructionsSection(kept: readonly string[]): string {
  if (kept.length === 0) return '';
  const lines = kept.map((text) => `- ${text.replace(/\s+/g, ' ').trim()}`);
  return [
    '# What a supervisor has told you during this conversation, oldest first',
    'Follow it for the rest of the call, and mention the supervisor only if you are told to.',
    ...lines,
  ].join('\n');
}
