/** Finds the JSON object in a model's answer, which many models wrap: in thoughts, a fence, or sentences. Pure. */

const thoughts = /<(think|thinking|thought|reasoning|reflection|scratchpad)>[\s\S]*?<\/\1>/gi;
/** Some servers remove the opening tag, which is part of the prompt. */
const endOfThoughts = /<\/(?:think|thinking|thought|reasoning|reflection|scratchpad)>/gi;
const mostStarts = 200;

/** The objects of an answer, outermost ones only, in their order. Thoughts are left out: they hold drafts. */
export function objectsIn(answer: string): object[] {
  const without = answer.replaceAll(thoughts, ' ');
  const text = without.split(endOfThoughts).at(-1) ?? '';
  const found: object[] = [];
  let from = text.indexOf('{');
  for (let starts = 0; from >= 0 && starts < mostStarts; starts++) {
    const end = endOfObject(text, from);
    const value = end < 0 ? undefined : parsed(text.slice(from, end));
    if (value !== undefined) found.push(value);
    from = text.indexOf('{', value === undefined ? from + 1 : end);
  }
  return found;
}

/** The index after the brace that closes the one at `from`; -1: there is none. */
function endOfObject(text: string, from: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at + 1;
  }
  return -1;
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
