/** How an agent speaks and whom it may transfer to, by the settings of a number or an order. Pure. */
import { readCallTarget } from '#shared/call-target.ts';
import type { NumberSettings } from './rules.ts';

/** Defaults of contract 9.1. */
export function mannerOf(settings: NumberSettings) {
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
  };
}

/** Whom an agent that has no pathway may transfer to; `default` of the list wins over the one without a name. */
export function transferTargets({ transfer_phone_number, transfer_list }: NumberSettings): {
  transfer_list?: Record<string, string>;
} {
  const named = { ...(transfer_phone_number && { default: transfer_phone_number }), ...transfer_list };
  const targets = Object.entries(named).map(([name, text]) => [name, target(text)]);
  return targets.length === 0 ? {} : { transfer_list: Object.fromEntries(targets) };
}

/** As the edges dial it; what is no target stays as it is, and they say so when it is called. */
function target<T extends string | null>(text: T): T | string {
  const read = text === null ? null : readCallTarget(text);
  return read && 'target' in read ? read.target : text;
}
