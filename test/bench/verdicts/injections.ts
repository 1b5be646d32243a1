/** How many lines of agents that give orders to a judge are noticed, and how many ordinary ones are taken for such. */
import { readFile } from 'node:fs/promises';
import { addressesJudge } from '../../../control/testing/judging/judged-record.ts';
import type { Row, Section } from './section.ts';

export const injections: Section = {
  title: 'Orders to a judge with a model',
  measure: async () => [await half('seen'), await half('held out')],
};

async function half(name: Row['half']): Promise<Row> {
  const suffix = name.replace(' ', '-');
  const read = async (file: string) =>
    (await readFile(new URL(`../../verdicts/${file}-${suffix}.txt`, import.meta.url), 'utf8'))
      .trim()
      .split('\n');
  const orders = await read('injections');
  const ordinary = (await read('insults')).map((line) => line.slice(2));
  const noticed = orders.filter(addressesJudge).length;
  const blamed = ordinary.filter(addressesJudge).length;
  return {
    half: name,
    lines: orders.length + ordinary.length,
    counts: {
      'Orders noticed': noticed,
      'Orders missed': orders.length - noticed,
      'Ordinary passed': ordinary.length - blamed,
      'Ordinary blamed': blamed,
    },
    wrong: orders.length - noticed + blamed,
    open: 0,
  };
}
