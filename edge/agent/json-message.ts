/** What a JSON text of a peer stands for; null when it is no JSON. */
export function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
