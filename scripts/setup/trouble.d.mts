export class Trouble extends Error {
  constructor(what: string, why: string, remedy: string);
}
export function tail(output: string, lines?: number): string;
export function reportTrouble(main: () => Promise<void>): Promise<void>;
