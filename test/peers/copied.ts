/** The configuration of a PBX as a customer copies it from `GET /v1/sip/outbound-setup?pbx=`. */
import { OutboundSetup } from '#shared/api/pbx-setup.ts';
import { type PbxFile, passwordToFill } from '#shared/pbx/facts.ts';
import type { Api } from '../kit/programs/api.ts';

/** @param secret what the customer fills in as the password */
export async function copiedFiles(
  api: Api,
  pbx: string,
  number: string,
  secret = '',
): Promise<readonly PbxFile[]> {
  const path = `/v1/sip/outbound-setup?pbx=${pbx}&phone_number=${encodeURIComponent(number)}`;
  const { files = [] } = (await api.read(OutboundSetup, 'GET', path)).data;
  return files.map(({ path, text }) => ({ path, text: text.replaceAll(passwordToFill, secret) }));
}
