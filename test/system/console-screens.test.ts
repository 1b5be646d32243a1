/** Screens of the console in a real browser: agents, connecting a PBX, the organization. One control plane for all. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestCallState } from '#shared/edge-protocol/reports.ts';
import { ensureConsole } from '../../scripts/setup/console.ts';
import { foundPbx, heardBothWays, ringing, takeCommand } from '../kit/control/console-connect.ts';
import { type ConsoleScene, runToEnd, seedConsoleScene, seedFaults } from '../kit/control/console-scene.ts';
import { EdgeClient, reportFrame } from '../kit/control/edge-client.ts';
import {
  isAccessible,
  launchBrowser,
  pageLimitMs,
  sayYes,
  signIn,
  watchProblems,
} from '../kit/programs/console-page.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { namesAgent, startsLoad, startsMatrix } from './console-agents.ts';
import { documentationSteps } from './console-docs.ts';
import { pathwaySteps } from './console-pathways.ts';
import { rejectsPort, startsPort } from './console-ports.ts';

const control = new ControlProgram();
let browser: Browser;
let page: Page;
let problems: string[] = [];
let scene: ConsoleScene;
let firstRun = '';

beforeAll(async () => {
  await ensureConsole();
  await control.start();
  scene = await seedConsoleScene(control.api);
  firstRun = await runToEnd(control.api, scene.books, 1);
  browser = await launchBrowser();
  page = await browser.newPage({ baseURL: control.url });
  page.setDefaultTimeout(pageLimitMs);
  problems = watchProblems(page);
  await signIn(page, '/sessions', control.keys.api_key);
});
beforeEach(() => page.setViewportSize({ width: 1280, height: 800 }));
afterEach(() => expect(problems.splice(0)).toEqual([]));
afterAll(async () => {
  await browser?.close();
  await control.remove();
});

const button = (name: string) => page.getByRole('button', { name, exact: true });

/** Waits until the page is at an address that has this in it. */
async function addressOf(part: string): Promise<string> {
  await page.waitForURL(`**${part}*`);
  return page.url();
}

/** First: the others connect edges. */
describe('connecting a PBX', () => {
  it('finds it, attaches a number with what was found, and proves audio with a test call', async () => {
    await page.goto('/connect');
    await page.getByText('no address is known').waitFor();
    const edge = await EdgeClient.connect(
      `${control.url.replace('http', 'ws')}/v1/edge/link`,
      control.keys.edge_token,
    );
    await edge.arrival('config');
    await page.getByText('no address is known').waitFor({ state: 'detached' });
    await page.getByLabel('Host or SIP address').fill('pbx.example.com');
    await button('Probe it').click();
    const run = await takeCommand(edge, 'discovery.run');
    if (run.kind !== 'discovery.run') return;
    edge.send(reportFrame(1, [{ type: 'discovery', discovery_id: run.discovery_id, result: foundPbx }]));
    await page.getByText('calls can use it').waitFor();
    await page.getByText('context = from-trunkline').waitFor();
    await isAccessible(page);
    await page.getByLabel('Phone number').fill('+14155550177');
    await button('Attach').click();
    await page.getByText('+14155550177 is attached.').waitFor();
    await page.getByText('No agent answers calls to this number').waitFor();
    await page.locator('select[name=agent]').selectOption('Front desk');
    await button('Let it answer').click();
    await page.getByText('Calls to this number are answered by Front desk.').waitFor();
    await button('Call').click();
    const call = await takeCommand(edge, 'test_call.run');
    if (call.kind !== 'test_call.run') return;
    const state = ringing();
    const report = (changes: Partial<TestCallState>) => ({
      type: 'test_call' as const,
      test_call_id: call.test_call_id,
      ...state,
      ...changes,
    });
    edge.send(reportFrame(2, [report({})]));
    await page.getByText('180 Ringing').waitFor();
    edge.send(reportFrame(3, [report(heardBothWays)]));
    await page.getByText('audio both ways').waitFor();
    await page.getByText('Nothing is wrong.').waitFor();
    await isAccessible(page);
    await edge.close();
  });
});

