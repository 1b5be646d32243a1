/** The screens that no picture of the documentation shows: to be looked at, with data and without. */
import type { Page } from 'playwright-core';
import { noiseFile } from '../kit/control/noises.ts';
import { order } from '../kit/control/porting.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { Scene } from './scene.ts';

export interface Looked {
  readonly name: string;
  readonly show: (page: Page) => Promise<void>;
}

/** What a screen has when it is loaded. */
async function opened(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.locator('main h1').first().waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name });

/** Made over the API. @returns the screens that show it */
export async function furtherScreens({ api, desk, call, number }: Scene): Promise<Looked[]> {
  const testing = '/v1/agent-testing';
  const made = async (path: string, body: object) => JSON.parse((await api.ok('POST', path, body)).text);
  const agent = await made(`${testing}/agents`, {
    ...{
      name: 'The booking bot of a partner',
      format: 'openai',
      url: 'https://bot.example.com/v1/chat/completions',
    },
    ...{ model: 'bot-1', headers: [{ name: 'Authorization', value: 'Bearer secret' }] },
  });
  await made(`${testing}/noises`, { name: 'Our lobby at noon', wav: noiseFile() });
  const scenarios = [desk.books, desk.hours];
  const set = await made(`${testing}/simulation-sets`, {
    scenario_ids: scenarios,
    simulations_per_scenario: 5,
  });
  const matrix = await made(`${testing}/matrices`, { scenario_id: desk.hours, versions: [2, 1], repeats: 5 });
  const load = await made(`${testing}/loads`, {
    ...{
      scenario_ids: [desk.books],
      transport: 'text',
      ramp: { from: 1, to: 4, step: 1 },
      runs_per_level: 8,
    },
  });
  const repair = await made(`${testing}/tornado/start`, { pathway_id: desk.pathway, version_number: 1 });
  await made('/v1/org/keys', { name: 'Support, read only', role: 'read' });
  const port = await made('/v1/sip/port/initiate', order(['+14155550188', '+14155550189']));
  const webhook_url = 'https://127.0.0.1:9/hook';
  await made(`${testing}/scenarios/${desk.books}/run`, { webhook_url, seed: 1 });
  const ended = async (what: string, path: string) =>
    eventually(
      what,
      async () => {
        const { status, completed_at } = JSON.parse((await api.ok('GET', path)).text);
        return (
          completed_at || !['QUEUED', 'PENDING', 'RUNNING'].includes(String(status).toUpperCase()) || null
        );
      },
      300_000,
    );
  await ended('the matrix', `${testing}/matrices/${matrix.matrix_id}`);
  await ended('the load', `${testing}/loads/${load.load_id}`);
  await ended('the set', `${testing}/simulation-sets/${set.simulation_set_id}`);
  const { data: tools } = JSON.parse((await api.ok('GET', '/v2/tools')).text);
  const at = (name: string, path: string): Looked => ({ name, show: (page) => opened(page, path) });
  const after = (name: string, path: string, then: (page: Page) => Promise<void>): Looked => ({
    name,
    show: async (page) => {
      await opened(page, path);
      await then(page);
    },
  });
  return [
    at('trunks', '/trunks'),
    at('alerts', '/alerts'),
    at('ports', '/ports'),
    after('ports-new', '/ports', (page) => page.getByText('New port request').click()),
    at('port', `/ports/${port.data.port_request_id}`),
    at('pathways', '/pathways'),
    at('personas', '/personas'),
    at('agents', '/agents'),
    at('agent', `/agents/${agent.id}`),
    at('tests', '/tests'),
    after('tests-new', '/tests', (page) => page.getByText('New scenario from a template').click()),
    at('test', `/tests/${desk.books}`),
    at('runs', '/runs'),
    at('sets', '/sets'),
    at('set', `/sets/${set.simulation_set_id}`),
    at('matrices', '/matrices'),
    after('matrices-call', '/matrices', async (page) => {
      await page.locator('select[name=over]').selectOption('sip');
    }),
    at('matrix', `/matrices/${matrix.matrix_id}`),
    at('loads', '/loads'),
    at('load', `/loads/${load.load_id}`),
    at('watches', '/watches'),
    at('qualities', '/quality'),
    at('repair', `/quality/${desk.pathway}?session=${repair.session_id}`),
    at('tools', '/tools'),
    after('tools-new', '/tools', (page) => page.getByText('New tool').click()),
    at('tool', `/tools/${tools.tools[0]?.id}`),
    at('widgets', '/widgets'),
    at('organization', '/organization'),
    at('keys', '/keys'),
    after('keys-made', '/keys', async (page) => {
      await page.getByLabel('Name').fill('CI');
      await button(page, 'Create').click();
      await page.getByRole('region', { name: 'The key CI' }).waitFor();
    }),
    at('changes', '/changes'),
    at('deliveries', '/deliveries'),
    after('delivery', '/deliveries', async (page) => {
      await page.getByRole('table').getByRole('link').first().click();
      await page.getByRole('region', { name: 'Text of the body' }).waitFor();
    }),
    at('sessions', '/sessions'),
    at('unknown-call', '/calls/00000000-0000-4000-8000-0000000000ff'),
    after('calls-found', '/calls?words=appointment', (page) => page.getByRole('row').nth(1).waitFor()),
    after('live-hang-up', '/live', async (page) => {
      await button(page, /^Hang up/)
        .first()
        .click();
      await page.getByRole('dialog').waitFor();
    }),
    after('live-transfer', '/live', async (page) => {
      await button(page, /^Transfer/)
        .first()
        .click();
      await page.getByRole('dialog').waitFor();
    }),
    after('phone', '/trunks', (page) => page.locator('body').press('p')),
    after('shortcuts', '/trunks', (page) => page.locator('body').press('?')),
    after('menu', '/trunks', async (page) => {
      await page.locator('.account summary').click();
      const menu = button(page, 'Menu');
      if (await menu.isVisible()) await menu.click();
    }),
    after('call-message', `/calls/${call}`, async (page) => {
      await page
        .getByRole('button', { name: /INVITE.*received from/ })
        .first()
        .click();
      await page.getByRole('region', { name: 'Message text' }).waitFor();
    }),
    at('pathway-version', `/pathways/${desk.pathway}?version=2`),
    after('trunk-more', `/trunks/${encodeURIComponent(number)}`, async (page) => {
      for (const one of await page.locator('main details:not([open]) > summary').all()) await one.click();
    }),
  ];
}

/** The same screens for an organization that has nothing yet. */
export function emptyScreens(): Looked[] {
  const paths = [
    ...[
      '',
      'live',
      'calls',
      'refused',
      'trunks',
      'alerts',
      'connect',
      'ports',
      'pathways',
      'personas',
      'agents',
    ],
    ...[
      'tests',
      'runs',
      'sets',
      'matrices',
      'loads',
      'watches',
      'quality',
      'tools',
      'widgets',
      'organization',
    ],
    ...['keys', 'deliveries', 'changes', 'sessions'],
  ];
  return paths.map((path) => ({
    name: `empty-${path === '' ? 'overview' : path}`,
    show: (page) => opened(page, `/${path}`),
  }));
}
