/** `npm run seed-demo`: a demo organization with sample data; safe to run again. */
import { pino } from 'pino';
import { type Clock, systemClock } from '#shared/clock.ts';
import { ownCommand } from '#shared/own-command.ts';
import { createApp } from './app.ts';
import { answer, readArguments, runProgram, seedDemo } from './operations/index.ts';
import { createReportStore } from './report-writers.ts';
import { readControlConfig } from './settings/index.ts';

/** A clock without timers: background work belongs to the control plane that may run at the same time. */
const stillClock: Clock = { ...systemClock, after: () => ({ cancel: () => {} }) };

const usage = `Usage: ${ownCommand('seed-demo')} [--json]

Makes an organization with two numbers, a pathway, a tool, a persona, a widget, a port request and a few calls, all marked
as demo. It adds what is missing, so it is safe to run again.`;

await runProgram(async () => {
  const { values } = readArguments(usage, {});
  if (values.help) return usage;
  const config = readControlConfig();
  const logger = pino({ level: config.log.level === 'silent' ? 'silent' : 'error' });
  const control = await createApp({ config, logger, clock: stillClock });
  try {
    const { app, services } = control;
    const store = createReportStore(services.database, stillClock);
    const seeded = await seedDemo({
      app,
      services,
      storeReports: async (bodies) => {
        const source = { edgeId: 'demo', outboxId: `demo-${services.config.instanceId}` };
        const at = new Date(systemClock.now()).toISOString();
        const { rejected } = await store.store(
          source,
          bodies.map((body, index) => ({ seq: index + 1, at, body })),
        );
        if (rejected.length > 0) throw new Error(`Demo calls could not be parsed: ${rejected.join('; ')}`);
      },
    });
    const done =
      seeded.made.length === 0 ? 'everything was there already' : `made: ${seeded.made.join(', ')}`;
    return answer(values.json, `Demo organization ${seeded.orgId}, key ${seeded.apiKey}\n${done}`, {
      org_id: seeded.orgId,
      api_key: seeded.apiKey,
      made: seeded.made,
    });
  } finally {
    await control.close();
  }
});
