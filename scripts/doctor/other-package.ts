/** A machine with both packages: each has the checks of its own program, and `trunkline` is that of control. */
import { dirname, join } from 'node:path';
import { pathExists } from '#shared/path-exists.ts';
import type { Parts } from './parts.ts';
import type { Program } from './place.ts';

const packages = dirname(dirname(dirname(import.meta.dirname)));

/** The command that has the checks of a program which this package does not have, and whether it is installed here. */
interface OtherDoctor {
  readonly program: Program;
  readonly command: string;
  readonly isHere: boolean;
}

/** @param folder of the packages */
export function otherDoctors(parts: Parts, folder = packages): readonly OtherDoctor[] {
  return (['edge', 'control'] as const)
    .filter((program) => parts[program] === null)
    .map((program) => {
      const file = join(folder, `trunkline-${program}`, 'bin', 'trunkline');
      return { program, command: `${file} doctor`, isHere: pathExists(file) };
    });
}

/** Null: this package has the checks of all programs that were asked for. */
export function whyNotHere(programs: readonly Program[], others: readonly OtherDoctor[]): string | null {
  const other = others.find(({ program }) => programs.includes(program));
  if (other === undefined) return null;
  const { program, command, isHere } = other;
  return isHere
    ? `the checks of ${program} are in its own package: ${command}`
    : `the checks of ${program} are in the package trunkline-${program}, which is not installed here`;
}
