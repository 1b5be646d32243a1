/** One section of `npm run bench verdicts`: a confusion matrix on labelled lines, by half. */

export interface Section {
  readonly title: string;
  measure(): Promise<readonly Row[]>;
}

/** One half of the lines. */
export interface Row {
  readonly half: 'seen' | 'held out';
  readonly lines: number;
  /** What the label says and what rules say: `harsh as fine`. */
  readonly counts: Readonly<Record<string, number>>;
  readonly wrong: number;
  readonly open: number;
}

export function sectionTable({ title }: Section, rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap(({ counts }) => Object.keys(counts)))];
  const head = ['Half', 'Lines', ...columns, 'Wrong', 'Undecided'];
  const share = (part: number, all: number) => `${((100 * part) / all).toFixed(1)} %`;
  const body = rows.map(({ half, lines, counts, wrong, open }) =>
    [
      half,
      lines,
      ...columns.map((column) => counts[column] ?? 0),
      share(wrong, lines),
      share(open, lines),
    ].join(' | '),
  );
  return [
    `**${title}**`,
    '',
    `| ${head.join(' | ')} |`,
    `|${head.map(() => '---').join('|')}|`,
    ...body.map((line) => `| ${line} |`),
  ].join('\n');
}
