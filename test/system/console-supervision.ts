/** A supervisor in the console: hears both parties apart, whispers, takes the call over and gives it back. */
import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { AuditPage } from '#shared/api/audit.ts';
import { SupervisorList } from '#shared/api/supervisors.ts';
import { share } from '../kit/fakes/audio.ts';
import { callAndTalk } from '../kit/programs/caller.ts';
import { isAccessible, pageLimitMs, signIn, watchProblems } from '../kit/programs/console-page.ts';
import { hearing, pitchOfSide, speaking } from '../kit/programs/console-phone.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import { furtherOrganization } from '../kit/programs/further-organization.ts';
import type { TestSystem } from '../kit/programs/harness.ts';

const [callersHz, supervisorsHz] = [700, 1000];

export async function supervises({
  system,
  browser,
}: {
  system: TestSystem;
  browser: Browser;
}): Promise<void> {
  const { api, tone } = system;
  const context = await browser.newContext({
    baseURL: `http://127.0.0.1:${system.controlPort}`,
    permissions: ['microphone'],
  });
  context.setDefaultTimeout(pageLimitMs);
  await context.addInitScript(hearing);
  await context.addInitScript(speaking(supervisorsHz));
  const page = await context.newPage();
  const problems = watchProblems(page);
  const caller = await callAndTalk(system, tone.number);
  let talks = true;
  const talking = (async () => {
    while (talks) await caller.media.play(caller.media.toneFrames(callersHz, 10));
  })();
  const callerHears = (what: string, is: (of: (hz: number) => number) => boolean) =>
    eventually(what, () => {
      const of = (hz: number) => share(caller.media.samples(1600), hz);
      return is((hz) => saw(of(hz))) || null;
    });
  const hears = (side: 0 | 1, hz: number) =>
    eventually(`${hz} Hz on side ${side}`, async () => {
      const heard = saw(await pitchOfSide(page, side));
      return heard !== null && Math.abs(heard / hz - 1) < 0.01 ? heard : null;
    });
  try {
    const call = await eventually('the call in the log', async () =>
      (await api.calls()).find(
        ({ to, ended_at, answered_at }) => to === tone.number && !ended_at && answered_at,
      ),
    );
    await signIn(page, '/live', system.bootstrap.api_key);
    await page.getByRole('button', { name: `Listen to phone → ${tone.number}` }).click();
    const phone = page.getByRole('complementary', { name: 'Phone' });
    await phone.getByText('Nobody hears you').waitFor();
    await hears(0, callersHz);
    await hears(1, tone.hz);
    await isAccessible(page);
    const button = (name: string) => phone.getByRole('button', { name, exact: true });
    await phone.getByRole('textbox', { name: 'Tell the agent' }).fill('Offer to call back.');
    await button('Send').click();
    await phone.getByRole('alert').getByText('AGENT_TAKES_NO_TEXT').waitFor();
    await button('Whisper').click();
    await phone.getByText('The agent hears you').waitFor();
    await callerHears('the agent alone', (of) => of(tone.hz) > 0.9);
    await button('Speak').click();
    await callerHears('agent and supervisor', (of) => of(tone.hz) > 0.1 && of(supervisorsHz) > 0.1);
    await button('Take over').click();
    await callerHears('the supervisor alone', (of) => of(supervisorsHz) > 0.9 && of(tone.hz) < 0.01);
    // In its table as well, in one line, once that has room.
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: `Give back: phone → ${tone.number}`, exact: true }).click();
    await callerHears('the agent again', (of) => of(tone.hz) > 0.9 && of(supervisorsHz) < 0.01);

    const other = await furtherOrganization(system);
    const refused = await other.request('POST', `/v1/calls/${call.id}/supervisors`, {});
    expect(refused.codes).toEqual(['CALL_NOT_FOUND']);

    const all = `/v1/calls/${call.id}/supervisors`;
    const { supervisors } = (await api.read(SupervisorList, 'GET', all)).data;
    expect(supervisors).toMatchObject([{ mode: 'listen', joined_at: expect.any(String) }]);
    // What is changed over the API is shown, too.
    await api.ok('PATCH', `${all}/${supervisors[0]?.id}`, { mode: 'whisper' });
    await phone.getByText('The agent hears you').waitFor();
    await button('Leave').click();
    await phone.getByText(/: ended/).waitFor();
    await callerHears('the agent after it', (of) => of(tone.hz) > 0.9);
    await isAudited(system, call.id);
    expect(problems).toEqual([]);
  } finally {
    talks = false;
    await talking;
    await caller.hangup();
    await caller.close();
    await context.close();
  }
}

async function isAudited({ api }: TestSystem, subject: string): Promise<void> {
  const query = `/v1/org/audit?area=supervision&subject_id=${subject}`;
  const actions = await eventually('that it has left', async () => {
    const { data } = await api.read(AuditPage, 'GET', query);
    const all = data.entries.map(({ action }) => action);
    return saw(all).includes('leave') ? all : null;
  });
  expect(actions.sort()).toEqual(
    ['change_mode', 'change_mode', 'change_mode', 'give_back', 'join', 'leave', 'remove', 'take_over'].sort(),
  );
}
