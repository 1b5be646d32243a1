/** The port of the HTTP API. */
import { type Check, skipped } from './check.ts';
import { ours, tcpPort } from './tcp-port.ts';
import { ofControl } from './with-settings.ts';

const controlPort = ofControl(({ port }, place) =>
  port === 0
    ? skipped('CONTROL_PORT is 0: any free port')
    : tcpPort(place, { setting: 'CONTROL_PORT', port, owner: ours.control, program: 'control plane' }),
);

export const controlPortChecks: readonly Check[] = [
  {
    name: 'ports.control',
    program: 'control',
    about: 'The same for `CONTROL_PORT`.',
    bad: 'As before.',
    run: controlPort,
  },
];
