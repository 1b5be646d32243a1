/** The units of deploy/, for an installed package instead of a checkout. */
import { dataFolder, homeOf, type Plan, settingsFileOf } from './plan.ts';

const checkout = '/opt/trunkline';

/**
 * @param unit as in deploy/
 * @throws Error when the unit is not as expected: the package would start something else
 */
export function packagedUnit(unit: string, plan: Pick<Plan, 'name' | 'program'>): string {
  const home = homeOf(plan);
  // The comment at its top tells how to use it with a checkout.
  const own = unit.slice(unit.indexOf('[Unit]'));
  const replaced = own
    .replace(`WorkingDirectory=${checkout}\n`, `WorkingDirectory=${home}\n`)
    .replace(` TRUNKLINE_CACHE=${checkout}-cache`, '')
    .replace(`ExecStart=${checkout}/node_modules/.bin/node `, `ExecStart=${home}/bin/node `)
    .replace('[Unit]\n', `[Unit]\nDocumentation=man:${plan.name}(8)\n`);
  const wanted = [
    `WorkingDirectory=${home}\n`,
    `ExecStart=${home}/bin/node `,
    `EnvironmentFile=-${settingsFileOf(plan)}\n`,
    `TRUNKLINE_DATA=${dataFolder}`,
    'User=trunkline\n',
  ];
  const missing = wanted.filter((line) => !replaced.includes(line));
  if (missing.length > 0 || replaced.includes(checkout) || !unit.includes('[Unit]'))
    throw new Error(
      `deploy/${plan.name}.service is not as the package expects: ${missing.join(', ').trim()}`,
    );
  return replaced;
}

/** The command of a unit, as words. */
export function startCommandOf(unit: string): readonly string[] {
  const line = /^ExecStart=(.*)$/m.exec(unit)?.[1];
  if (line === undefined) throw new Error('the unit has no ExecStart');
  return line.split(' ');
}

/** The variables that a unit sets, of its Environment= lines. */
export function environmentOf(unit: string): Readonly<Record<string, string>> {
  const pairs = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, text = '']) => text.split(' '));
  return Object.fromEntries(
    pairs.map((pair): [string, string] => [
      pair.slice(0, pair.indexOf('=')),
      pair.slice(pair.indexOf('=') + 1),
    ]),
  );
}
