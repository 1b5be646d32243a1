/** An agent's settings and transfer targets, from a number or an order. Pure. */
import { readCallTarget } from '#shared/call-target.ts';
import type { NumberSettings } from './rules.ts';

/** Defaults of contract 9.1. */
export function agentSettingsOf(settings: NumberSettings) {
  return {
    first_sentence: settings.first_sentence ?? null,
    wait_for_greeting: settings.wait_for_greeting ?? false,
    block_interruptions: settings.block_interruptions ?? false,
    ignore_button_press: settings.ignore_button_press ?? false,
    voice: settings.voice ?? null,
    language: settings.language ?? 'en-US',
    interruption_threshold: settings.interruption_threshold ?? 500,
    timezone: settings.timezone ?? 'America/Los_Angeles',
    max_duration: settings.max_duration ?? 30,
    request_data: settings.request_data ?? {},
    ...(settings.metadata && { metadata: settings.metadata }),
    fallback_number: target(settings.fallback_number ?? null),
    ...(settings.model && { model: settings.model }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.recording && { recording: settings.recording }),
    ...(settings.key_terms?.length && { key_terms: settings.key_terms }),
  };
}

/** Transfer targets of an agent without a pathway; `default` of the list wins over the nameless one. */
export function transferTargets({ transfer_phone_number, transfer_list }: NumberSettings): {
  transfer_list?: Record<string, string>;
} {
  const named = { ...(transfer_phone_number && { default: transfer_phone_number }), ...transfer_list };
  const targets = Object.entries(named).map(([name, text]) => [name, target(text)]);
  return targets.length === 0 ? {} : { transfer_list: Object.fromEntries(targets) };
}

/** In the form the edges dial. An invalid target stays unchanged; the edges report it when it is called. */
function target<T extends string | null>(text: T): T | string {
  const read = text === null ? null : readCallTarget(text);
  return read && 'target' in read ? read.target : text;
}