describe('the screens about tests of agents', () => {
  it('mark in the conversation what a verdict quotes', async () => {
    await page.goto('/runs');
    await page.getByRole('link', { name: 'Books an appointment' }).click();
    await page.getByRole('heading', { name: 'Run of Books an appointment passed' }).waitFor();
    expect(page.url()).toContain(`/runs/${firstRun}`);
    await page.locator('mark.good').getByText('Goodbye').waitFor();
    await page.getByRole('listitem').getByText('Booked was visited').waitFor();
    await isAccessible(page);
  });

  it('run two versions of a scenario side by side, and say why one failed', async () => {
    await page.goto('/tests');
    await page.getByRole('link', { name: 'Asks for the hours' }).click();
    await page.getByText('Not run yet.').waitFor();
    await page.locator('select[name=version]').selectOption('1');
    await page.locator('select[name=beside]').selectOption('2');
    await isAccessible(page);
    await button('Start').click();
    const compared = page.getByRole('row', { name: 'Comes to the hours failed 0.00 passed 1.00' });
    await compared.waitFor();
    await button('Why did it fail?').click();
    await page.getByText('the fault is in nodes and edges').waitFor();
    await isAccessible(page);
  });

  it('run scenarios several times, and show how sure the rate is', async () => {
    await page.goto('/tests');
    await page.getByLabel('Select Asks for the hours').check();
    await page.getByLabel('Times each').fill('3');
    await isAccessible(page);
    await button('Run 1 selected').click();
    await page.getByRole('heading', { name: '1 scenario, 3 times each failed' }).waitFor();
    // Fixed lines make one conversation, which says nothing about others.
    await page.getByRole('cell', { name: /^0% .*one and the same conversation/ }).waitFor();
    await isAccessible(page);
    await page.goto('/sets');
    await page.getByRole('link', { name: '1 × 3' }).waitFor();
  });

  it('make a scenario from a template', async () => {
    await namesAgent(page);
    await page.goto('/tests');
    await page.getByText('New scenario from a template').click();
    await page.locator('select[name=template]').selectOption({ label: 'Angry customer' });
    await page.locator('select[name=agent]').selectOption({ label: 'Their bot' });
    await button('Add').click();
    await page.getByRole('heading', { name: 'Angry customer' }).waitFor();
    await page.locator('dd').getByText('Their bot').waitFor();
    await isAccessible(page);
    await page.goto('/tests/00000000-0000-4000-8000-000000000009');
    await page.getByRole('alert').getByText('SCENARIO_NOT_FOUND').waitFor();
  });
});

describe('matrices and loads', () => {
  it('are started with a noise of one’s own, and show what differs', () => startsMatrix(page));

  it('run scenarios at once', () => startsLoad(page));
});

describe('the watches', () => {
  it('are made of the assertions of a scenario, switched off and on, and deleted after a question', async () => {
    await page.goto('/watches');
    await page.getByText('No watch yet.').waitFor();
    await page.getByLabel('Name').fill('Bookings');
    await page.locator('select[name=scenario]').selectOption({ label: 'Books an appointment' });
    await isAccessible(page);
    await button('Watch').click();
    await page.getByRole('heading', { name: 'Bookings watching' }).waitFor();
    await page.getByText('No call is judged yet').waitFor();
    await button('Switch off').click();
    await page.getByRole('heading', { name: 'Bookings off' }).waitFor();
    await isAccessible(page);
    await page.goto('/watches');
    await page.getByRole('row', { name: 'off Bookings Front desk' }).getByRole('link').click();
    await button('Delete Bookings').click();
    await sayYes(page, 'Delete it');
    await page.getByText('No watch yet.').waitFor();
  });
});

describe('the pathways', () => {
  it.each(pathwaySteps)('%s', (_what, steps) => steps({ page, control, scene }));
});

