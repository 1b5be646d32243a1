/** What `npm start` says when all is ready: what is where, in ten lines at most. */
import { relative } from 'node:path';
import { type Bootstrap, bootstrapFile } from './bootstrap.ts';

export function readyLines(bootstrap: Bootstrap, env: NodeJS.ProcessEnv, ms: number): string {
  const file = relative(process.cwd(), bootstrapFile(env));
  // The second shell does not have this setting.
  const setting = env.TRUNKLINE_DATA ? `TRUNKLINE_DATA='${env.TRUNKLINE_DATA}' ` : '';
  const rtp = `${env.RTP_PORT_MIN || '10000'}-${env.RTP_PORT_MAX || '20000'}`;
  return `
Trunkline is ready (${(ms / 1000).toFixed(1)} s).
  SIP over TLS    ${env.SIP_HOST || '0.0.0.0'}:${bootstrap.sip.port}
  SRTP            UDP ${rtp}
  Console         ${bootstrap.control_url} (sign in with the API key)
  API             ${bootstrap.control_url}/v1 (reference: ${bootstrap.control_url}/docs)
  API key         "api_key" in ${file}
  Place a call    ${setting}npm run call (in a second shell)
`;
}
