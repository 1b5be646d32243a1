/** The screens that are pictured, and how each comes to show something. */
import type { Page } from 'playwright-core';
import { foundPbx, takeCommand } from '../kit/control/console-connect.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { Scene } from './scene.ts';

interface Picture {
  /** Of the file. */
  readonly name: string;
  /** px */
  readonly height: number;
  readonly dark?: true;
  readonly show: (page: Page, scene: Scene) => Promise<void>;
}

/** Octets. */
export const largestPicture = 120_000;

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Judging begins a minute after the end of a call. */
const watchLimitMs = 300_000;

export const pictures: readonly Picture[] = [
  {
    name: 'overview',
    height: 620,
    show: async (page) => {
      await page.goto('/');
      await page.getByRole('region', { name: 'Today (UTC)' }).waitFor();
      await page.getByRole('region', { name: 'Calls now' }).getByText('9', { exact: true }).waitFor();
    },
  },
  {
    name: 'live',
    height: 520,
    dark: true,
    show: async (page, { speak }) => {
      await page.goto('/live');
      await page.getByText('live', { exact: true }).waitFor();
      await page.getByText('9 calls').waitFor();
      await speak();
      await page.getByText('You are booked for Tuesday at nine.').waitFor();
    },
  },
  {
    name: 'call',
    height: 1180,
    show: async (page, { call }) => {
      await page.goto(`/calls/${call}`);
      await page.getByText('peaks of the recording').waitFor();
      await page.getByRole('img', { name: 'MOS over time' }).locator('canvas').waitFor();
      await button(page, '+21.300 s').first().click();
    },
  },
  {
    name: 'calls',
    height: 760,
    show: async (page) => {
      const yesterday = new Date(Date.now() - 24 * 60 * 60_000).toISOString().slice(0, 10);
      await page.goto(`/calls?direction=outbound&from=${yesterday}`);
      await page.getByRole('img', { name: 'MOS over time' }).locator('canvas').waitFor();
      await page.getByRole('row').nth(5).waitFor();
    },
  },
  {
    name: 'refused',
    height: 560,
    show: async (page) => {
      await page.goto('/refused');
      await page.getByText('192.0.2.66').first().waitFor();
    },
  },
  {
    name: 'trunk',
    height: 860,
    show: async (page, { number, applied }) => {
      applied();
      await page.goto(`/trunks/${encodeURIComponent(number)}`);
      await page.getByText('Calls go to the secondary endpoint.').waitFor();
    },
  },
  {
    name: 'connect',
    height: 900,
    show: async (page, { edge, report }) => {
      await page.goto('/connect');
      await page.getByLabel('Host or SIP address').fill('pbx.example.com');
      await button(page, 'Probe it').click();
      const run = await takeCommand(edge, 'discovery.run');
      if (run.kind !== 'discovery.run') return;
      await report([{ type: 'discovery', discovery_id: run.discovery_id, result: foundPbx }]);
      await page.getByText('context = from-trunkline').waitFor();
    },
  },
  {
    name: 'pathway',
    height: 760,
    dark: true,
    show: async (page, { pathway }) => {
      await page.goto(`/pathways/${pathway}`);
      const graph = page.getByRole('group', { name: 'Graph' });
      await graph.getByRole('button', { name: /^Order[ ,]/ }).press('Enter');
      await page.getByRole('heading', { name: 'Node Order' }).waitFor();
    },
  },
  {
    name: 'run',
    height: 860,
    show: async (page, { run }) => {
      await page.goto(`/runs/${run}`);
      await page.locator('mark.good').getByText('Goodbye').waitFor();
    },
  },
  {
    name: 'quality',
    height: 1000,
    show: async (page, { desk }) => {
      await page.goto(`/quality/${desk.pathway}`);
      await page.getByRole('img', { name: /^Drawing of [0-9]+ stations/ }).waitFor();
    },
  },
  {
    name: 'widget',
    height: 1000,
    show: async (page, { widget }) => {
      await page.goto(`/widgets/${widget}`);
      await button(page, 'Start a preview').click();
      const preview = page.getByRole('region', { name: 'Preview' });
      await preview.getByText('Harbour Dental, how can I help you?').waitFor();
      await preview.getByRole('textbox').fill('I want to book an appointment');
      await preview.getByRole('button', { name: 'Send' }).click();
      await preview.getByText('What is your account number?').waitFor();
      const row = page.getByRole('row', { name: 'What is your account number?' }).first();
      await row.getByRole('link').click();
      await page.getByRole('region', { name: 'Thread' }).getByText('I want to book an appointment').waitFor();
    },
  },
  {
    name: 'watch',
    height: 700,
    show: async (page, { api, watch }) => {
      await eventually(
        'the verdicts',
        async () => {
          const { text } = await api.ok('GET', `/v1/agent-testing/watches/${watch}`);
          return JSON.parse(text).alarm;
        },
        watchLimitMs,
      );
      await page.goto(`/watches/${watch}`);
      await page.getByRole('row').nth(10).waitFor();
    },
  },
];
