/** What docs/errors.md says to do about each error code. */
export interface Advice {
  readonly status: string;
  /** Markdown of one line. */
  readonly text: string;
}

/** @param page the text of docs/errors.md */
export function readAdvice(page: string): ReadonlyMap<string, Advice> {
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (\d+) \| (.+?) \|$/gm)];
  return new Map(rows.map(([, code = '', status = '', text = '']) => [code, { status, text }]));
}
