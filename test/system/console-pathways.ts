/** The steps of test/system/console-screens.test.ts about pathways, on its control plane and in its browser. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ConsoleScene } from '../kit/control/console-scene.ts';
import { callRecord, EdgeClient, reportFrame } from '../kit/control/edge-client.ts';
import { isAccessible } from '../kit/programs/console-page.ts';
import type { ControlProgram } from '../kit/programs/control-program.ts';
import { eventually } from '../kit/programs/eventually.ts';

interface PathwayScene {
  readonly page: Page;
  readonly control: ControlProgram;
  readonly scene: ConsoleScene;
}

/** In the drawing. */
const node = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Graph' }).getByRole('button', { name: new RegExp(`^${name}[ ,]`) });

async function stepsThroughACall({ page, control, scene }: PathwayScene): Promise<void> {
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

async function goesThroughTheGraphByKeys({ page, scene }: PathwayScene): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`/pathways/${scene.pathway}?version=2`);
  await node(page, 'Greeting').focus();
  await page.keyboard.press('ArrowDown');
  expect(await focusedNode(page)).toBe('Book');
  await page.keyboard.press('ArrowLeft');
  expect(await focusedNode(page)).toBe('Opening hours');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Node Opening hours' }).waitFor();
  // The same without the drawing.
  await page.getByText('Nodes as a list').click();
  await page.getByRole('cell').getByRole('button', { name: 'Booked' }).click();
  await page.getByRole('heading', { name: 'Node Booked' }).waitFor();
  await isAccessible(page);
}

const focusedNode = (page: Page) => page.evaluate<string>('document.activeElement.dataset.node ?? ""');
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });

async function editsAGraph({ page, control }: PathwayScene): Promise<void> {
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const field = (name: string) => page.locator(`.side [name="${name}"]`);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto('/pathways');
  await page.getByText('New pathway').click();
  await page.locator('input[name=name]').fill('Callback');
  await page.locator('select[name=template]').selectOption('menu');
  await button('Create').click();
  await page.waitForURL('**/pathways/*-*');
  const id = /[/]pathways[/]([^/?]+)/.exec(page.url())?.[1] ?? '';
  const stored = async (version: number) =>
    JSON.parse((await control.api.ok('GET', `/v1/pathway/${id}/version/${version}`)).text);
  // By keys alone: to a node, into its form, back, and moved.
  await node(page, 'Menu').press('Enter');
  await heading(page, 'Node Menu').waitFor();
  await eventuallyFocused(page, 'name');
  await page.keyboard.press('Escape');
  expect(await focusedNode(page)).toBe('Menu');
  await page.keyboard.press('Alt+ArrowLeft');
  await page.keyboard.press('Enter');
  await eventuallyFocused(page, 'name');
  await field('text').fill('Welcome to Harbour Dental.');
  // What breaks a rule is marked before anything is sent.
  await page.getByText('Keys, timing, model and recording').click();
  await field('isGlobal').check();
  await page.getByText('1 error').waitFor();
  await node(page, 'Menu').locator('text').getByText('error').waitFor();
  await button('Save draft').click();
  await page.getByRole('alert').getByText('The graph has errors.').waitFor();
  await isAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await field('globalLabel').fill('wants the menu again');
  await page.getByText('1 error').waitFor({ state: 'detached' });
  await button('Save draft').click();
  await page.getByText('Saved.', { exact: true }).waitFor();
  await dragsAndZooms(page);
  const draft = await stored(0);
  expect(draft.nodes[0]).toMatchObject({
    id: 'Menu',
    position: expect.anything(),
    data: { text: 'Welcome to Harbour Dental.', isGlobal: true, globalLabel: 'wants the menu again' },
  });
  // What only the API knows is marked at its node, too.
  await page.getByLabel('Type of a new node').selectOption('Webhook');
  await button('Add node').click();
  await heading(page, 'Node Webhook').waitFor();
  await field('url').fill('https://10.0.0.1/callbacks');
  await button('Save draft').click();
  await page.getByRole('alert').getByText('TARGET_NOT_ALLOWED').waitFor();
  await node(page, 'Webhook').locator('text').getByText('error').waitFor();
  await field('url').fill('https://api.example.com/callbacks');
  // Somebody else writes meanwhile.
  const { nodes, edges } = draft;
  await control.api.ok('POST', `/v1/pathway/${id}`, { nodes: nodes.slice(0, 1), edges: [] });
  expect(edges.length).toBeGreaterThan(0);
  await button('Save draft').click();
  await page.getByRole('alert').getByText('GRAPH_CHANGED').waitFor();
  await isAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('textbox', { name: 'Name of a new version' }).fill('with a webhook');
  await button('Save as new version').click();
  await page.waitForURL('**version=1*');
  expect((await stored(1)).nodes.at(-1)).toMatchObject({
    type: 'Webhook',
    data: { url: 'https://api.example.com/callbacks' },
  });
  expect((await stored(0)).nodes).toHaveLength(1);
  // Taken back, and done again.
  await node(page, 'Webhook').press('Delete');
  await node(page, 'Webhook').waitFor({ state: 'detached' });
  await button('Undo').click();
  await node(page, 'Webhook').waitFor();
  await page.getByText('Nothing is changed.').waitFor();
  await publishes(page, control, id);
}

