const quote = 0x22;
const backslash = 0x5c;

/**
 * Whether brackets outside strings of a JSON text nest deeper than `levels`: thousands of levels break recursive code such
 * as `JSON.stringify`. Scans the text, so depth cannot overflow the stack.
 */
export function isDeeperThan(text: string, levels: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (inString) {
      if (char === backslash) at++;
      else if (char === quote) inString = false;
    } else if (char === quote) inString = true;
    // [ and {, ] and } (RFC 8259 section 2)
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > levels) return true;
    } else if (char === 0x5d || char === 0x7d) depth--;
  }
  return false;
}
