/** A response body from a customer's target, in the form used by conversations and tools. */

/**
 * Deepest nesting of arrays and objects that is kept as JSON: far more than real APIs return, and far less than the
 * thousands of levels that break recursive code such as `JSON.stringify`.
 */
const deepest = 100;

/** The JSON in `text`; `text` itself when it is not JSON, or JSON nested deeper than 100. */
export function parsedBody(text: string): unknown {
  if (nesting(text) > deepest) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Nesting depth of the brackets in a JSON text; brackets in strings do not count. */
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
