/** Marks in a line of a conversation what verdicts quote of it. */
export interface Part {
  readonly text: string;
  /** The verdicts that quote it, by their places; none: plain text. */
  readonly by: readonly number[];
}

export interface Quote {
  readonly quote: string;
  readonly by: number;
}

/** @returns the text in order, cut where a quote begins or ends */
export function partsOf(text: string, quotes: readonly Quote[]): readonly Part[] {
  const spans = quotes.flatMap(({ quote, by }) => {
    const from = quote === '' ? -1 : text.indexOf(quote);
    return from < 0 ? [] : [{ from, to: from + quote.length, by }];
  });
  const cuts = [...new Set([0, text.length, ...spans.flatMap(({ from, to }) => [from, to])])].sort(
    (a, b) => a - b,
  );
  return cuts.slice(0, -1).map((from, index) => {
    const to = cuts[index + 1] ?? text.length;
    const by = spans.filter((span) => span.from <= from && span.to >= to).map((span) => span.by);
    return { text: text.slice(from, to), by: [...new Set(by)] };
  });
}
