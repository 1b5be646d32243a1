const replacements: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u02bc]/g, "'"],
  [/[\u201c\u201d\u00ab\u00bb]/g, '"'],
  [/[\u2010-\u2015]/g, ' - '],
  [/\u2026/g, '...'],
  [/\u00df/g, 'ss'],
  [/[\u00c6\u00e6]/g, 'ae'],
  [/[\u00d8\u00f8]/g, 'o'],
  [/\u20ac\s?([\d.,]*\d)/g, '$1 euros'],
  [/\u00a3\s?([\d.,]*\d)/g, '$1 pounds'],
];

/**
 * Prepares text for flite, which knows English words in ASCII: accents are removed, typographic marks replaced, and
 * other characters dropped.
 */
export function fliteText(text: string): string {
  let plain = text;
  for (const [pattern, replacement] of replacements) plain = plain.replace(pattern, replacement);
  return plain
    .normalize('NFKD')
    .replace(/[^\x20-\x7e]+/g, (run) => (/^\p{M}+$/u.test(run) ? '' : ' '))
    .replace(/\s+/g, ' ')
    .trim();
}
