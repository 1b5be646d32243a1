import { expect, it } from 'vitest';
import { initiate, order, startPortTest } from '../../test/kit/control/porting.ts';
import { portCommands } from './ports.ts';

it('port pin shows the PIN of a request, and writes an audit entry', async () => {
  const test = await startPortTest();
  const withPin = await initiate(test, order(['+14155550100'], { pin: '4711' }));
  const without = await initiate(test, order(['+14155550101']));
  const { services } = test.control;
  const tools = { ...services, catalogue: async () => services.catalogue };
  const run = (id: string) => portCommands['port pin']?.run(tools, id, {});
  expect(await run(withPin.id)).toBe('4711');
  expect(await run(without.id)).toBe('The request has no PIN.');
  await expect(run('port_x')).rejects.toThrow('There is no port request port_x.');
  const rows = await test.control.services.database.db
    .selectFrom('audit_entries')
    .select(['actor_kind', 'subject_id'])
    .where('action', '=', 'show_pin')
    .execute();
  expect(rows.map(({ actor_kind, subject_id }) => `${actor_kind} ${subject_id}`).sort()).toEqual(
    [withPin, without].map(({ id }) => `command_line ${id}`).sort(),
  );
  await test.close();
});
