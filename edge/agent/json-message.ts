/** What a JSON text of a peer stands for; null when it is no JSON. */
export function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Members whose content is somebody else's, such as the arguments of a tool: nothing is left out of them. */
const kept: ReadonlySet<string> = new Set(['args', 'parameters']);

/**
 * A message of a speech or model server, without members that are null: some servers name all fields of a message, and
 * set those to null that it has not. Undefined when the text is no JSON.
 */
export function parsedMessage(text: string): unknown {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (text.includes('null')) leaveOutNulls(message);
  return message;
}

/** Without recursion: a message may have any depth. */
function leaveOutNulls(message: unknown): void {
  const left = [message];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      for (const one of value) if (typeof one === 'object' && one !== null) left.push(one);
      continue;
    }
    const fields = value as Record<string, unknown>;
    for (const [name, content] of Object.entries(fields)) {
      if (content === null) delete fields[name];
      else if (typeof content === 'object' && !kept.has(name)) left.push(content);
    }
  }
}
