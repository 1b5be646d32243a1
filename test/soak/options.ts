/** Options of `npm run soak`. */
import { parseArgs } from 'node:util';

export interface SoakOptions {
  /** Length of the load. */
  readonly hours: number;
  readonly seed: number;
  /** Calls per second, in both directions together. */
  readonly rate: number;
  /** PostgreSQL database of control, empty; null: SQLite in the data folder. */
  readonly database: string | null;
  /** Folder of the report. */
  readonly out: string;
}

export const usage = `npm run soak -- [options]

  --hours H       length of the load; 1, meant for 24
  --seed S        chooses calls, weather and restarts; 1
  --rate R        calls per second; 2
  --database URL  empty PostgreSQL database for control (postgres://…); SQLite
  --out FOLDER    where report.html and report.json go; ./soak-report`;

/** @throws Error that says which option is wrong */
export function readOptions(args: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      hours: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      rate: { type: 'string', default: '2' },
      database: { type: 'string' },
      out: { type: 'string', default: 'soak-report' },
    },
  });
  const number = (name: 'hours' | 'seed' | 'rate', least: number, most: number) => {
    const value = Number(values[name]);
    if (value >= least && value <= most) return value;
    throw new Error(`--${name} is ${JSON.stringify(values[name])}: give a number from ${least} to ${most}`);
  };
  const { database = null, out } = values;
  if (database !== null && !/^postgres(?:ql)?:\/\//.test(database))
    throw new Error(`--database is ${JSON.stringify(database)}: give a URL that begins with postgres://`);
  const seed = number('seed', 0, 2 ** 31);
  if (!Number.isInteger(seed)) throw new Error('--seed is not an integer');
  return { hours: number('hours', 0.01, 200), seed, rate: number('rate', 0.1, 50), database, out };
}
