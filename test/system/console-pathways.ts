/** The steps of test/system/console-screens.test.ts about pathways, on its control plane and in its browser. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ConsoleScene } from '../kit/control/console-scene.ts';
import { callRecord, EdgeClient, reportFrame } from '../kit/control/edge-client.ts';
import { isAccessible } from '../kit/programs/console-page.ts';
import type { ControlProgram } from '../kit/programs/control-program.ts';

export interface PathwayScene {
  readonly page: Page;
  readonly control: ControlProgram;
  readonly scene: ConsoleScene;
}

/** In the drawing. */
const node = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Graph' }).getByRole('button', { name: new RegExp(`^${name} `) });

export async function stepsThroughACall({ page, control, scene }: PathwayScene): Promise<void> {
  const call = await report(control, scene.pathway);
  await page.goto('/pathways');
  await page.getByRole('row', { name: 'Front desk version 1' }).waitFor();
  await isAccessible(page);
  await page.goto(`/calls/${call}`);
  await page.getByRole('link', { name: 'replay over its graph' }).click();
  await page.getByText('Step 1 of 3: Greeting').waitFor();
  expect(new URL(page.url()).search).toBe(`?version=2&call=${call}`);
  await isAccessible(page);
  await page.getByRole('button', { name: 'Next', exact: true }).press('ArrowRight');
  await page.getByText('Step 2 of 3: Book').waitFor();
  await page.getByRole('listitem').getByText('What is your account number?').waitFor();
  expect(await node(page, 'Book').getAttribute('aria-current')).toBe('step');
  await node(page, 'Greeting').getByText('step 1').waitFor();
  await page.keyboard.press('End');
  await page.getByText('Step 3 of 3: Elsewhere (not in this graph)').waitFor();
  await page.getByRole('link', { name: 'Leave the replay' }).click();
  await page.getByText('A call with this pathway').waitFor();
}

export async function goesThroughTheGraphByKeys({ page, scene }: PathwayScene): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`/pathways/${scene.pathway}?version=2`);
  await node(page, 'Greeting').focus();
  await page.keyboard.press('ArrowDown');
  const focused = () => page.evaluate<string>('document.activeElement.dataset.node ?? ""');
  expect(await focused()).toBe('Book');
  await page.keyboard.press('ArrowLeft');
  expect(await focused()).toBe('Opening hours');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Node Opening hours' }).waitFor();
  // The same without the drawing.
  await page.getByText('Nodes as a list').click();
  await page.getByRole('cell').getByRole('button', { name: 'Booked' }).click();
  await page.getByRole('heading', { name: 'Node Booked' }).waitFor();
  await isAccessible(page);
}

/** A call with the second version, which ended in a node of another pathway. @returns its id */
async function report({ url, keys }: ControlProgram, pathway_id: string): Promise<string> {
  const edge = await EdgeClient.connect(`${url.replace('http', 'ws')}/v1/edge/link`, keys.edge_token);
  await edge.arrival('config');
  const call = callRecord(keys.org_id, { pathway_id, pathway_version: 2 });
  const line = (second: number, user: 'user' | 'assistant', text: string, node_id: string | null) => ({
    id: `00000000-0000-4000-8000-00000000010${second}`,
    at: `2030-01-01T00:00:0${second}.000Z`,
    user,
    text,
    node_id,
    node_name: node_id,
  });
  const entries = [
    line(2, 'assistant', 'Harbour Dental, how can I help you?', 'Greeting'),
    line(3, 'user', 'I want to book', null),
    line(4, 'assistant', 'Gladly. What is your account number?', 'Book'),
    line(5, 'assistant', 'One moment.', 'Elsewhere'),
  ];
  edge.send(
    reportFrame(1, [
      { type: 'call', call },
      { type: 'transcript', call_id: call.id, entries },
    ]),
  );
  await edge.arrival('ack');
  await edge.close();
  return call.id;
}
