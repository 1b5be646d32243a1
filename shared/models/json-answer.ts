/** Finds the JSON object in a model's answer, which many models wrap: in thoughts, a fence, or sentences. Pure. */

const thoughtTag = /<(\/?)(think|thinking|thought|reasoning|reflection|scratchpad)>/gi;
/** Some servers remove the opening tag, which is part of the prompt. */
const endOfThoughts = /<\/(?:think|thinking|thought|reasoning|reflection|scratchpad)>/gi;
const mostStarts = 200;

/** The objects of an answer, outermost ones only, in their order. Thoughts are left out: they hold drafts. */
export function objectsIn(answer: string): object[] {
  const text = withoutThoughts(answer).split(endOfThoughts).at(-1) ?? '';
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

/** Each goes from a tag to the next one that closes it; what is not closed stays. */
function withoutThoughts(answer: string): string {
  const tags = [...answer.matchAll(thoughtTag)].map(({ 0: tag, 1: slash, 2: name = '', index }) => ({
    name: name.toLowerCase(),
    closes: slash !== '',
    at: index,
    end: index + tag.length,
  }));
  // The nearest last, of each name.
  const closing = Map.groupBy(tags.filter(({ closes }) => closes).reverse(), ({ name }) => name);
  let kept = '';
  let from = 0;
  for (const { at, closes, end, name } of tags) {
    if (closes || at < from) continue;
    const own = closing.get(name) ?? [];
    while ((own.at(-1)?.at ?? end) < end) own.pop();
    const close = own.at(-1);
    if (!close) continue;
    kept += `${answer.slice(from, at)} `;
    from = close.end;
  }
  return kept + answer.slice(from);
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
