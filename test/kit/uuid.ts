/** Ids of made up rows: by their kind, a hexadecimal digit, and their number. */
export const uuid = (kind: number, index: number): string =>
  `${kind.toString(16)}0000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
