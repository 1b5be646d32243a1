/** Finds the model server of an agent in the configuration of its organization. */
import type { OrgConfig } from '#shared/edge-protocol/config.ts';
import type { SpeechServer } from '../speech-socket.ts';
import { elevenLabsProtocol } from './elevenlabs-session.ts';
import { geminiProtocol } from './gemini-session.ts';
import type { ModelProtocol } from './model-session.ts';
import { openAiProtocol } from './openai-session.ts';

const protocols = { openai: openAiProtocol, gemini: geminiProtocol, elevenlabs: elevenLabsProtocol };

export function modelServer(
  organization: OrgConfig | undefined,
  connectionId: string,
): { readonly protocol: ModelProtocol; readonly server: SpeechServer } {
  const connection = organization?.realtime?.find(({ id }) => id === connectionId);
  if (!connection)
    throw new Error(`The realtime connection ${connectionId} is not in the edge's configuration`);
  const { protocol, url, model, api_key: apiKey } = connection;
  return { protocol: protocols[protocol], server: { url: new URL(url), model, apiKey } };
}
