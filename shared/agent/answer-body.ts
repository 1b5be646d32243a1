/** A response body from a customer's target, in the form used by conversations and tools. */
import { isDeeperThan } from '../json-depth.ts';

/** Deepest nesting of arrays and objects that is kept as JSON: far more than real APIs return. */
const deepest = 100;

/** The JSON in `text`; `text` itself when it is not JSON, or JSON nested deeper than 100. */
export function parsedBody(text: string): unknown {
  if (isDeeperThan(text, deepest)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
