/** What a customer's target answered, as conversations and tools keep it. */

/**
 * Deepest nesting of arrays and objects that is kept as JSON. Far more than a real API answers, and far less than
 * what ends recursive code such as `JSON.stringify` (some thousands).
 */
const deepest = 100;

/** The JSON in `text`; the text as it is when it holds none, or JSON that is nested deeper than 100. */
export function parsedBody(text: string): unknown {
  if (nesting(text) > deepest) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** How deep the brackets of a JSON text go; brackets in strings do not count. */
function nesting(text: string): number {
  let depth = 0;
  let most = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (inString) {
      if (character === backslash) at++;
      else if (character === quote) inString = false;
    } else if (character === quote) inString = true;
    else if (character === openBracket || character === openBrace) {
      depth++;
      if (depth > most) most = depth;
    } else if (character === closeBracket || character === closeBrace) depth--;
  }
  return most;
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