describe('the quality of a pathway', () => {
  it('shows how its versions do, where runs fail, and what keeps a version from production', async () => {
    await runToEnd(control.api, scene.hours, 1);
    await runToEnd(control.api, scene.hours, 2);
    await page.goto('/quality');
    await page.getByRole('link', { name: 'Front desk' }).click();
    await page.getByRole('row', { name: /^version 1, first .* production/ }).waitFor();
    await page.getByRole('img', { name: /^Asks for the hours, version 1: 0 of / }).waitFor();
    await page.getByRole('img', { name: /^Drawing of [0-9]+ stations/ }).waitFor();
    const gate = page.getByRole('region', { name: 'The gate of production', exact: true });
    await gate.getByRole('row', { name: 'Books an appointment not run on this content' }).waitFor();
    await isAccessible(page);
    const wanted = (promotion_repeats: number) =>
      control.api.ok('PUT', `/v1/agent-testing/scenarios/${scene.books}`, { promotion_repeats });
    await wanted(2);
    await page.reload();
    await gate.getByRole('button', { name: 'Run what blocks it' }).click();
    await page.waitForURL(/\/sets\//);
    await page.goBack();
    await gate.getByText('may be published', { exact: true }).waitFor();
    await wanted(1);
    await page.reload();
    await gate.getByRole('row', { name: 'Books an appointment was changed after its last run' }).waitFor();
    await gate.getByRole('button', { name: 'Publish when it passes: version 2' }).click();
    await sayYes(page, 'Run and publish');
    await gate.getByText('in production', { exact: true }).waitFor();
    await page.goto('/quality');
    await page.getByRole('cell', { name: 'version 2' }).waitFor();
    await isAccessible(page);
  });

  it('is repaired: some fixes are accepted as a version, or all are refused', async () => {
    const pathway = await seedFaults(control.api);
    await page.goto(`/quality/${pathway}`);
    await page.locator('select[name=repair-version]').selectOption('1');
    await button('Start a repair').click();
    await addressOf('session=');
    await page.getByRole('heading', { name: 'Repair all pass' }).waitFor();
    await page.getByText('edges/greet-hours').waitFor();
    await isAccessible(page);
    await page.getByLabel('Accept fix-001').check();
    await button('Accept 1 of 2').click();
    // 3 and 4 were tried without one of the two fixes.
    await page.getByRole('link', { name: 'version 5, Tornado: version 1 with fix-001' }).waitFor();
    await page.goBack();
    await button('Refuse all fixes and delete version 2').click();
    await sayYes(page, 'Delete it');
    await page.getByRole('link', { name: /^version 5, / }).waitFor();
    expect(await page.getByRole('link', { name: /^version 2, / }).count()).toBe(0);
  });
});

describe('the widgets', () => {
  it('are made for a page, tried, and a person answers a thread in place of the agent', async () => {
    await page.goto('/widgets');
    await page.getByText('No widgets yet.').waitFor();
    await page.getByLabel('Name').fill('Shop');
    await page.locator('select[name=agent]').selectOption({ label: 'Front desk' });
    await page.getByLabel('Origins of pages, one a line').fill('https://shop.example.com');
    await page.getByLabel('Visitors may call the agent').check();
    await isAccessible(page);
    await button('Create').click();
    const widget = /[/]widgets[/]([^/]+)$/.exec(await addressOf('/widgets/'))?.[1] ?? '';
    await page
      .getByText(`<script src="${control.url}/widget/${widget}/embed.js" async data-voice></script>`)
      .waitFor();
    await button('Start a preview').click();
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('Harbour Dental, how can I help you?').waitFor();
    const [field, send] = [preview.getByRole('textbox'), preview.getByRole('button', { name: 'Send' })];
    const { promise: arrives, resolve: arrive } = Promise.withResolvers<void>();
    await page.route(
      '**/messages',
      async (route) => {
        const response = await route.fetch();
        await arrives;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await field.fill('I want to book an appointment');
    await send.click();
    await preview.getByText('What is your account number?').waitFor();
    // What is written before the answer has arrived stays.
    await field.fill('On Monday');
    arrive();
    await preview.locator('button[type=submit][aria-disabled=false]').waitFor();
    expect(await field.inputValue()).toBe('On Monday');
    // Nothing has to be reloaded.
    await page.getByRole('table').getByRole('link').click();
    const thread = page.getByRole('region', { name: 'Thread' });
    await thread.getByText('I want to book an appointment').waitFor();
    await isAccessible(page);
    await thread.getByRole('button', { name: 'Take over' }).click();
    await sayYes(page, 'Take it over');
    await thread.getByRole('textbox').fill('This is Eve. Monday at nine?');
    await thread.getByRole('button', { name: 'Send' }).click();
    // The visitor has it, too.
    await preview.getByText('This is Eve. Monday at nine?').waitFor();
    await thread.getByRole('button', { name: /^End thread/ }).click();
    await sayYes(page, 'End it');
    await preview.getByText('ended').waitFor();
    await isAccessible(page);
    await button('Delete Shop').click();
    await sayYes(page, 'Delete it');
    await page.getByText('No widgets yet.').waitFor();
  });
});

describe('the tools', () => {
  it('are made, say what is wrong with a field, and are tried', async () => {
    await page.goto('/tools');
    await page.getByText('No tools yet.').waitFor();
    await page.getByText('New tool').click();
    await page.locator('input[name=name]').fill('twice');
    await page.locator('input[name=description]').fill('Doubles a number');
    await page.locator('input[name=integration]').fill('custom-code');
    await page.locator('input[name=action]').fill('run_javascript');
    const inputs = page.locator('textarea[name=inputs]');
    await inputs.fill('{"type": "object"');
    await page.locator('textarea[name=body]').fill('{"code": "return { twice: input.n * 2 }"}');
    await page.locator('textarea[name=values]').fill('[{"name": "twice", "data": "$.twice"}]');
    await button('Create').click();
    await page.getByRole('alert').getByText('Inputs, a JSON Schema: this is not JSON').waitFor();
    await isAccessible(page);
    await inputs.fill('{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}');
    await button('Create').click();
    await page.getByRole('heading', { name: 'Try it' }).waitFor();
    await page.getByRole('form', { name: 'Try it' }).locator('textarea[name=inputs]').fill('{"n": 21}');
    await button('Run').click();
    await page.getByRole('region', { name: 'Values taken from it' }).getByText('"twice": 42').waitFor();
    await page.getByText('No HTTP request was sent.').waitFor();
    // Of the log, which is read again after the run.
    await page.getByRole('cell', { name: 'succeeded' }).waitFor();
    await isAccessible(page);
    // Somebody else renames it: what is typed here stays.
    const id = /[/]tools[/]([^/]+)$/.exec(page.url())?.[1];
    await control.api.ok('POST', `/v2/tools/${id}`, { name: 'double' });
    await page.getByRole('heading', { name: 'double' }).waitFor();
    expect(await page.getByRole('form', { name: 'Settings' }).locator('input[name=name]').inputValue()).toBe(
      'double',
    );
    expect(await inputs.first().inputValue()).toBe('{"n": 21}');
  });
});

describe('number porting', () => {
  it('says which file it refuses, is requested with a document, and shows the words of its letter', () =>
    startsPort(page));

  it('shows the customer a request, and lets an operator reject it with a reason that the customer sees', () =>
    rejectsPort({ page, browser, control }));
});

describe('the screens of the organization', () => {
  it('make a key that is shown once, and revoke it after a question', async () => {
    await page.goto('/keys');
    await page.getByLabel('Name').fill('CI');
    await isAccessible(page);
    await button('Create').click();
    await page.getByRole('region', { name: 'The key CI' }).getByText(/^tk_/).waitFor();
    await button('I have copied it').click();
    await button('Revoke CI').click();
    await sayYes(page, 'Revoke it');
    await page.getByRole('row', { name: 'CI' }).getByText('revoked').waitFor();
    await page.goto('/changes?area=keys');
    await page.getByRole('row', { name: 'keys' }).first().waitFor();
    await isAccessible(page);
  });

  it('save each part of the settings alone, and say what is wrong with one', async () => {
    await page.goto('/organization');
    await page.getByLabel('E-mail addresses').fill('noc@example.com');
    await page.getByRole('form', { name: 'Who gets alerts' }).getByRole('button').click();
    await page.getByText('Saved.').waitFor();
    const prices = page.getByRole('form', { name: 'Prices of models' });
    await prices.getByLabel('Models').fill('gpt-4.1-mini 0.4');
    await prices.getByRole('button').click();
    await page.getByRole('alert').getByText('line 1 is not a name and two prices').waitFor();
    await prices.getByLabel('Models').fill('gpt-4.1-mini 0.4 1.6');
    await prices.getByRole('button').click();
    await page.getByRole('region', { name: 'Prices of models' }).getByText('Saved.').waitFor();
    await page.getByLabel('URL for events').fill('https://10.0.0.1/hook');
    await page.getByRole('form', { name: 'Webhooks' }).getByRole('button').click();
    await page.getByRole('alert').getByText('TARGET_NOT_ALLOWED').waitFor();
    await isAccessible(page);
  });

  it('show what became of a webhook, and its body', async () => {
    await page.goto('/deliveries');
    await page.getByText('No webhook was sent in the last 7 days.').waitFor();
    // Nothing listens there, so it is retried.
    const webhook_url = 'https://127.0.0.1:9/hook';
    await control.api.ok('POST', `/v1/agent-testing/scenarios/${scene.books}/run`, { webhook_url, seed: 1 });
    await eventually('the delivery', async () => {
      const { text } = await control.api.ok('GET', '/v1/org/webhook-deliveries');
      return JSON.parse(text).data.deliveries.some((one: { attempts: number }) => one.attempts > 0) || null;
    });
    // Nothing has to be reloaded.
    await page.getByRole('cell', { name: 'is retried' }).waitFor();
    await page.getByRole('link', { name: 'test_run.completed' }).click();
    await page
      .getByRole('region', { name: 'Text of the body' })
      .getByText('"type":"test_run.completed"')
      .waitFor();
    await isAccessible(page);
  });
});

describe('the documentation', () => {
  it.each(documentationSteps)('%s', (_what, steps) => steps({ page, control }));
});
