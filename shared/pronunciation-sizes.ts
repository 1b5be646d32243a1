/** Most entries of a list, and characters of their texts. */
export const pronunciationSizes = { entries: 200, text: 100, say: 200 } as const;