/** A node is dragged and stays there when it is saved and read again, the wheel zooms, and keys take the move back. */
async function dragsAndZooms(page: Page): Promise<void> {
  const menu = node(page, 'Menu');
  const placeOf = () => menu.getAttribute('transform');
  const isAt = (what: string, place: string | null) =>
    eventually(what, async () => (await placeOf()) === place);
  const before = await placeOf();
  const { x, y } = await middleOf(menu);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 30, y + 20, { steps: 3 });
  await page.mouse.move(x + 60, y + 40, { steps: 3 });
  await page.mouse.up();
  await eventually('the dragged node', async () => (await placeOf()) !== before);
  const moved = await placeOf();
  // A drag is one change.
  await menu.focus();
  await page.keyboard.press('Control+z');
  await isAt('the move taken back', before);
  await page.keyboard.press('Control+Shift+z');
  await isAt('the move done again', moved);
  await page.keyboard.press('Control+z');
  await isAt('the move taken back again', before);
  await page.keyboard.press('Control+y');
  await isAt('the move done once more', moved);
  await page.getByRole('button', { name: 'Save draft', exact: true }).click();
  await page.getByText('Saved.', { exact: true }).waitFor();
  await page.reload();
  await menu.waitFor();
  expect(await placeOf()).toBe(moved);
  const view = page.getByRole('group', { name: 'Graph' }).locator('> g');
  const scale = async () =>
    Number(/scale[(]([0-9.]+)/.exec((await view.getAttribute('transform')) ?? '')?.[1]);
  const whole = await scale();
  await menu.focus();
  const at = await middleOf(menu);
  await page.mouse.move(at.x, at.y);
  await page.mouse.wheel(0, -300);
  await eventually('a closer view', async () => (await scale()) > whole);
  // What is under the pointer stays there.
  const after = await middleOf(menu);
  expect(Math.hypot(after.x - at.x, after.y - at.y)).toBeLessThan(2);
  await page.keyboard.press('0');
  await eventually('the whole graph', async () => (await scale()) === whole);
  await menu.press('Enter');
  await heading(page, 'Node Menu').waitFor();
}

async function middleOf(shown: Locator): Promise<{ readonly x: number; readonly y: number }> {
  await shown.scrollIntoViewIfNeeded();
  const box = await shown.locator('rect').boundingBox();
  if (!box) throw new Error('it is not drawn');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** The first version: refused while a scenario that must pass has not run, then in production. */
async function publishes(page: Page, { api }: ControlProgram, pathway: string): Promise<void> {
  const publish = page.getByRole('region', { name: 'Publish' });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  await press('Publish version 1');
  const { text } = await api.ok('POST', '/v1/agent-testing/scenarios', {
    pathway_id: pathway,
    name: 'Asks for the menu',
    category: 'HAPPY_PATH',
    scenario_type: 'REPLAY',
    is_required_for_promotion: true,
    input_messages: [{ role: 'user', content: '1' }],
    assertions: [{ type: 'STRING_CHECK', config: { value: 'sales' } }],
  });
  await press('Publish it');
  await page.getByRole('alert').getByText('PROMOTION_BLOCKED').waitFor();
  await press('Leave it');
  await publish.getByText('1 required scenario keeps it from production:').waitFor();
  await isAccessible(page);
  await api.ok('DELETE', `/v1/agent-testing/scenarios/${JSON.parse(text).id}`);
  // Nothing has to be reloaded.
  await press('Publish version 1');
  await press('Publish it');
  await publish.getByText('in production', { exact: true }).waitFor();
  await page.getByText('The version in production cannot be changed').waitFor();
}

async function comparesAndChats({ page, scene }: PathwayScene): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`/pathways/${scene.pathway}?version=2`);
  await page.locator('select[name=with]').selectOption('1');
  const found = page.getByRole('list', { name: 'Differences' });
  await found.getByText('Greeting → Opening hours: Opening hours').waitFor();
  expect(await found.getByRole('listitem').count()).toBe(1);
  await node(page, 'Book').click();
  await page.getByRole('button', { name: 'Chat from Book' }).click();
  const chat = page.getByRole('log', { name: 'Chat' });
  await chat.getByText('What is your account number?').waitFor();
  await node(page, 'Book').getByText('step 1').waitFor();
  await page.getByLabel('Message of the caller').fill('My account number is 4711');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await chat.getByText('You are booked. Goodbye.').waitFor();
  await node(page, 'Booked').getByText('step 2').waitFor();
  await page.getByText('The conversation has ended.').waitFor();
  await isAccessible(page);
}

/** Waits until a field has the focus. */
async function eventuallyFocused(page: Page, name: string): Promise<void> {
  await page.locator(`.side [name="${name}"]:focus`).waitFor();
}

/** A call with the second version, which ended in a node of another pathway. @returns its id */
async function report({ url, keys }: ControlProgram, pathway_id: string): Promise<string> {
  const edge = await EdgeClient.connect(`${url.replace('http', 'ws')}/v1/edge/link`, keys.edge_token, {
    edge_id: 'edge-of-pathways',
    outbox_id: 'outbox-of-pathways',
  });
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

export const pathwaySteps = [
  ['show the way of a call over the graph, step by step', stepsThroughACall],
  ['are edited, checked before they are sent, and not overwritten', editsAGraph],
  ['are compared by version, and tried in a chat from a node', comparesAndChats],
  ['are gone through by keys, and read as a list', goesThroughTheGraphByKeys],
] as const;
