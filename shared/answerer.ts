/** Who seems to have answered an outbound call (contract 9.2). `screening`: an assistant that asks who calls and why. */
export const answerers = ['human', 'voicemail', 'screening', 'unknown'] as const;
export type Answerer = (typeof answerers)[number];
