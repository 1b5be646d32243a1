/** Reads server-sent events (HTML standard, section 9.2.6) from text that arrives in pieces. */
export interface EventBlock {
  readonly id: string | null;
  /** `message` when the block names none. */
  readonly type: string;
  /** '': none, as of a heartbeat. */
  readonly data: string;
  /** How long to wait before coming back, ms; null: it does not say. */
  readonly retryMs: number | null;
}

export class EventBlocks {
  #rest = '';

  /** @returns the blocks that are complete now */
  push(text: string): EventBlock[] {
    const parts = (this.#rest + text).split('\n\n');
    this.#rest = parts.pop() ?? '';
    return parts.map(blockOf);
  }
}

function blockOf(text: string): EventBlock {
  let [id, type, retryMs]: [string | null, string, number | null] = [null, 'message', null];
  const data: string[] = [];
  for (const line of text.split('\n')) {
    const at = line.indexOf(':');
    // Lines that begin with a colon are comments.
    if (at <= 0) continue;
    const value = line.slice(at + 1).replace(/^ /, '');
    switch (line.slice(0, at)) {
      case 'id':
        id = value;
        break;
      case 'event':
        type = value;
        break;
      case 'data':
        data.push(value);
        break;
      case 'retry':
        retryMs = Number(value) || null;
        break;
    }
  }
  return { id, type, data: data.join('\n'), retryMs };
}
